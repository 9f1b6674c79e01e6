"""A run against healthy ones: what differs is found, what every run has of its own is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.baseline.compare import GONE, LATER, LESS, MORE, NEW, Compared, compare
from doctor.baseline.indicating import judge
from doctor.baseline.kin import kin
from doctor.baseline.run import bits
from doctor.baseline.shapes import MAX_SHAPES, Shapes
from doctor.baseline.usual import usual
from doctor.baseline.within import NODES, PROCESSES, of_others
from tests.simulate.graded import Grade, f1, grade, heard
from tests.simulate.pairs import pair
from tests.simulate.programs import Wordings
from tests.simulate.strange import STRANGE

STEPS = "\n".join(f"2026-05-11 07:3{n // 60}:{n % 60:02},000 INFO iteration {n}/500 loss {n / 7:.3f}" for n in range(120)) + "\n"
START = "2026-05-11 07:29:50,000 INFO hidden_size .......... 4096\n2026-05-11 07:29:51,000 INFO ready, {n} members\n"


def job(*logs: str, folder: str = "node") -> dict[str, str]:
    return {f"{folder}-{n}/train.log": log for n, log in enumerate(logs)}


def against(good: list[dict[str, str]], bad: dict[str, str]) -> Compared:
    shapes = Shapes()
    expected = usual([heard(files, shapes, f"g{n}") for n, files in enumerate(good)], [{}] * len(good))
    return compare(heard(bad, shapes, "b"), expected, {}, shapes)


def told(found: Compared, kind: str) -> list[str]:
    return [one.shape for one in found.differences if one.kind == kind]


HEALTHY = job(*[START.format(n=4) + STEPS] * 4)


def test_a_healthy_run_differs_in_nothing_from_another() -> None:
    """Longer, of more ranks, on other nodes, with other numbers."""
    longer = STEPS + STEPS.replace("07:3", "07:4").replace("loss", "loss")
    other = job(*[START.format(n=8) + longer] * 8, folder="worker")
    assert against([HEALTHY], other).differences == ()


def test_what_is_new_is_told_with_its_place_and_who_says_it() -> None:
    bad = dict(HEALTHY)
    bad["node-2/train.log"] += "2026-05-11 07:32:00,000 WARNING lane 3 paused, backpressure 91 percent\n" * 3
    found = against([HEALTHY], bad)
    assert told(found, NEW) == ["lane # paused, backpressure # percent"]
    one = judge(found).indicating[0].difference
    assert one.seen is not None
    assert (one.seen.path, one.seen.line, one.seen.times, one.only) == ("b/node-2/train.log", 123, 3, True)
    assert judge(found).suspects[0].name == "node-2"


def test_what_comes_more_often_is_told_even_when_the_run_is_longer() -> None:
    flood = "2026-05-11 07:31:00,000 INFO page mover pass 3\n"
    good = job(*[STEPS + flood * 2] * 4)
    bad = job(*[STEPS * 2 + flood * 4] * 3, STEPS * 2 + flood * 90)
    found = against([good], bad)
    assert told(found, MORE) == ["page mover pass #"]
    assert bits(found.differences[0].voices) == (3,)


def test_what_comes_less_often_or_not_at_all_is_told() -> None:
    beat = "2026-05-11 07:31:00,000 INFO heartbeat 7 of store\n"
    done = "2026-05-11 07:33:00,000 INFO checkpoint 7 complete\n"
    found = against([job(*[STEPS + beat * 100 + done] * 4)], job(*[STEPS + beat * 2] * 4))
    assert told(found, LESS) == ["heartbeat # of store"]
    assert told(found, GONE) == ["checkpoint # complete"]


def test_the_first_milestone_that_comes_late_is_told_not_those_behind_it() -> None:
    def log(late: int) -> str:
        return "".join(f"2026-05-11 07:{(at + d) // 60:02}:{(at + d) % 60:02},000 INFO {what}\n" for at, d, what in ((0, 0, "begin"), (5, 0, "links made"), (20, late, "graph compiled"), (30, late, "first batch")))

    assert told(against([job(*[log(0)] * 4)], job(*[log(600)] * 4)), LATER) == ["graph compiled"]


def test_settings_that_differ_are_told_and_their_lines_are_not() -> None:
    good = job(*[START.format(n=4) + "2026-05-11 07:29:52,000 INFO dtype: bfloat\n" + STEPS] * 2)
    bad = {name: log.replace("4096", "5120").replace("bfloat", "half") for name, log in good.items()}
    found = against([good], bad)
    assert [(one.name, one.usual, one.here) for one in found.settings] == [("dtype", ("bfloat",), ("half",)), ("hidden_size", ("4096",), ("5120",))]
    assert told(found, NEW) == []


def test_what_differs_among_healthy_runs_is_no_difference() -> None:
    """A line that one of them has; a setting that had both values."""
    extra = "2026-05-11 07:31:00,000 WARNING plan taken out of the cache\n"
    good = [HEALTHY, {name: log.replace("4096", "5120") + extra for name, log in HEALTHY.items()}]
    bad = {name: log.replace("4096", "5120") + extra for name, log in HEALTHY.items()}
    found = against(good, bad)
    assert (found.settings, found.differences) == ((), ())


def test_free_text_is_no_difference() -> None:
    """Prompts and previews are other ones in every run."""
    words = ["amber", "basin", "cedar", "delta", "ember", "fjord", "grove", "harbor", "inlet"]
    prompt = [f"2026-05-11 07:31:00,000 INFO prompt text: {' '.join(words[n:])}\n" for n in range(9)]
    found = against([job(*[STEPS + "".join(prompt[:7])] * 2)], job(*[STEPS + "".join(prompt[7:])] * 2))
    assert told(found, NEW) == []
    assert found.values == 2


def test_a_value_that_is_grave_is_a_difference() -> None:
    states = [f"2026-05-11 07:31:00,000 INFO lane enters state {state}\n" for state in ("idle", "armed", "running", "draining", "parked")]
    found = against([job(STEPS + "".join(states[:4]))], job(STEPS + states[4]))
    assert told(found, NEW) == []
    found = against([job(STEPS + "".join(states[:4]))], job(STEPS + states[0].replace("idle", "corrupted")))
    assert told(found, NEW) == ["lane enters state corrupted"]


def test_a_voice_that_ends_early_is_told() -> None:
    logs = [START.format(n=6) + STEPS] * 5
    found = against([job(*logs)], job(*logs, "".join((START.format(n=6) + STEPS).splitlines(keepends=True)[:20])))
    assert [bits(1 << one.voice) for one in found.quiet] == [(5,)]
    assert 95 < found.quiet[0].early < 110


def test_nodes_are_each_others_baseline() -> None:
    files = dict(HEALTHY)
    files["node-1/train.log"] += "2026-05-11 07:32:00,000 ERROR shard writer 3 parked for 9 s\n"
    shapes = Shapes()
    run = heard(files, shapes)
    expected, among = of_others(run)
    verdict = judge(compare(run, expected, {}, shapes))
    assert (among, [s.name for s in verdict.suspects]) == (NODES, ["node-1"])


def test_ranks_of_one_node_are_each_others_baseline() -> None:
    files = {f"job/rank_{n}/train.log": STEPS for n in range(4)}
    files["job/rank_2/train.log"] += "2026-05-11 07:32:00,000 ERROR shard writer 3 parked for 9 s\n"
    shapes = Shapes()
    run = heard(files, shapes)
    expected, among = of_others(run)
    verdict = judge(compare(run, expected, {}, shapes))
    assert (among, [s.name for s in verdict.suspects]) == (PROCESSES, ["rank 2"])


def test_lines_beyond_the_bound_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = Shapes(most=20)
    names = [f"{a}{b}" for a in "ghijk" for b in "opqrstuv"]
    run = heard({"a.log": "".join(f"visit {name} now\n" for name in names)}, shapes)
    assert (len(run.sightings), run.further) == (18, 22)
    assert MAX_SHAPES == 50_000


@pytest.mark.parametrize("seed", range(500, 504))
def test_of_faults_that_no_entry_knows_the_node_is_among_the_first(seed: int) -> None:
    """A small part of `python -m benchmarks.diff`."""
    assert 1 <= grade(pair(seed, STRANGE)).place <= 5


def test_most_of_what_is_told_indicates_the_fault() -> None:
    summed = Grade(*map(sum, zip(*(grade(pair(seed, STRANGE)) for seed in range(510, 514)), strict=True)))
    assert f1(summed.hit, summed.wrong, summed.missed) >= 0.85


def indicating(found: Compared) -> list[str]:
    return [row.difference.shape for row in judge(found).indicating]


def test_what_most_say_and_no_healthy_rank_said_indicates_without_a_grave_word() -> None:
    """One of many may warn by chance; that nine of ten do and none of ten healthy ones did is no chance."""
    wait, lone = "2026-05-11 07:31:20,000 WARNING ring {n} leans on a neighbour\n", "2026-05-11 07:30:20,000 WARNING sample truncated to 7 tokens\n"
    bad = job(*[STEPS + (wait.format(n=n) if n else "") + (lone if n == 4 else "") for n in range(10)])
    assert indicating(against([job(*[STEPS] * 10)], bad)) == ["ring # leans on a neighbour"]


def test_what_others_newly_say_behind_a_fault_indicates_and_before_it_does_not() -> None:
    def log(n: int) -> str:
        before, behind = f"2026-05-11 07:30:{10 + n},000 INFO governor asks for rest\n", f"2026-05-11 07:31:{10 + n},000 INFO clock of a sibling was set\n"
        fault = "2026-05-11 07:30:58,000 ERROR lane 3 is gone\n" * 3
        return STEPS + (fault if n == 1 else behind + before)

    found = against([job(*[STEPS] * 12)], job(*map(log, range(12))))
    assert indicating(found) == ["lane # is gone", "clock of a sibling was set"]


def test_a_grave_word_of_a_note_indicates_less_than_an_error() -> None:
    """What a program logs as information is one, whatever words stand in it."""
    bad = dict(HEALTHY)
    bad["node-1/train.log"] += "2026-05-11 07:31:00,000 INFO retrying after a failed lookup of the cache\n"
    bad["node-2/train.log"] += "2026-05-11 07:31:40,000 ERROR lookup of the arena failed\n"
    assert indicating(against([HEALTHY], bad)) == ["lookup of the arena failed"]


def test_who_complains_with_the_others_is_not_the_one_who_spoke_just_before() -> None:
    """Of two who each said something new alone before all complained, the one that does not complain."""
    complaint, note = "2026-05-11 07:31:30,000 ERROR round {n} closed without member\n", "2026-05-11 07:31:10,000 INFO {who} {what}\n"
    extra = {2: note.format(who="sampler", what="obeys hold order 7"), 4: note.format(who="profiler", what="window 3 closed")}
    bad = job(*[STEPS + extra.get(n, "") + ("" if n == 2 else complaint.format(n=n)) for n in range(8)])
    found = against([job(*[STEPS] * 8)], bad)
    assert set(indicating(found)) == {"round # closed without member", "sampler obeys hold order #"}
    assert judge(found).suspects[0].name == "node-2"


def test_lines_that_differ_in_one_word_are_weighed_as_one() -> None:
    """Said of twenty things by everybody, it is no rank's own."""
    names = ("amber", "basin", "cedar", "delta", "ember", "fjord")
    bad = job(*[STEPS + f"2026-05-11 07:31:00,000 INFO skipping device of module {name} once more\n" for name in names])
    found = kin(against([job(*[STEPS] * 6)], bad).differences)
    assert len(found) == 6
    assert {(one.voices.bit_count(), one.times) for one in found.values()} == {(6, 6)}


def test_wordings_of_a_program_become_noise_and_faults(tmp_path: Path) -> None:
    calls = "".join(f"    logger.info('part {n} of %d is ready')\n    LOG.warning(f'part {n} came late by {{late}} ms')\n" for n in range(60))
    (tmp_path / "store.py").write_text(f"def run():\n{calls}    logger.error('the store is closed: {{}}'.format(why))\n", encoding="utf-8")
    said = Wordings.of(tmp_path)
    assert [call.text for call in said.files[0][:2]] == ["part 0 of {n} is ready", "part 0 came late by {d} ms"]
    assert grade(pair(3, said.faults(3))).hit > 0
    assert {level for _, level, _ in said.noise(3).phases["start"]} == {"INFO", "WARNING"}
