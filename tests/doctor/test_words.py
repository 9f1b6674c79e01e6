"""The program's own texts: one table, both languages, nothing missing and nothing left over."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from doctor.base import words
from doctor.base.words import both, named, word

DOCTOR = Path(words.__file__).resolve().parent.parent.parent
LOOKUPS = ("word", "both", "_say")
NAMES = {
    name if area in words.PLAIN else f"{area}.{name}": pair for area in words.AREAS for name, pair in words.table(area).items()
}


def _trees() -> Iterator[ast.AST]:
    for path in sorted(DOCTOR.rglob("*.py")):
        if path.parent.name != "words":
            yield ast.parse(path.read_text(encoding="utf-8"))


def _prefix(node: ast.JoinedStr) -> str:
    first = node.values[0] if node.values else None
    return str(first.value) if isinstance(first, ast.Constant) else ""


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _asked() -> tuple[set[str], set[str]]:
    """Names written in calls, and beginnings of names that are put together there."""
    names, beginnings = set(), set()
    for tree in _trees():
        for call in (n for n in ast.walk(tree) if isinstance(n, ast.Call)):
            if _called(call) == "named" and isinstance(call.args[0], ast.Constant):
                beginnings.add(f"{call.args[0].value}:")
            if _called(call) in LOOKUPS and call.args:
                for node in ast.walk(call.args[0]):
                    if isinstance(node, ast.JoinedStr):
                        beginnings.add(_prefix(node))
                for node in (call.args[0], *([call.args[0].body, call.args[0].orelse] if isinstance(call.args[0], ast.IfExp) else [])):
                    if isinstance(node, ast.Constant) and isinstance(node.value, str):
                        names.add(node.value)
    return names, beginnings - {""}


def test_every_name_that_is_asked_for_exists() -> None:
    names, beginnings = _asked()
    assert len(names) > 100
    assert sorted(names - NAMES.keys()) == []
    assert [b for b in sorted(beginnings) if not any(name.startswith(b) for name in NAMES)] == []


def test_no_text_is_left_over() -> None:
    """A name is used when it stands in a string of the program, or begins like one that is put together."""
    _, beginnings = _asked()
    written = {n.value for tree in _trees() for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    unused = [n for n in NAMES if n not in written and not any(n.startswith(b) for b in beginnings)]
    assert not unused, "\n".join(unused)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_both_languages_say_the_same(name: str) -> None:
    """Neither is empty, and both have the same slots."""
    english, chinese = NAMES[name]
    assert english
    assert chinese
    slots = [sorted(filter(None, (f for _, f, _, _ in string.Formatter().parse(text)))) for text in (english, chinese)]
    assert slots[0] == slots[1]


def test_names_are_unique_across_the_areas_without_a_dot() -> None:
    tables = [words.table(area) for area in words.PLAIN]
    assert not set.intersection(*(set(t) for t in tables))


def test_looking_up() -> None:
    assert word("times", "zh", n=3) == "3 次"
    assert both("job.lost", by="a", on="b")["en"] == "a learns that the heartbeat of b is lost"
    assert named("domain", "memory", "zh") == "内存"
    assert named("domain", "of-a-user", "zh") == "of-a-user"
    with pytest.raises(KeyError):
        word("no such text", "en")

