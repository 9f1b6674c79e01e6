"""What the analysis of a job adds to the relations of findings, and how it is shown."""

from __future__ import annotations

import pytest

from doctor.answer.report import report
from doctor.findings.evaluate import Finding, Instance, Scope
from doctor.job.job import Story
from doctor.judge.diagnosis import conclude
from doctor.judge.proof import Bench
from doctor.judge.relate import relate
from doctor.read import discover
from doctor.render import markdown
from doctor.render.job import compose
from doctor.scan.harvest import Hit, Place
from kb.model import Entry
from tests.simulate.jobs import simulate


def _finding(entry: Entry, path: str) -> Finding:
    place = Place(path, 1, 1, None, "error", "HCCL", "plog", None, None, None, None, None, "x")
    hit = Hit(f"{entry.code}/0", place, ())
    one = Instance(Scope(None, None, None, None), (hit,), {}, {}, frozenset({path}), frozenset())
    return Finding(entry, (one,), 1, True)


def test_what_refines_a_root_is_not_folded_beneath_it(bench: Bench) -> None:
    """An ambiguous line downstream of the root yields to it, but not when it says the same more precisely."""
    entries = bench.knowledge.entry("HCL082"), bench.knowledge.entry("HCL109")
    assert entries[0] is not None
    assert entries[1] is not None
    root = entries[0]._replace(role="ambiguous")
    exact = entries[1]._replace(role="ambiguous", symptom_of=(), refines=())
    story = Story({root.code: 0}, {})
    told = relate([_finding(root, "a.log"), _finding(exact, "b.log")], story)
    assert {r.finding.entry.code: r.explained_by for r in told} == {root.code: None, exact.code: root.code}
    told = relate([_finding(root, "a.log"), _finding(exact._replace(refines=(root.code,)), "b.log")], story)
    assert {r.finding.entry.code: r.explained_by for r in told}[exact.code] is None


def test_markdown_shows_the_job(bench: Bench) -> None:
    """Ranks folded by state, and the timeline, in both languages; text of logs cannot break the tables."""
    job = simulate(7, 32, "aicore")
    parts = [bench._scanner.scan(discover.given_text(t, n)) for n, t in job.files.items()]
    made = report(conclude(parts, bench.knowledge), bench.knowledge)
    rank = next(iter(job.truth.ranks))
    english = markdown.render(made, "en")
    assert f"| 31 | waiting for rank {rank} |" in english
    assert "### Timeline" in english
    assert "gives up waiting" in english
    assert "### 时间线" in markdown.render(made, "zh")
    rows = [line for line in english.split("\n") if line.startswith("|")]
    assert all(line.replace("\\|", "").count("|") in (4, 5) for line in rows)


def test_order_of_two_faults_is_claimed_only_as_far_as_clocks_tell(bench: Bench) -> None:
    """Two independent faults closer together than the clocks are known: the headline says that the order is open."""
    from tests.simulate import faults
    from tests.simulate.world import World

    def note(apart: float, barriers: bool) -> str:
        w = World(5, 16, 20.0)
        w.start()
        faults.out_of_memory(w, 3, 300.0)
        faults.ai_core(w, 12, 300.0 + apart)
        w.dead[3] = w.dead[12] = 301.0 + apart
        faults.victims(w, 3, 300.0, None, frozenset({12}))
        parts = []
        for name, text in w.text().items():
            kept = text if barriers else "\n".join(x for x in text.split("\n") if "Key Info" not in x)
            parts.append(bench._scanner.scan(discover.given_text(kept, name)))
        told = conclude(parts, bench.knowledge).roots[0].note
        assert told is not None
        return told.en

    assert "the clocks do not tell whether" in note(0.2, barriers=True)
    assert "the clocks do not tell whether" not in note(200.0, barriers=True)
    assert "the clocks do not tell whether" in note(200.0, barriers=False)


