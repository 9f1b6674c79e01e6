"""Who is slow, since when, what comes back, what cannot be seen: from logs as programs write them to the verdict."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from pace import runs

from benchmarks import pace as simulation
from doctor.pace.compare import compare
from doctor.pace.look import look
from doctor.pace.robust import densest, levels, median
from doctor.pace.sentences import sentences
from doctor.pace.tracks import MAX_POINTS, Track
from doctor.pace.verdict import Pace
from doctor.pace.wordings import wordings
from doctor.read.discover import discover
from kb.knowledge import Knowledge

Judge = Callable[..., Pace]


@pytest.fixture
def judged(knowledge: Knowledge) -> Judge:
    def judged(*paths: Path, line: str | None = None) -> Pace:
        found = discover([str(path) for path in paths])
        return look(found.sources, found.skipped, wordings(knowledge.pace(), line))

    return judged


def named(pace: Pace) -> list[int]:
    return sorted(lane.rank for one in pace.slow for lane in one.lanes)


def told(pace: Pace, lang: str = "en") -> str:
    return "\n".join(one.text for one in sentences(pace, lang))


def test_an_even_run_is_called_even(tmp_path: Path, judged: Judge) -> None:
    pace = judged(runs.megatron(tmp_path / "a.log"))
    assert (pace.verdict, pace.slow, pace.turns) == ("even", (), ())
    assert "Even: no rank is slow" in told(pace)


def test_the_timers_of_all_ranks_name_the_slow_one(tmp_path: Path, judged: Judge) -> None:
    pace = judged(runs.megatron(tmp_path / "a.log", late=lambda rank, step: 0.2 * (rank == 3)))
    (one,) = pace.slow
    assert (named(pace), one.measure, one.shape) == ([3], "compute", "rank")
    assert one.excess == pytest.approx(0.15, abs=0.03)
    assert "in all steps" in told(pace)


def test_a_rank_that_becomes_slow_and_the_step_at_which_the_job_does(tmp_path: Path, judged: Judge) -> None:
    retry = "[ERROR] HCCL(5512,python3):2026-03-02-09:35:00.880.219 [opretry_agent.cc:120] [5600]OpRetryAgent run fail, rankId[5]"
    pace = judged(runs.megatron(tmp_path / "a.log", late=lambda rank, step: 0.3 * (rank == 5 and step > 70), extra=lambda step: retry if step == 71 else ""))
    (turn,) = pace.turns
    assert named(pace) == [5]
    assert abs(pace.run.steps[turn.change.at] - 71) <= 2
    assert turn.change.share == pytest.approx(0.26, abs=0.03)
    assert [event.kind for event in turn.near] == ["retry"]
    assert "collective retried" in told(pace)


@pytest.mark.parametrize(("slow", "shape"), [({4, 5}, "block"), ({1, 3, 5, 7}, "every"), ({0, 1, 2, 3}, "block")])
def test_slow_groups_are_named_as_one(slow: set[int], shape: str, tmp_path: Path, judged: Judge) -> None:
    pace = judged(runs.megatron(tmp_path / "a.log", late=lambda rank, step: 0.3 * (rank in slow)))
    assert (set(named(pace)), [one.shape for one in pace.slow]) == (slow, [shape])


def test_whole_steps_alone_tell_nobody_apart(tmp_path: Path, judged: Judge) -> None:
    """All ranks of a job in step show the time of the slowest one: whoever names a rank guesses."""
    pace = judged(runs.mindformers(tmp_path, late=lambda rank, step: 0.4 * (rank == 2)))
    assert (pace.verdict, pace.slow, pace.sight.lockstep) == ("even", (), True)
    assert "cannot be seen here" in told(pace)
    assert "看不出谁慢" in told(pace, "zh")


def test_waiting_tells_it_the_other_way_round(tmp_path: Path, judged: Judge) -> None:
    """Who is slow waits least for the others."""
    rng = random.Random(3)
    for rank in range(4):
        rows = [f"step {step} wall {2.0 + rng.gauss(0, 0.01):.3f} wait {(0.05 if rank == 1 else 0.6) + rng.gauss(0, 0.01):.3f}" for step in range(1, 60)]
        (tmp_path / f"rank_{rank}.log").write_text("\n".join(rows) + "\n")
    pace = judged(tmp_path, line=r"step (?P<step>\d+) wall (?P<total_s>[\d.]+) wait (?P<comm_s>[\d.]+)")
    assert (named(pace), pace.slow[0].measure, pace.slow[0].sure) == ([1], "comm", False)
    assert "probably" in told(pace)


def test_pauses_are_named_by_what_the_log_says(tmp_path: Path, judged: Judge) -> None:
    save = "saving checkpoint at iteration {:7d} to /ckpt in torch_dist format"
    pace = judged(runs.megatron(tmp_path / "a.log", more=lambda rank, step: 4.0 * (step % 20 == 0), extra=lambda step: save.format(step) if step % 20 == 0 else ""))
    (found,) = pace.course.periodic
    assert (found.kind, found.period, found.first, found.times) == ("checkpoint", 20, 20, 6)
    assert found.seconds == pytest.approx(4.0, abs=0.2)


def test_a_period_that_the_log_does_not_name_is_told_as_such(tmp_path: Path, judged: Judge) -> None:
    pace = judged(runs.megatron(tmp_path / "a.log", more=lambda rank, step: 3.0 * (step % 25 == 0)))
    assert [(p.kind, p.period) for p in pace.course.periodic] == [("", 25)]
    assert "does not say" in told(pace)


def test_a_slow_start_is_no_change(tmp_path: Path, judged: Judge) -> None:
    pace = judged(runs.megatron(tmp_path / "a.log", more=lambda rank, step: 20.0 * (step <= 3)))
    assert pace.course.warm_up is not None
    assert (pace.course.warm_up.steps, pace.turns, pace.verdict) == (3, (), "even")


def test_a_slow_creep_is_no_step(tmp_path: Path, judged: Judge) -> None:
    pace = judged(runs.megatron(tmp_path / "a.log", steps=300, timers=False, more=lambda rank, step: 0.002 * step))
    assert pace.course.drift is not None
    assert (pace.turns, pace.verdict) == ((), "uneven")


def test_ranks_without_logs_and_clocks_apart_are_told(tmp_path: Path, judged: Judge) -> None:
    runs.mindformers(tmp_path)
    (tmp_path / "node-0" / "rank_2" / "info.log").unlink()
    later = tmp_path / "node-1" / "rank_4" / "info.log"
    for path in (tmp_path / "node-1").glob("*/info.log"):
        path.write_text(later.read_text().replace(" 09:", " 11:"))
    pace = judged(tmp_path)
    assert pace.absent == (2,)
    assert pace.clocks == pytest.approx(7200, abs=60)
    assert "no log of ranks 2" in told(pace)
    assert "clocks" in told(pace)


def test_a_restart_that_repeats_steps_counts_them_once(tmp_path: Path, judged: Judge) -> None:
    whole = runs.megatron(tmp_path / "a.log", timers=False).read_text().splitlines()
    (tmp_path / "b.log").write_text("\n".join([*whole[:80], *whole[60:]]) + "\n")
    pace = judged(tmp_path / "b.log")
    assert (len(pace.run.steps), pace.run.restarts) == (120, 1)


def test_throughput_that_falls_while_as_many_requests_run(tmp_path: Path, judged: Judge) -> None:
    rates = [(500.0 + at % 7 * 10, 20) for at in range(60)] + [(300.0 + at % 7 * 10, 20) for at in range(60)]
    pace = judged(runs.vllm(tmp_path / "a.log", rates))
    (change,) = pace.engines[0].changes
    assert (pace.verdict, change.load) == ("uneven", False)
    assert change.after < 0.7 * change.before


def test_fewer_requests_are_not_a_slower_service(tmp_path: Path, judged: Judge) -> None:
    rates = [(500.0 + at % 7 * 10, 20) for at in range(60)] + [(300.0 + at % 7 * 10, 10) for at in range(60)]
    pace = judged(runs.vllm(tmp_path / "a.log", rates))
    assert (pace.verdict, [change.load for change in pace.engines[0].changes]) == ("even", [True])


def test_too_few_steps_are_no_even_run(tmp_path: Path, judged: Judge) -> None:
    assert judged(runs.megatron(tmp_path / "a.log", steps=5, timers=False)).verdict == "few"


def test_the_difference_of_two_runs_comes_from_the_part_that_grew(tmp_path: Path, judged: Judge) -> None:
    setting = "------ arguments ------\n  global_batch_size ............................... {}"
    good = runs.megatron(tmp_path / "good.log", extra=lambda step: setting.format(64) if step == 1 else "")
    bad = runs.megatron(tmp_path / "bad.log", late=lambda rank, step: 0.25, extra=lambda step: "  micro_batch_size ............................... 1" if step == 1 else "")
    made = compare(judged(good), judged(bad))
    assert made.verdict == "slower"
    assert made.shares[0].measure == "compute"
    assert made.shares[0].share == pytest.approx(1.0, abs=0.1)
    assert compare(judged(good), judged(good)).verdict == "same"


def test_another_batch_is_weighed_by_the_sample(tmp_path: Path, judged: Judge) -> None:
    setting = "------ arguments ------\n  global_batch_size ............................... {}"
    small = runs.megatron(tmp_path / "a.log", extra=lambda step: setting.format(64) if step == 1 else "")
    large = runs.megatron(tmp_path / "b.log", late=lambda rank, step: 1.1, extra=lambda step: setting.format(128) if step == 1 else "")
    made = compare(judged(small), judged(large))
    assert made.settings == (("global_batch_size", "64", "128"),)
    assert made.verdict == "same"


@pytest.mark.parametrize("fault", ["rank", "group", "change", "even"], ids=["one", "several", "change", "even"])  # paths of tests tell no rank
def test_simulated_jobs(fault: str, tmp_path: Path, judged: Judge) -> None:
    """A few of the jobs of the benchmark; it measures many."""
    for number in range(2):
        rng = random.Random(f"test {fault} {number}")
        job = simulation.simulate(rng, fault, small=True)
        folder = tmp_path / str(number)
        folder.mkdir()
        simulation.write(job, folder, rng)
        pace = judged(folder, line=simulation.OWN_LINE if job.dialect == "own" else None)
        assert simulation.right(job, pace, fault), (number, job.dialect, job.slow, job.change)


def test_a_long_track_is_folded_and_keeps_its_mean() -> None:
    track = Track()
    for begin in range(0, 3 * MAX_POINTS, 1000):
        track.add(range(begin, begin + 1000), [0.0] * 1000, {"total": [1.0 if at % 2 else 3.0 for at in range(1000)]})
    assert len(track.steps) <= MAX_POINTS
    assert (track.every, track.count) == (4, 197_000)
    assert median(track.columns["total"]) == pytest.approx(2.0)


def test_levels_and_the_densest_half() -> None:
    rng = random.Random(1)
    found = levels([1 + rng.gauss(0, 0.02) for _ in range(200)] + [1.2 + rng.gauss(0, 0.02) for _ in range(100)], 0.03)
    assert [level.begin for level in found] == [0, pytest.approx(200, abs=2)]
    assert densest([1.0, 1.01, 1.02, 9.0, 9.01, 9.02])[0] == pytest.approx(1.01)
    assert levels([1.0] * 50, 0.03) == ((0, 50, 1.0),)


def test_hostile_numbers_and_endless_lines_are_no_steps(tmp_path: Path, judged: Judge) -> None:
    good = runs.megatron(tmp_path / "a.log", timers=False).read_text().splitlines()
    evil = f" [2026-99-99 99:99:99] iteration {'9' * 40}/ 100 | consumed samples: 1 | elapsed time per iteration (ms): {'9' * 400}.0 | learning rate: 1 |"
    (tmp_path / "a.log").write_text("\n".join([*good[:50], evil, "x" * 200_000, *good[50:]]) + "\n" + "\x00\xff" * 100)
    pace = judged(tmp_path / "a.log")
    assert (pace.verdict, len(pace.run.steps)) == ("even", 120)


def test_bars_of_anything_but_a_training_are_no_steps(tmp_path: Path, judged: Judge) -> None:
    (tmp_path / "a.log").write_text("\r".join(f"Loading checkpoint shards: {at}%|███  | {at}/100 [00:07<00:14,  7.16s/it]" for at in range(1, 100)))
    assert judged(tmp_path).verdict == "none"
    (tmp_path / "a.log").write_text("\r".join(f" {at}%|███  | {at}/100 [00:{at % 60:02d}<00:14,  1.0{at % 10}s/it]" for at in range(1, 100)))
    assert (judged(tmp_path).verdict, judged(tmp_path).run.account) == ("even", "bar")


def test_all_tracks_together_are_bounded(tmp_path: Path, judged: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doctor.pace.reading.MAX_ALL", 2000)
    monkeypatch.setattr("doctor.pace.reading.LEAST_POINTS", 50)
    pace = judged(runs.mindformers(tmp_path, steps=1000))
    assert sum(map(len, pace.run.total.values())) <= 2000 + 8 * 256
    assert pace.run.every > 1
    assert "each point stands for" in told(pace)


@pytest.mark.parametrize("stamp", ["2026-03-02 09:{:02d}:{:02d}", "Mon Mar  2 09:{:02d}:{:02d} UTC 2026"])
def test_a_chip_below_its_clock_is_told_near_the_change(stamp: str, tmp_path: Path, judged: Judge) -> None:
    """Samples of npu-smi in the same folder, each beneath the date of its taking."""
    runs.megatron(tmp_path / "train.log", late=lambda rank, step: 0.3 * (step > 70))
    sample = "\tNPU ID                         : 3\n\tAicore Usage Rate(%)           : 96\n\tAicore Freq(MHZ)               : 1650\n\tAicore curFreq(MHZ)            : {}\n"
    text = "".join(f"{stamp.format(at // 60, at % 60)}\n{sample.format(1650 if at < 35 * 60 + 11 else 900)}" for at in range(33 * 60, 37 * 60, 10))
    (tmp_path / "smi.log").write_text(text)
    (turn,) = judged(tmp_path).turns
    assert {event.kind for event in turn.near} == {"throttle"}
    assert "chip below its clock" in told(judged(tmp_path))
    (tmp_path / "smi.log").write_text(text.replace(": 900", ": 1640"))
    assert judged(tmp_path).turns[0].near == ()


def test_two_services_and_two_benchmarks_are_compared(tmp_path: Path, judged: Judge) -> None:
    fast, slow = [(500.0 + at % 7, 20) for at in range(60)], [(400.0 + at % 7, 20) for at in range(60)]
    idle = [(250.0 + at % 7, 8) for at in range(60)]
    a, b, c = (judged(runs.vllm(tmp_path / f"{n}.log", rates)) for n, rates in enumerate((fast, slow, idle)))
    assert [compare(a, b).verdict, compare(b, a).verdict, compare(a, a).verdict, compare(a, c).verdict] == ["slower", "faster", "same", "same"]
    for name, first in (("x", 215.31), ("y", 290.0)):
        (tmp_path / f"{name}.txt").write_text(f"Mean TTFT (ms):                          {first}    \nMean TPOT (ms):                          25.10     \n")
    x, y = judged(tmp_path / "x.txt"), judged(tmp_path / "y.txt")
    assert (x.verdict, compare(x, y).verdict) == ("few", "slower")
    assert [one.measure for one in compare(x, y).served] == ["ttft", "tpot"]
