"""No mixture of lines costs much work for a line. Work is counted in lines read and patterns tried, never in seconds."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from doctor.read.source import Source, hints
from doctor.scan import clusters, error_lines, meaningscan, rangescan, window_lines
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge

READ, TRIED = 4, 10  # lines read, and patterns of signals tried, for a line of the log
ONCE = 4000  # and for a log

# Lines that ask for much; {n} is another number in each, {w} another word, {t} a second with six more digits.
KINDS = (
    "ERROR: boom failed", "ERROR: boom {n} failed", "ERROR: {w} {w} failed", "RuntimeError: boom", "RuntimeError: {w} {n}", "[rank3]: RuntimeError: boom",
    "[ERROR] HCCL(41233,python3): boom failed", "[ERROR] HCCL(7,python3):2026-01-02-03:04:05.006.007 [a.cc:{n}]7 {w}", "[ERROR] foo [bar ",
    "[ERROR] HCCL(7,python3): wait socket establish timeout, role[1] rank[3] timeout[120 s]", "error code 507011 retcode=107002", "EZ9999: Inner Error! {n}",
    "E40021: [PID: 7] 2026-03-01 op[x], illegal.", "errno {n}: device busy", "errno 5: device busy", "Traceback (most recent call last):", '  File "/a/b.py", line {n}, in f', "    x()",
    "Entry-HcclAllReduce: tag[AllReduce_x], count[3], dataType[bfloat16], op[sum]", "[INFO] GE(7,p):2026-01-02-03:04:05.006.007 [ge.cc:1]7 no Error: here {n}",
    "\x1b[31mERROR: boom failed\x1b[0m", "E1204 14:46:07.912003 60570 file.go:201] boom {n}", "E1204 14:46:{t} 60570 file.go:201] boom {n}",
    "2026-03-01 10:11:{t} ERROR boom {n}", "    at TraceBack (most recent call last):", "plain {w}", "",
    "errorStr: {w}, fault kernel_name=te_{n}", "NPU out of memory. Tried to allocate {n} MiB", "[FUNC:f][FILE:a.cc][LINE:{n}]",
)  # fmt: skip

# Of these, ten thousand say no more than the first ones: no number in them makes one an error where others are none.
AGAIN = ("ERROR: boom", "[ERROR] HCCL(41233", "[ERROR] foo", "\x1b", "RuntimeError: boom", "[rank3]: RuntimeError", "[FUNC:f]", "errno", "    at TraceBack", "E1204", "2026-03-01 10")


@pytest.fixture(scope="module")
def plan(knowledge: Knowledge) -> Plan:
    return Plan(knowledge.sought())


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """How many lines are read, shapes made and patterns of signals tried meanwhile."""
    spent: Counter[str] = Counter()

    def counting(name: str, real: Any) -> Any:
        def call(*args: Any) -> Any:
            spent[name] += 1
            return real(*args)

        return call

    with ExitStack() as stack:
        for module in (window_lines, rangescan, error_lines, meaningscan):
            stack.enter_context(mock.patch.object(module, "read_line", counting("read", module.read_line)))
        for module in (clusters, meaningscan):
            stack.enter_context(mock.patch.object(module, "template", counting("read", module.template)))
        for method in ("search", "may_match"):
            stack.enter_context(mock.patch.object(Plan, method, counting("tried", getattr(Plan, method))))
        yield spent


def log(kinds: list[str], lines: int) -> bytes:
    rows = (kinds[n % len(kinds)].replace("{n}", str(n * 7919 % 100_003)).replace("{w}", f"w{n * 31 % 9973:x}q").replace("{t}", f"07.{n * 7919 % 1_000_003:06}") for n in range(lines))
    return ("\n".join(rows) + "\n").encode()


def work(plan: Plan, kinds: list[str], lines: int) -> Counter[str]:
    data = log(kinds, lines)
    with counted() as spent:
        Scanner(plan).scan(Source("mem.log", lambda: io.BytesIO(data), len(data), hints("mem.log")))
    return spent


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.sampled_from(KINDS), min_size=1, max_size=5))
def test_no_mixture_of_lines_costs_much_for_a_line(plan: Plan, kinds: list[str]) -> None:
    """Whatever follows on what, again and again."""
    lines = 3000
    spent = work(plan, kinds, lines)
    assert spent["read"] <= READ * lines + ONCE, spent
    assert spent["tried"] <= TRIED * lines + ONCE, spent


@pytest.mark.parametrize("kind", [k for k in KINDS if k.startswith(AGAIN)])
def test_the_same_error_again_and_again_is_not_read_again(plan: Plan, kind: str) -> None:
    """Ten thousand lines that say no more than the first ones, and do not say whose they are."""
    assert work(plan, [kind], 10_000)["read"] < ONCE


def test_a_number_that_makes_an_error_is_seen_among_those_that_make_none(plan: Plan) -> None:
    """Thousands of lines whose error number says nothing, and one that does."""
    rows = [f"worker {n}: errno {n % 4 + 200}: state" for n in range(5000)]
    rows[4000] = "worker 4000: errno 28: state"
    data = ("\n".join(rows) + "\n").encode()
    found = Scanner(plan).scan(Source("mem.log", lambda: io.BytesIO(data), len(data), hints("mem.log")))
    assert [c.first.line for c in found.clusters] == [4001]


def test_an_exception_is_read_in_a_flood_of_other_errors(plan: Plan) -> None:
    """The flood is only counted; an exception that another literal of the knowledge stands in is not."""
    rows = [f"ERROR: aclnn{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)} of w{'x' * (n % 97)} failed" for n in range(6000)]
    rows += ["Traceback (most recent call last):", '  File "/a/b.py", line 3, in f', "    aclnnAdd()", "TypeError: aclnnAdd got an odd argument"]
    data = ("\n".join(rows) + "\n").encode()
    found = Scanner(plan).scan(Source("mem.log", lambda: io.BytesIO(data), len(data), hints("mem.log")))
    assert found.errors >= 6000
    assert 6004 in {p.line for p in (*(h.place for h in found.hits), *(c.first for c in found.clusters))}
