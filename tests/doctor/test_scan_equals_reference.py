"""Nothing is lost by being fast: what the scanner finds is what trying every signal on every line finds.

All engines, any window size, any cut into ranges, CRLF, no final newline, odd bytes, lines longer than a window.
"""

from __future__ import annotations

import io
import random
from collections.abc import Iterable
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doctor.read.encoding import decode
from doctor.read.source import Source, hints
from doctor.scan import finder, floods, rangescan, scanner, windows
from doctor.scan.harvest import Harvest, merge, shift
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb.code_forms import of_code
from kb.fragments import assign
from kb.knowledge import Knowledge
from kb.model import Filter, Signal
from kb.sought import gathered
from parsers.line import read_line

ENGINES = ["plain", "ahocorasick_rs", "hyperscan"]


def signal(number: int, form: str, pattern: str, anchors: tuple[str, ...], **more: object) -> Signal:
    base = Signal(f"TST{number:03}/0", form, pattern, anchors, 0, (), "", (), True)
    return assign(base._replace(**more))  # type: ignore[arg-type]


SIGNALS = [
    signal(1, "text", "drvMemcpy failed", ("drvMemcpy failed",)),
    signal(2, "regex", r"error code is (?P<code>\d{6})", ("error code is ",)),
    signal(3, "regex", r"^RuntimeError: (?P<what>.{1,20})", ("RuntimeError: ",)),
    signal(4, "regex", r"(?:alpha|bravo) wait (?P<n>\d+)", ("alpha wait ", "bravo wait ")),
    signal(5, "text", "memcpy", ("memcpy",)),
    signal(6, "regex", r"notify wait timeout.{0,40}?rank\[(?P<rank>\d+)\]", ("notify wait timeout",)),
    signal(7, "text", "out of memory", ("out of memory",), filters=(Filter("plog", (), ("error",)),)),
    signal(8, "regex", r"first half\n.{0,60}second half", ("first half", ), lines=1),
    signal(9, "text", "内存不足", ("内存不足",)),
    *(signal(n, "code", *of_code(code)) for n, code in enumerate(("107021", "-8005", "EZ9999", "0x28"), 10)),
]  # fmt: skip
PLAN = Plan(gathered(SIGNALS))

PIECES = [
    "drvMemcpy failed", "drvMemcpy ok", "error code is 507018", "error code is 5", "RuntimeError: boom", "alpha wait 12", "bravo wait x",
    "memcpy", "notify wait timeout on rank[3]", "notify wait timeout", "out of memory", "first half", "second half", "内存不足", "训练",
    "[ERROR] HCCL(12,python):2026-01-02-03:04:05.006.007 [a.cc:1]7 F:", "[INFO] GE(12,p):2026-01-02-03:04:05.006.007 [a.cc:1]7 F:",
    "[rank3]: ", "(Worker_TP2 pid=1456) ERROR 03-25 06:14:02 [file.py:880] ", "\x1b[31m", "drvMem\x1b[1mcpy fa\x1b[0miled", "mem\x1bcpy",
    "notify wa\x1b[Kit timeout", "107021", "1070212", "107021.5", "-8005", "ret -8005.", "error", "retCode=", "错误码 ", "EZ9999", "EZ9999]", "0x0028", "x28", " ", "x" * 90, "Error: y", "\t", "\r",
]  # fmt: skip

line_texts = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
logs = st.lists(line_texts, max_size=30).flatmap(
    lambda rows: st.tuples(st.just(rows), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans())
)


def render(log: tuple[list[str], str, bool, bool]) -> bytes:
    rows, newline, final, gbk = log
    data = (newline.join(rows) + (newline if final and rows else "")).encode("gb18030" if gbk else "utf-8")
    return data.replace(b"Error: y", b"\xff\xfe Error: y") if not gbk else data


def source(data: bytes) -> Source:
    return Source("mem.log", lambda: io.BytesIO(data), len(data), hints("mem.log"), seekable=True)


def reference(plan: Plan, data: bytes) -> set[tuple[str, int, tuple[tuple[str, str], ...]]]:
    """Every signal on every line, without any cleverness."""
    raws = data.split(b"\n")
    if raws and not raws[-1]:
        raws.pop()
    lines = [read_line(decode(raw)) for raw in raws]
    found = set()
    for number, line in enumerate(lines):
        for n, one in ((n, plan.signals[n]) for n in range(plan.count)):
            if one.filters and not rangescan.accepted(line, one.filters):
                continue
            text = "\n".join(x.text for x in lines[number : number + 1 + one.lines])
            captures = plan.search(n, text)
            if captures is not None and any(a in line.text for a in one.anchors):
                found.add((one.id, number + 1, tuple(captures.items())))
    return found


def told(harvest: Harvest) -> set[tuple[str, int, tuple[tuple[str, str], ...]]]:
    return {(h.signal, h.place.line, h.captures) for h in harvest.hits}


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=120)
@given(logs)
def test_engines_equal_the_reference(engine: str, log: tuple[list[str], str, bool, bool]) -> None:
    """The same signals, lines and captures, whichever engine looks for the fragments."""
    if engine == "hyperscan":
        pytest.importorskip("hyperscan")
    data = render(log)
    with mock.patch.object(scanner, "PASTED", -1):  # a text so short is looked at once more, as it may have been before it was pasted
        assert told(_scanner(engine).scan(source(data))) == reference(PLAN, data)


_SCANNERS: dict[str, Scanner] = {}


