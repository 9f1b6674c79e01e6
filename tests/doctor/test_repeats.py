"""Lines that are said again and again are counted without being looked at, and the harvest is the same."""

from __future__ import annotations

import io
import random
from unittest import mock

import pytest

from doctor.read.source import Source, hints
from doctor.scan import repeats
from doctor.scan.engine import Engine
from doctor.scan.harvest import Harvest
from doctor.scan.plan import Plan
from doctor.scan.repeats import alike
from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge
from tests.doctor.test_work import KINDS, log

PLOG = "[ERROR] HCCL(41233,python3):2026-01-02-03:04:{n}.006.007 [a.cc:12]7 "


@pytest.fixture(scope="module")
def plan(knowledge: Knowledge) -> Plan:
    return Plan(knowledge.sought())


def scan(plan: Plan, data: bytes) -> Harvest:
    tool = Scanner(plan)
    tool.engine.prepare(1 << 26)
    return tool.scan(Source("mem.log", lambda: io.BytesIO(data), len(data), hints("mem.log")))


def line_by_line(plan: Plan, data: bytes) -> Harvest:
    with mock.patch.object(repeats, "SMALLEST", 1 << 60):
        return scan(plan, data)


@pytest.mark.parametrize("seed", range(8))
def test_the_harvest_is_that_of_reading_line_by_line(plan: Plan, seed: int) -> None:
    """Mixtures of all kinds of lines: hits with their places, counts, errors and their shapes."""
    chance = random.Random(seed)
    kinds = chance.sample([k for k in KINDS if "{w}" not in k], 4)
    data = log([chance.choice(kinds) for _ in range(997)], 9000)
    assert scan(plan, data) == line_by_line(plan, data)


@pytest.mark.parametrize(
    ("common", "odd"),
    [
        ("worker {n}: code {n} failed, errno 200: state", "worker 77: code 5 failed, errno 28: state"),
        (PLOG + "call of {n} failed", PLOG + "call of 7 failed, error code 507011"),
        (PLOG + "call of {n} failed", PLOG + "call of 312345 failed"),
        ("ERROR: op {n} failed, ret 12", "ERROR: op 99 failed, ret 507011"),
        ("ERROR: op EZ{n} failed", "ERROR: op EZ3002 failed"),
        ("init device failed, error code: 0, try {n}", "init device failed, error code: -8255, try 1"),
        ("ERROR: block deadbeef{n} failed", "ERROR: block deadbeef123456789a failed"),
        ("[rank3]: RuntimeError: boom {n}", "[rank3]: RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB"),
    ],
)
def test_a_number_that_decides_is_seen_among_thousands_of_lines(plan: Plan, common: str, odd: str) -> None:
    """A line that differs in its numbers alone and means another thing."""
    rows = [common.replace("{n}", str(1 + n % 89)) for n in range(9000)]
    rows[8000] = odd
    data = ("\n".join(rows) + "\n").encode()
    assert scan(plan, data) == line_by_line(plan, data)


def test_lines_beneath_a_title_belong_to_it(plan: Plan) -> None:
    """What stands beneath a title counts with its block, whatever the same words are elsewhere."""
    block = ["EE1001: [PID: 7] 2026-03-18-10:02:45.811.307 The argument is invalid.", "        TraceBack (most recent call last):", "        ERROR: boom of the device failed"]
    rows = [row for n in range(2500) for row in (*block[: 3 - n % 2], "ERROR: boom of the device failed", "        ERROR: boom of the device failed")]
    data = ("\n".join(rows) + "\n").encode()
    assert scan(plan, data) == line_by_line(plan, data)


@pytest.mark.parametrize("kind", ["ERROR: boom failed", "ERROR: boom {n} failed", PLOG + "boom of {n} failed", "[rank3]: RuntimeError: boom"])
def test_little_is_looked_for_in_what_is_said_again(plan: Plan, kind: str) -> None:
    """Of forty thousand lines, with one or two literals in each, nine in ten are not searched."""
    data = log([kind], 40_000)
    find, found = Engine.find, 0

    def counted(self: Engine, *asked: object) -> object:
        nonlocal found
        answer = find(self, *asked)  # type: ignore[arg-type]
        found += len(answer)
        return answer

    with mock.patch.object(Engine, "find", counted):
        scan(plan, data)
    assert found < 8000


def test_numbers_that_decide_are_not_found_where_nothing_is_said_again(plan: Plan) -> None:
    """Of errors with words of their own the first part shows that; one that finds such numbers is not made."""
    chance = random.Random(4)
    rows = ["ERROR: " + "".join(chance.choices("abcdefghijklmnop ", k=90)) + " failed" for _ in range(6000)]
    data = ("\n".join(rows) + "\n").encode()
    with mock.patch.object(Engine, "numbered", side_effect=AssertionError):
        scan(plan, data)


def test_lines_are_alike_that_differ_in_numbers() -> None:
    """A number is a zero, whatever its length; nothing else changes."""
    assert alike(b"rank 3 of 16: 0x1f, 20260102030405 at a12b") == b"rank 0 of 0: 0x0f, 0 at a0b"
    assert {alike(b"a" + b"7" * n) for n in range(1, 40)} == {b"a0"}
