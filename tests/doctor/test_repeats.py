"""Lines that are said again and again are counted without being looked at, and the harvest is the same."""

from __future__ import annotations

import io
import random
from unittest import mock

import pytest

from doctor.read.source import Source, hints
from doctor.scan import repeats
from doctor.scan.engine import Engine
from doctor.scan.escapes import without_escapes
from doctor.scan.finder import ENGINES
from doctor.scan.harvest import Harvest
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb.anchors import blind_to_digits
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
        ("\x1b[31mERROR: op {n} failed\x1b[0m", "\x1b[31mERROR: op 7 failed, er\x1b[0mror code 507\x1b[0m011"),
        ("EZ9999: Inner Error! {n}", "EZ9998: Inner Error! 5"),
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


@pytest.mark.parametrize("common", ["RuntimeError: boom is here", "RuntimeError: boom {n} is here"])
def test_what_follows_a_line_decides_each_time(plan: Plan, common: str) -> None:
    """Thousands of lines behind which a block does not go on, and one behind which it does."""
    rows = [common.replace("{n}", str(n % 100)) for n in range(9000)]
    rows.insert(7001, "[ERROR] 2026-03-01-10:00:00 (PID:7, Device:0, RankID:1) ERR00007 PTA feature not supported")
    data = ("\n".join(rows) + "\n").encode()
    found = scan(plan, data)
    assert found.counts["PTA701/1"] == 1
    assert found == line_by_line(plan, data)


@pytest.mark.parametrize("engine", ENGINES)
def test_numbers_that_may_decide_are_found_one_behind_the_other(engine: str) -> None:
    """Whatever finds them, also at both ends of a text; other numbers are not."""
    if engine == "hyperscan":
        pytest.importorskip("hyperscan")
    literals = (b"libboom.so.2", b"nothing")
    tool = Engine(literals, engine)
    tool.prepare(1 << 26)
    find = tool.numbered(tuple(repeats._DECIDING))
    assert find is not None
    text = b"\n507011 507012 EZ9999 ERR01003 libboom.so.2 errno 28 strerror[0x5] error code: 0, rank 7, 12:30, pid 41233, errno 4711\n"
    ends = {text[:end].split()[-1] for end, _ in find(text)}
    assert ends == {b"507011", b"507012", b"EZ9999", b"ERR01003", b"libboom.so.2", b"28", b"strerror[0x", b"strerror[0x5]", b"0,"}


@pytest.mark.parametrize(
    ("pattern", "blind"),
    [
        (r"rank \d+ of \w{3,12}: [0-9a-f]+ failed", True), ("rank 3 of", False), (r"timeout [1-9]\d*", False), (r"(\d)-\1", False),
        (r"(?:op|a[^\n])(?=x[!-~]).*$", True), ("[^5]x", False), ("(?P<a>x|y7)", False),
    ],
)  # fmt: skip
def test_which_patterns_are_blind_to_digits(pattern: str, blind: bool) -> None:
    """Those that match the same text with other digits in it."""
    assert blind_to_digits(pattern) == blind


def test_how_often_at_least_is_that_of_reading_line_by_line(plan: Plan) -> None:
    """What is counted to the end of a window counts so whatever else is found in it often enough meanwhile."""
    kinds = ["NPU out of memory. Tried to allocate {n} MiB", "ERROR: {w} code 507011"]
    data = log([kinds[n > 8000 and n % 7 == 0] for n in range(20_000)], 20_000)
    found = scan(plan, data)
    assert "MEM001/0" in found.capped
    assert found == line_by_line(plan, data)


def test_errors_of_a_known_shape_are_counted_as_such_in_a_flood_of_others(plan: Plan) -> None:
    """Of new shapes so many come that they are only counted; what is known of others remains true."""
    data = log(["[ERROR] HCCL(7,python3):2026-01-02-03:04:05.006.007 [a.cc:{n}]7 {w}", *["ERROR: boom failed"] * 3], 40_000)
    found = scan(plan, data)
    totals = {c.template: c.total for c in found.clusters}
    assert "(further shapes)" in totals
    assert found.errors == 40_000
    assert totals["ERROR: boom failed"] == 30_000


def test_what_a_window_lacks_is_looked_for_once(plan: Plan) -> None:
    """However many parts it is read in."""
    shown, windows = mock.Mock(side_effect=without_escapes), 3
    data = log(["\x1b[31mRuntimeError: boom is here\x1b[0m"], 40_000)
    with mock.patch("doctor.scan.plan.without_escapes", shown):
        scan(plan, data)
    assert sum(len(call.args[0]) > len(data) // 10 for call in shown.call_args_list) <= windows