@pytest.mark.parametrize("hidden", [False, True])
def test_a_node_that_its_launcher_ended(hidden: bool, bench: Bench) -> None:
    """One rank fails, its neighbours are ended, and the others only name a neighbour: the fault is the root, or what is missing."""
    from tests.simulate import faults
    from tests.simulate.world import World

    w = World(5, 24, 5.0)
    w.tp, w.layout, w.ring = 1, "node", True
    w.start()
    w.work(300.0)
    faults.ai_core(w, 11, 300.0)
    w.dead[11] = 301.0
    ended = faults.node_ends(w, 11, 303.0, "")
    faults.victims(w, 11, 300.0, None, ended)
    gone = {w.path(11, "run"), w.path(11, "debug"), "node-1/launcher.log"} if hidden else set()
    parts = [bench._scanner.scan(discover.given_text(t, n)) for n, t in w.text().items() if n not in gone]
    job = conclude(parts, bench.knowledge).job
    assert job is not None
    assert job.roots[0].label == "rank 11"
    assert job.roots[0].verdict == ("no-logs" if hidden else "fault")


@pytest.mark.parametrize(("seed", "ranks", "fault", "hide"), [(7, 32, "aicore", False), (3, 16, "aicore", True), (9, 8, "circle", False)])
def test_one_count_of_those_who_waited(seed: int, ranks: int, fault: str, hide: bool, bench: Bench) -> None:
    """The headline, the rows, the grid and the note of the finding tell the same number, whoever the root is."""
    job = simulate(seed, ranks, fault, hide)
    parts = [bench._scanner.scan(discover.given_text(t, n)) for n, t in job.files.items()]
    made = report(conclude(parts, bench.knowledge), bench.knowledge)
    first = made["job"]["roots"][0]
    drawn = compose(made["job"], "en")
    seats = [seat for row in drawn.grid.rows for node in row.nodes for seat in row.seats if node and seat.mark == "waits"]
    assert first["waiters"] == sum(g.processes for g in drawn.groups if g.state == f"waiting for {first['who']}") == len(seats)
    assert f"{first['waiters']} ranks waited for it" in drawn.told[0]
    notes = [f["note"]["en"] for f in made["findings"] if f["note"] and "waited for" in f["note"]["en"]]
    assert notes
    assert all(note.startswith(f"{first['waiters']} ranks waited for {first['who']}") for note in notes)


def test_ranks_that_did_the_same_are_one_row(bench: Bench) -> None:
    """A job of many ranks is a few rows: those who waited are counted, whole nodes of them share a row of the grid, and every root has an event."""
    job = simulate(11, 128, "aicore")
    parts = [bench._scanner.scan(discover.given_text(t, n)) for n, t in job.files.items()]
    made = report(conclude(parts, bench.knowledge), bench.knowledge)
    drawn = compose(made["job"], "en")
    assert "127 ranks waited for" in drawn.groups[1].said
    assert len(drawn.grid.rows) <= 3
    assert sum(len(row.nodes) * len(row.seats) for row in drawn.grid.rows) == 128
    assert {root["who"] for root in made["job"]["roots"]} <= {event["who"] for event in made["job"]["timeline"]}


@pytest.mark.parametrize(("lang", "first", "open_"), [("en", "rank 0 failed first", "rank 0 failed"), ("zh", "rank 0 最先出错", "rank 0 出错")])
def test_nobody_failed_first_where_another_attempt_failed_before(lang: str, first: str, open_: str) -> None:
    """A process that failed and was gone before the root's began: the root failed, but not first."""
    row = {"rank": 0, "device": 0, "node": None, "pid": 2, "state": "root", "about": "AAA001", "first_seen": "2026-05-11T10:24:01.000000", "last_seen": "2026-05-11T10:24:02.000000", "ahead": None}
    before = {**row, "rank": 2, "pid": 1, "state": "fault", "about": "BBB001", "first_seen": "2026-05-11T10:22:31.000000", "last_seen": "2026-05-11T10:22:32.000000"}
    root = {"verdict": "fault", "who": "rank 0", "codes": ["AAA001"], "waiters": 0, "peers": [], "seconds_before_first_timeout": None, "unordered": None}
    made = {"world_size": 4, "at_least": 4, "processes": 2, "roots": [root], "ranks": [before, row], "missing_ranks": [], "waits": [], "skew": [], "timeline": []}
    assert compose(made, lang).told[0] == open_
    assert compose({**made, "ranks": [row]}, lang).told[0] == first
