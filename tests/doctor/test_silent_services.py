"""Services that fail in silence: states that lasted, in logs of any length, and none in healthy ones."""

from __future__ import annotations

import pytest

from benchmarks import silent
from doctor.findings.loads import with_states
from doctor.read import discover
from doctor.scan import loadscan
from doctor.scan.harvest import Harvest, from_json, merge, shift
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge, load

MISSED = {"silent/half-of-the-requests-ignored", "silent/sglang-decode-out-of-memory", "silent/words-without-sense"}


@pytest.fixture(scope="module")
def knowledge() -> Knowledge:
    return load()


@pytest.fixture(scope="module")
def scanner(knowledge: Knowledge) -> Scanner:
    return Scanner(Plan(knowledge.sought()))


def line(number: int, running: int, tokens: float, kv: float = 9.0) -> str:
    """A line of vLLM's statistics, ten seconds after the one before it."""
    at = number * 10
    clock = f"{at // 3600 % 24:02d}:{at // 60 % 60:02d}:{at % 60:02d}"
    return (
        f"(APIServer pid=61) INFO 04-11 {clock} [loggers.py:248] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: "
        f"{tokens:.1f} tokens/s, Running: {running} reqs, Waiting: 0 reqs, GPU KV cache usage: {kv:.1f}%, Prefix cache hit rate: 0.0%\n"
    )


def codes(harvest: Harvest) -> set[str]:
    return {hit.entry for hit in with_states(harvest).hits if hit.place.module == loadscan.TABLE}


def told(harvest: Harvest, code: str) -> dict[str, str]:
    return next(dict(hit.captures) for hit in with_states(harvest).hits if hit.entry == code)


def scan(scanner: Scanner, text: str) -> Harvest:
    return scanner.scan(discover.given_text(text, "serve.log"))


def test_threads_are_named_and_healthy_services_left_alone(knowledge: Knowledge) -> None:
    """The re-enacted threads give the state that their label says, but for those whose log does not hold it."""
    every = list(silent.cases(knowledge))
    assert {case.name for case in every if not case.right} == MISSED
    assert sum(bool(case.state) for case in every) >= 30
    assert sum(not case.state for case in every) >= 15


def test_a_state_runs_over_ranges(scanner: Scanner) -> None:
    """What one range ends with and the next one begins with is one run, in whatever order they come, after a trip through JSON."""
    before, stall = "".join(line(n, 3, 80.0) for n in range(20)), [line(n, 3, 0.0) for n in range(20, 34)]
    whole = scan(scanner, before + "".join(stall))
    first, second = scan(scanner, before + "".join(stall[:6])), shift(scan(scanner, "".join(stall[6:])), 26)
    joined = merge([from_json(second.json()), first])
    assert told(whole, "SRV001")["samples"] == told(joined, "SRV001")["samples"] == "14"
    assert told(joined, "SRV001")["since"] == "04-11 00:03:20"


def test_progress_between_two_ranges_parts_the_runs(scanner: Scanner) -> None:
    """Six samples before a range's end and six of the range after next are no twelve."""
    stall = "".join(line(n, 3, 0.0) for n in range(6))
    parts = [scan(scanner, stall), shift(scan(scanner, line(7, 3, 80.0)), 6), shift(scan(scanner, stall + line(20, 0, 0.0)), 7)]
    assert codes(merge(parts)) == set()


def test_a_cache_that_fills_is_a_prompt_that_is_read(scanner: Scanner) -> None:
    """No token for two minutes, but the cache moves in each line."""
    assert codes(scan(scanner, "".join(line(n, 1, 0.0, 5.0 + 3 * n) for n in range(14)) + line(15, 1, 20.0))) == set()


def test_two_engines_are_told_apart(scanner: Scanner) -> None:
    """One that works does not break the run of one that stands still."""
    text = "".join(line(n, 2, 0.0) + line(n, 4, 90.0).replace("Engine 000", "Engine 001") for n in range(13))
    assert told(scan(scanner, text), "SRV001")["engine"] == "000"


def test_of_many_samples_few_are_read_and_the_end_always(scanner: Scanner, monkeypatch: pytest.MonkeyPatch) -> None:
    """The work in a window is bounded, and a service that stood still at the end is seen nevertheless."""
    read = 0
    sample = loadscan.LoadScan.sample

    def counted(self: loadscan.LoadScan, *rest: object) -> None:
        nonlocal read
        read += 1
        sample(self, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(loadscan.LoadScan, "sample", counted)
    text = "".join(line(n, 3, 80.0) for n in range(1500)) + "".join(line(n, 3, 0.0) for n in range(1500, 1540))
    harvest = scan(scanner, text)
    assert "SRV001" in codes(harvest)
    assert read < 1540 // 4


def test_other_logs_have_nothing_to_fold(scanner: Scanner) -> None:
    """A log without statistics leaves no facts, and the harvest is the same object."""
    harvest = scan(scanner, "[ERROR] 2026-01-01-10:00:00 (PID:1, Device:0, RankID:0) ERR00100 PTA call acl api failed\n" * 20)
    assert with_states(harvest) is harvest
