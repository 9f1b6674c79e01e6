"""What a flood is read with costs nothing that reading it line by line would find: the harvests are the same."""

from __future__ import annotations

import io
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any
from unittest import mock

import pytest

from benchmarks import trees
from doctor.read.source import Source, hints
from doctor.scan import engine, finder, floods, marks, plan, scanner, windows
from doctor.scan.harvest import Harvest
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb.fragments import assign
from kb.knowledge import Knowledge
from kb.model import Signal
from kb.sought import gathered

ENGINES = ["plain", "ahocorasick_rs", "hyperscan"]


def signal(number: int, form: str, pattern: str, *anchors: str, lines: int = 0) -> Signal:
    return assign(Signal(f"TST{number:03}/0", form, pattern, anchors, lines, (), "", (), True))


SIGNALS = (
    signal(1, "text", "drvMemcpy failed", "drvMemcpy failed"),
    signal(2, "regex", r"errorStr: .{0,80}?(?P<what>overflow|underflow) seen", "errorStr: "),
    signal(3, "regex", r"fault kernel=\S{0,40}GetNext", "fault kernel="),
)
HEAD = "[ERROR] HCCL(12,python):2026-01-02-03:04:05.006.007 [{}.cc:{}]7 "
WORDS = "queue tensor graph segment buffer window cursor ledger packet bridge".split()  # noqa: SIM905


def source(data: bytes) -> Source:
    return Source("mem.log", lambda: io.BytesIO(data), len(data), hints("mem.log"), seekable=True)


def storm(lines: int) -> Iterator[str]:
    """Errors of ever new shapes, and between them lines that hold something else as well."""
    chance = random.Random(7)
    for number in range(lines):
        head = HEAD.format(chance.choice(WORDS), number % 997)
        words = " ".join(chance.choice(WORDS) for _ in range(6))
        odd = chance.random()
        if odd < 0.01:
            yield f"{head}{words} drvMemcpy failed {number}"
        elif odd < 0.02:
            yield f"{head}{words} [ERROR] said twice"
        elif odd < 0.03 and number > 12_000:
            yield f"[INFO] GE(7,p):2026-01-02-03:04:05.006.007 [ge.cc:1]7 {words} [ERROR] quoted"
        elif odd < 0.04:
            yield f"ValueError: {words}"
        elif odd < 0.05:
            yield f"[INFO] GE(7,p):2026-01-02-03:04:05.006.007 [ge.cc:1]7 {words}"
        else:
            yield f"{head}{words} {chance.randrange(1 << 40):x}"


def scan(data: bytes, name: str, expected: int = 1 << 40, signals: Sequence[Signal] = SIGNALS) -> tuple[Harvest, Scanner]:
    if name == "hyperscan":
        pytest.importorskip("hyperscan")
    tool = Scanner(Plan(gathered(signals)), engine=name, digest="test")
    tool.engine._large = finder.hyperscan(tool.plan.fragments)[0] if name == "hyperscan" else None
    if tool.engine._large is None:
        tool.engine.prepare(expected)
    tool.engine._use = tool.engine._use._replace(size=expected)
    return tool.scan(source(data)), tool


@pytest.mark.parametrize("name", ENGINES)
def test_a_mark_that_is_counted_at_once(name: str) -> None:
    """As many errors, of the same shapes, and everything that stands between them."""
    data = ("\n".join(storm(30_000)) + "\n").encode()
    with mock.patch.object(marks, "frequent", return_value=None), mock.patch("doctor.scan.floods.frequent", return_value=None):
        one_by_one, _ = scan(data, name)
    with mock.patch.object(marks.Mark, "lines", autospec=True, side_effect=marks.Mark.lines) as counted:
        at_once, _ = scan(data, name)
    assert counted.call_count > 3, "no mark was left out: this test tests nothing"
    assert at_once == one_by_one
    assert at_once.errors > 25_000


def test_a_mark_in_windows_with_escapes_and_at_their_edges() -> None:
    """Lines with terminal escapes are read one by one; a line that runs into the next window counts once."""
    rows = list(storm(30_000))
    rows[25_000:25_000] = ["\x1b[31m" + rows[0] + "\x1b[0m", "mem\x1b[1mcpy"]
    data = "\n".join(rows).encode()
    with mock.patch("doctor.scan.floods.frequent", return_value=None):
        one_by_one, _ = scan(data, "ahocorasick_rs")
    assert scan(data, "ahocorasick_rs")[0] == one_by_one


