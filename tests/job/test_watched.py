"""What the watchdogs of several ranks say together, on a screen where nothing else is known of the job."""

from __future__ import annotations

import pytest

from doctor.judge.diagnosis import Diagnosis, conclude
from doctor.judge.proof import Bench
from doctor.read import discover


def gave_up(rank: int, number: int, op: str = "ALLREDUCE", inside: int | None = None) -> str:
    """A watchdog's line; `inside` is the rank in the group when that is not the whole job."""
    return (
        f"[rank{rank}]:[E324 13:00:2{rank}.428029551 compiler_depend.ts:574] [Rank {rank if inside is None else inside}] "
        f"Watchdog caught collective operation timeout: WorkHCCL(SeqNum={number}, OpType={op}, NumelIn=8, NumelOut=8, "
        f"Timeout(ms)=600000) ran for 600180 milliseconds before timing out."
    )


def diagnose(bench: Bench, *lines: str) -> Diagnosis:
    part = bench._scanner.scan(discover.given_text("\n".join(lines) + "\n", "screen.log"))
    return conclude([part], bench.knowledge)


def told(made: Diagnosis) -> list[tuple[str, str]]:
    assert made.job is not None
    return [(root.verdict, root.label) for root in made.job.roots]


def test_the_rank_in_another_collective_is_named(bench: Bench) -> None:
    made = diagnose(bench, gave_up(0, 197), gave_up(1, 196, "ALLGATHER"), gave_up(2, 197), gave_up(3, 197))
    assert told(made) == [("watched-odd", "rank 1")]
    assert made.roots[0].finding.entry.code == "JOB013"
    assert "HCL105" in made.roots[0].explains


def test_of_two_the_one_that_is_behind_is_named(bench: Bench) -> None:
    assert told(diagnose(bench, gave_up(0, 197), gave_up(1, 196))) == [("watched-odd", "rank 1")]


def test_the_rank_that_never_came_is_named(bench: Bench) -> None:
    seen = "[rank3]:[W324 12:00:13.781500111 compiler_depend.ts:133] Warning: Device do not support double dtype now, dtype cast replace with float. (function operator())"
    for made, rank in (
        (diagnose(bench, seen, gave_up(0, 88), gave_up(1, 88), gave_up(2, 88)), "rank 3"),
        (diagnose(bench, gave_up(0, 88), gave_up(1, 88), gave_up(3, 88)), "rank 2"),
    ):
        assert told(made) == [("watched-away", rank)]
        assert made.roots[0].finding.entry.code == "JOB014"


@pytest.mark.parametrize(
    "lines",
    [
        (gave_up(0, 88), gave_up(1, 88)),  # nobody is away
        (gave_up(5, 88), gave_up(7, 88)),  # a few lines of a long screen
        (gave_up(0, 88), gave_up(1, 9000)),  # counted in different groups
        (gave_up(4, 12, inside=0), gave_up(5, 13, inside=1)),  # ranks inside smaller groups
        (gave_up(0, 12), gave_up(1, 13), gave_up(2, 14), gave_up(3, 15)),  # no common number
    ],
)
def test_nothing_is_claimed_without_ground(bench: Bench, lines: tuple[str, ...]) -> None:
    made = diagnose(bench, *lines)
    assert told(made) == []
    assert made.roots[0].finding.entry.code == "HCL105"


def test_a_fault_of_a_rank_goes_before_the_count(bench: Bench) -> None:
    fault = "[rank2]: RuntimeError: NPU out of memory. Tried to allocate 386.00 MiB (NPU 2; 60.97 GiB total capacity; 59.57 GiB already allocated; 59.57 GiB current active; 16.54 MiB free; 60.06 GiB reserved in total by PyTorch)"
    made = diagnose(bench, gave_up(0, 88), gave_up(1, 88), fault, gave_up(3, 88))
    assert made.roots[0].finding.entry.kind == "out-of-memory"
    assert len(made.roots) == 1


def test_a_death_of_the_missing_rank_goes_before_its_absence(bench: Bench) -> None:
    died = "E1102 08:00:50.401000 77 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -9) local_rank: 1 (pid: 1202) of binary: /usr/bin/python"
    made = diagnose(bench, gave_up(0, 88), gave_up(2, 88), died)
    assert made.roots[0].finding.entry.code == "DST016"
    assert "JOB014" in made.roots[0].explains