def _scanner(engine: str) -> Scanner:
    if engine not in _SCANNERS:
        _SCANNERS[engine] = Scanner(PLAN, engine=engine, digest="test")
        if engine == "hyperscan":
            fragments = PLAN.fragments
            _SCANNERS[engine].engine._large = finder.hyperscan(fragments)[0]
    return _SCANNERS[engine]


@settings(max_examples=150)
@given(logs, st.integers(40, 400), st.lists(st.integers(0, 3000), max_size=4))
def test_cuts_make_no_difference(log: tuple[list[str], str, bool, bool], size: int, cuts: list[int]) -> None:
    """Windows of any size and ranges of any cut give the same findings with the same line numbers and owners."""
    data = render(log)
    with mock.patch.object(scanner, "PASTED", -1):  # a text so short is looked at as a whole, and never cut
        whole = _scanner("plain").scan(source(data))
    with mock.patch.multiple(windows, WINDOW=size, LOOK_AHEAD=200), mock.patch.object(scanner, "PASTED", -1):
        edges = sorted({0, *(c for c in cuts if 0 < c < len(data)), len(data)})
        ranges = list(zip(edges, [*edges[1:-1], None], strict=False)) or [(0, None)]
        parts, lines = [], 0
        for start, end in ranges:
            one = _windowed(data, start, end, size)
            parts.append(shift(one, lines))
            lines += one.lines
    joined = merge(parts)
    assert told(joined) == told(whole)
    assert {h.place for h in joined.hits} == {h.place for h in whole.hits}
    assert joined.counts == whole.counts
    assert (joined.size, joined.lines, joined.errors) == (whole.size, whole.lines, whole.errors)


def _windowed(data: bytes, start: int, end: int | None, size: int) -> Harvest:
    real = windows.windows

    def small(stream: io.BytesIO, begin: int = 0, finish: int | None = None) -> Iterable[windows.Window]:
        return real(stream, begin, finish, size)

    with mock.patch.object(scanner, "windows", small):
        return Scanner(PLAN, engine="plain").scan(source(data), start, end)


def test_quotas_limit_work_and_say_so() -> None:
    """Of thousands of occurrences some are kept; a plain text is counted on exactly for a while, a pattern is 'at least'."""
    row = "drvMemcpy failed\nerror code is 507018\n"
    some = Scanner(PLAN, engine="plain").scan(source((row * (floods.COUNT_EXACTLY - 1)).encode()))
    assert sum(h.signal == "TST001/0" for h in some.hits) == floods.KEEP
    assert some.counts["TST001/0"] == floods.COUNT_EXACTLY - 1
    assert some.capped == ("TST002/0",)
    many = Scanner(PLAN, engine="plain").scan(source((row * 30_000).encode()))
    assert floods.COUNT_EXACTLY <= many.counts["TST001/0"] < 30_000
    assert many.capped == ("TST001/0", "TST002/0")


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_left_out_of_a_flood_costs_no_other_finding(engine: str) -> None:
    """Known errors in masses are no more looked for; what else stands between them is found, and claimed lines stay claimed."""
    if engine == "hyperscan":
        pytest.importorskip("hyperscan")
    head = "[ERROR] HCCL(12,python):2026-01-02-03:04:05.006.007 [{}]7 F:"
    known = head.format("a.cc:1") + "drvMemcpy failed\n"
    rows = [known] * 40_000
    rows[30_000] = head.format("b.cc:7") + "a strange new thing\n"
    rows[31_000] = head.format("c.cc:9") + "drvMemcpy failed: alpha wait 7\n"
    rows[39_000] = head.format("a.cc:1") + "alpha wait 8\n"
    data = "".join(rows).encode()
    tool = Scanner(PLAN, engine=engine)
    tool.engine.prepare(1 << 30)
    harvest = tool.scan(source(data))
    assert tool.engine._quiet, "the flood did not make a finder of its own: this test tests nothing"
    assert {(h.signal, h.place.line) for h in harvest.hits if h.place.line > 1000} == {
        ("TST004/0", 31_001),
        ("TST004/0", 39_001),
    }
    assert [(c.total, c.first.line) for c in harvest.clusters] == [(1, 30_001)]


def test_a_line_longer_than_many_windows() -> None:
    """What stands anywhere in a line of megabytes is found, in bounded memory."""
    data = b"a" * 3_000_000 + b" drvMemcpy failed " + b"b" * 3_000_000 + b" error code is 507018 " + b"c" * 3_000_000
    found = {h.signal for h in _scanner("plain").scan(source(data)).hits}
    assert found == {"TST001/0", "TST002/0"}


def test_all_knowledge_on_all_samples(knowledge: Knowledge, entries: list) -> None:  # type: ignore[type-arg]
    """With the whole knowledge, all engines agree on a log made of every entry's samples, shuffled."""
    rows = [row for entry in entries for sample in (*entry.match, *entry.no_match) for row in sample.text.split("\n")]
    random.Random(3).shuffle(rows)
    data = "\n".join(rows[:6000]).encode()
    plan = Plan(gathered([s for s in knowledge.signals() if s.form != "fields"]))
    fragments = tuple(map(bytes, plan.fragments))  # as parts of words, too
    plain = finder.plain(fragments)(data)
    assert finder.aho_corasick(fragments)(data) == plain
    pytest.importorskip("hyperscan")
    assert finder.hyperscan(fragments)[0](data) == plain