def test_what_cannot_match_in_a_window_is_not_asked_about_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of lines with the anchors alone, and late ones that hold what a match needs as well: in their line, and in the next one."""
    block = signal(4, "regex", r"Odd: [a-z]{1,80}\n[a-z]{1,9} by rank \d+", "Odd: ", lines=1)
    rows = [f"errorStr: {WORDS[n % 10]} {n}\nOdd: {WORDS[n % 7]} {n}" for n in range(4000)]
    for late in (3500, 3540, 3999):
        rows[late] = "errorStr: x overflow seen\nOdd: one\nasked by rank 3"
    data = ("\n".join(rows) + "\n").encode()
    monkeypatch.setattr(plan, "VAIN", 100)
    monkeypatch.setattr(floods, "WORTH_ASKING", 0)
    monkeypatch.setattr(scanner, "windows", partial(windows.windows, size=20_000))
    asked = Counter[bool]()
    real = Plan.may_match

    def may_match(self: Plan, *args: Any) -> bool:
        found = real(self, *args)
        asked[found] += 1
        return found

    monkeypatch.setattr(Plan, "may_match", may_match)
    quick, _ = scan(data, "ahocorasick_rs", len(data), (*SIGNALS, block))
    few = asked.total()
    monkeypatch.setattr(Plan, "absent", lambda self, data: frozenset())
    thorough, _ = scan(data, "ahocorasick_rs", len(data), (*SIGNALS, block))
    assert quick == thorough
    assert quick.counts == {"TST002/0": 3, "TST004/0": 3}
    assert 2 * few < asked.total() - few


@pytest.mark.parametrize("name", ENGINES)
def test_a_signal_that_is_looked_for_by_its_rarer_text(name: str) -> None:
    """Its anchor stands in every line, the text that its pattern needs in few: these are found, with the right captures."""
    chance = random.Random(3)
    rows = []
    for number in range(20_000):
        word = "overflow seen" if chance.random() < 0.002 else "underflow  seen" if chance.random() < 0.002 else "nothing to see"
        rows.append(f"[INFO] GE(7,p):2026-01-02-03:04:05.006.007 [ge.cc:1]7 errorStr: {chance.choice(WORDS)} {word} {number}")
        rows.append(f"[INFO] GE(7,p):2026-01-02-03:04:05.006.007 [ge.cc:1]7 fault kernel=Te{'GetNext' if number % 5000 == 4999 else 'Conv'} of {chance.getrandbits(60):x}")
    data = "\n".join(rows).encode()
    with mock.patch.object(plan, "MISSED", 1 << 40):
        by_anchor, _ = scan(data, name)
    with mock.patch.object(plan, "MISSED", 500):
        by_rare_text, tool = scan(data, name)
    assert tool.plan.narrowed == {1, 2}
    assert by_rare_text == by_anchor
    assert len(by_anchor.hits) > 10


@pytest.mark.parametrize("name", ENGINES)
def test_a_signal_without_a_rarer_text_is_looked_for_by_its_pattern(name: str) -> None:
    """Every text that its matches need stands in every line: an engine that knows patterns tells the lines apart, also those that are not ASCII."""
    signals = (*SIGNALS, signal(4, "regex", r"kernel name=(?P<kernel>\w{0,20}(?:ll_?Gather|Cast)\b)[^|]", "kernel name="))
    rows = [f"[INFO] GE(7,p):2026-01-02-03:04:05.006.007 [ge.cc:1]7 kernel name={'' if n % 2 else 'X'}Gather_{n}|" for n in range(9000)]
    rows[5000] = "[INFO] GE(7,p):2026-01-02-03:04:05.006.007 [ge.cc:1]7 kernel name=AllGather here"
    rows[6000] = "[INFO] GE(7,p):2026-01-02-03:04:05.006.007 [ge.cc:1]7 kernel name=核Cast 错误"
    rows[7000] = "[INFO] GE(7,p):2026-01-02-03:04:05.006.007 [ge.cc:1]7 kernel name=XCast"  # the line ends where its match would go on
    data = "\n".join(rows).encode()
    with mock.patch.object(plan, "MISSED", 1 << 40):
        by_anchor, _ = scan(data, name, signals=signals)
    with mock.patch.object(plan, "MISSED", 500):
        by_pattern, tool = scan(data, name, signals=signals)
    assert bool(tool.plan.patterns) == (name == "hyperscan")
    assert by_pattern == by_anchor
    assert [dict(h.captures)["kernel"] for h in by_anchor.hits] == ["AllGather", "核Cast"]


@pytest.mark.parametrize("kind", ["claimed", "unclaimed", "mixed", "claimed later"])
def test_a_settled_statement_is_counted_as_if_each_line_were_asked(kind: str) -> None:
    """Lines of one log statement that a signal claims, or none does, or some: as many errors as without the short cut."""
    chance = random.Random(11)
    rows = list(storm(400))
    for number in range(24_000):
        claimed = kind == "claimed" or (kind == "mixed" and chance.random() < 0.5) or (kind == "claimed later" and number > 12_000)
        rows.append(f"{HEAD.format('memory', 88)}{'drvMemcpy failed' if claimed else 'Alloc failed'} {number}")
    data = "\n".join(rows).encode()
    with mock.patch.object(floods, "BELIEVED", 1 << 40):
        each, _ = scan(data, "ahocorasick_rs")
    at_once, tool = scan(data, "ahocorasick_rs")
    assert at_once.errors == each.errors
    assert at_once.clusters == each.clusters
    assert tool.engine._quiet or kind == "unclaimed", "no literal was left out: this test tests nothing"


def test_a_tree_of_errors_asks_few_patterns_for_a_line(knowledge: Knowledge) -> None:
    """Whatever entries there are: what is said again and again, and refused, is not asked for at every line of a large tree."""
    pytest.importorskip("hyperscan")
    lines = trees.Tree(71, 4001).lines("nasty")
    data = "".join(next(lines) for _ in range(30_000)).encode()
    tool = Scanner(Plan(knowledge.sought()), digest=knowledge.digest)
    tool.engine.prepare(1 << 30)
    refused: Counter[str] = Counter()
    may_match = Plan.may_match

    def counted(self: Plan, number: int, *line: Any) -> bool:
        answer = may_match(self, number, *line)
        refused[self.signals[number].id] += not answer
        return answer

    with mock.patch.object(plan, "MISSED", 2000), mock.patch.object(Plan, "may_match", counted):
        for _ in range(3):  # files of a tree
            refused.clear()
            tool.scan(source(data))
    assert refused.total() < 100, refused.most_common(5)


def test_a_finder_is_made_only_when_it_pays() -> None:
    """Making one costs as much as many thousand finds: a short log is not worth it."""
    data = ("\n".join(storm(30_000)) + "\n").encode()
    assert not scan(data, "ahocorasick_rs", expected=len(data))[1].engine._quiet
    assert engine.WORTH > 10_000
