"""Patterns that take too long: a user's is cut off, named and reported, and the scan goes on; the built-in ones are measured."""

from __future__ import annotations

import io
import json
import random
import re
from pathlib import Path

import pytest

from doctor.read.source import Source, hints
from doctor.scan.harvest import Harvest
from doctor.scan.plan import PLAIN, STRIKES, Plan
from doctor.scan.scanner import Scanner
from kb.fragments import assign
from kb.knowledge import Knowledge
from kb.model import Signal
from kb.sought import gathered
from tests.fuzz import worst

SLOW = "(?:a+)+trouble with (?:(?:b|bb)+)+c"
LINE = "a" * 2500 + " trouble with x\n"
KNOWN = "ImportError: libhccl.so: cannot open shared object file: No such file or directory\n"
ENTRY = """\
code: USR001
severity: error
kind: user-code
title: {en: Mine, zh: 我的}
cause: {en: Mine., zh: 我的。}
evidence: {any: [LEAF]}
fixes: [{goal: resolve, title: {en: x, zh: 改}, commands: [{run: "true"}]}]
references: [{title: me}]
"""


def scan(signal: Signal, *texts: str) -> list[Harvest]:
    scanner = Scanner(Plan(gathered([assign(signal)])), engine="plain")
    made = []
    for number, text in enumerate(texts):
        data = text.encode()
        made.append(scanner.scan(Source(f"{number}.log", lambda data=data: io.BytesIO(data), len(data), hints("x"))))  # type: ignore[misc]
    return made


@pytest.mark.parametrize("leaf", [f"{{regex: '{SLOW}'}}", "{fields: {table: ps, where: {command: '~ ((?:b|bb)+)+c'}}}"])
def test_a_slow_pattern_of_a_user_is_named_and_the_rest_found(leaf: str, tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "usr001_mine.yaml").write_text(ENTRY.replace("LEAF", leaf))
    table = "  PID PPID CMD\n" + "".join(f"  {n} 1 {'b' * 3000}\n" for n in range(2, 7))
    (tmp_path / "a.log").write_text(LINE * 9 + KNOWN + table)
    done = run("scan", str(tmp_path / "a.log"), "--kb", str(tmp_path / "kb"), "-f", "json")
    told = json.loads(done.stdout)
    assert done.returncode == 1, done.stderr
    assert told["findings"][0]["id"] == "ENV001"
    assert [(s["path"], f"too long {STRIKES} times" in s["reason"]) for s in told["skipped"]] == [("entry USR001/0", True)]


def test_it_is_named_where_it_was_cut_and_tried_no_more() -> None:
    signal = Signal("USR001/0", "regex", SLOW, ("trouble with ",), 0, (), "", (), False)
    first, second = scan(signal, LINE * 9, LINE * 9)
    assert [s.path for s in first.skipped] == ["entry USR001/0"]
    assert "0.log" in first.skipped[0].reason
    assert not second.skipped


def test_a_built_in_pattern_in_a_huge_line_is_cut_too() -> None:
    """Beyond the length for which the built-in patterns are measured, they run under the limit as well."""
    signal = Signal("TST001/0", "regex", SLOW, ("trouble with ",), 0, (), "", (), True)
    (found,) = scan(signal, "a" * PLAIN + LINE)
    assert [s.path for s in found.skipped] == ["entry TST001/0"]


PATTERNS = worst.of_code()


def test_a_pattern_is_measured_as_it_is_used() -> None:
    """One that is only asked for at a place is matched, all others are searched for."""
    assert worst.only_matched("parsers.hccn._HEADING[0]")
    assert worst.only_matched("parsers.prefix_forms.PROGRESS[0]")
    assert not worst.only_matched("doctor.answer.redact_places.HOSTS[3]")
    assert not worst.only_matched("doctor.answer.redact_tokens.FORMS[0]")
    assert not worst.only_matched("VLM021/0")


def test_patterns_of_the_knowledge_are_quick_on_their_worst_lines(knowledge: Knowledge) -> None:
    """A sample that changes with the knowledge; `python -m benchmarks.hostile` measures all of them."""
    signals = [s for s in knowledge.signals() if s.form in ("regex", "code", "exit")]
    chosen = random.Random(knowledge.digest).sample(signals, 25)
    assert [s.id for s in chosen if worst.measure(re.compile(s.pattern), s.id, PLAIN).seconds >= worst.LIMIT_S] == []


@pytest.mark.parametrize("name", random.Random(3).sample(sorted(PATTERNS), 30))
def test_patterns_of_the_program_are_quick_on_their_worst_lines(name: str) -> None:
    assert worst.measure(PATTERNS[name], name, 2048).seconds < worst.LIMIT_S
