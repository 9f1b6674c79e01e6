"""The program's own texts: one table, both languages, nothing missing and nothing left over."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from doctor.base import words
from doctor.base.words import both, named, word
from doctor.base.words.told import CHINESE, told

DOCTOR = Path(words.__file__).resolve().parent.parent.parent
LOOKUPS = ("word", "both", "_say")
NAMES = {
    name if area in words.PLAIN else f"{area}.{name}": pair for area in words.AREAS for name, pair in words.table(area).items()
}


def _written(node: ast.AST) -> str | None:
    """A text of the code, `{}` where something is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(v.value) if isinstance(v, ast.Constant) else "{}" for v in node.values)
    return None


def _sentences(tree: ast.AST) -> Iterator[str]:
    """What users are told in English where it happens: help of options, wrong calls, what was not read."""
    for call in (n for n in ast.walk(tree) if isinstance(n, ast.Call)):
        name, found = _called(call), []
        if name == "UsageError":
            found = call.args[:2]
        elif name in ("add_argument", "add_parser"):
            found = [k.value for k in call.keywords if k.arg == "help"]
        elif name in ("parser", "Skipped") and len(call.args) > 1:
            found = call.args[1:2]
        for node in found:
            for one in (node.body, node.orelse) if isinstance(node, ast.IfExp) else (node,):
                if text := _written(one):
                    yield text


@cache
def _trees() -> dict[Path, ast.AST]:
    """Every module but the words themselves, parsed once."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(DOCTOR.rglob("*.py")) if path.parent.name != "words"}


def _prefix(node: ast.JoinedStr) -> str:
    first = node.values[0] if node.values else None
    return str(first.value) if isinstance(first, ast.Constant) else ""


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


@cache
def _asked() -> tuple[set[str], set[str]]:
    """Names written in calls, and beginnings of names that are put together there."""
    names, beginnings = set(), set()
    for tree in _trees().values():
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
    written = {n.value for tree in _trees().values() for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    unused = [n for n in NAMES if n not in written and not any(n.startswith(b) for b in beginnings)]
    assert not unused, "\n".join(unused)


def _slots(text: str) -> list[str]:
    return sorted(filter(None, (field for _, field, _, _ in string.Formatter().parse(text))))


def test_both_languages_say_the_same() -> None:
    """Neither is empty, and both have the same slots."""
    assert [name for name, (english, chinese) in NAMES.items() if not (english and chinese and _slots(english) == _slots(chinese))] == []


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


def test_what_is_told_in_english_is_told_in_chinese() -> None:
    """Help, wrong calls and reasons: each has its line in doctor/base/words/told.py."""
    found = {
        text
        for path, tree in _trees().items()
        if path.name != "__init__.py" and path.parent.name != "record"
        for text in _sentences(tree)
    }
    assert len(found) > 150
    assert sorted(text for text in found if text not in CHINESE and any(c.isalpha() for c in text.replace("{}", ""))) == []


OF_THE_PARSER = ("argument ", "one of the arguments ", "positional arguments", "show this help ", "the following arguments ", "unrecognized arguments")


def test_no_sentence_is_left_over() -> None:
    """Each stands in the program as it stands in the table, or is the parser's of Python: one that was reworded in English alone is named."""
    written = set()
    beneath = [ast.parse(path.read_text(encoding="utf-8")) for room in ("kb", "parsers") for path in (DOCTOR.parent / room).rglob("*.py")]
    for node in (node for tree in (*_trees().values(), *beneath) for node in ast.walk(tree)):
        if isinstance(node, ast.JoinedStr):
            written.add("".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            written.add(re.sub(r"\{[^{}]*\}", "{}", node.value))
    left = [key for key in CHINESE if key not in written and key.removesuffix(": {}") not in written and not key.startswith(OF_THE_PARSER)]
    assert left == []


def test_chinese_sentences_have_the_blanks_of_the_english_ones() -> None:
    assert [key for key, chinese in CHINESE.items() if key.count("{}") != chinese.count("{}")] == []
    assert told("there is no command 'scna'", "zh") == "没有命令 'scna'"
    assert told("there is no command 'scna'", "en") == "there is no command 'scna'"
    assert told("nobody wrote this", "zh") == "nobody wrote this"
