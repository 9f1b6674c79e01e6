"""The shapes of rows: what codes, variables and cards must look like, so that nothing that shows them has to ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kb.invisible import WEB_PAGE, steering

Shape = Callable[[Any], bool]


def _word(value: Any) -> bool:
    return isinstance(value, str)


def _text(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("en"), str) and isinstance(value.get("zh"), str)


def _list_of(shape: Shape) -> Shape:
    return lambda value: isinstance(value, list) and all(map(shape, value))


def _either(*shapes: Shape) -> Shape:
    return lambda value: any(shape(value) for shape in shapes)


def _pairs(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(v, str) for v in value.values())


_ANY = _either(_word, _text, _list_of(_word))
CODE: Mapping[str, Shape] = {
    "code": _word, "name": _word, "family": _word, "meaning": _text, "causes": _list_of(_text), "action": _text, "ref": _word,
    "confidence": _word, "severity": _word, "component": _either(_word, _text), "related": _list_of(_word), "followed_by": _list_of(_pairs), "forms": _either(_word, _list_of(_word)),
}  # fmt: skip
VARIABLE: Mapping[str, Shape] = {
    "name": _word, "purpose": _ANY, "component": _ANY, "type": _ANY, "values": _ANY, "range": _ANY, "default": _ANY, "caution": _ANY, "undo": _ANY,
    "since": _ANY, "deprecated": _ANY, "ref": _ANY, "confidence": _ANY,
}  # fmt: skip
CARD: Mapping[str, Shape] = {
    "code": _word, "title": _text, "text": _text, "code_block": _pairs, "keywords": _list_of(_word), "references": _list_of(_pairs),
}  # fmt: skip
NEEDED: Mapping[str, tuple[str, ...]] = {"code": ("code", "meaning"), "variable": ("name",), "card": ("code", "title", "text")}
SHAPES: Mapping[str, Mapping[str, Shape]] = {"code": CODE, "variable": VARIABLE, "card": CARD}


def fault_of_head(head: Mapping[str, Any]) -> str:
    """The same of what all rows of a table of codes share."""
    if head["family_title"] is not None and not _text(head["family_title"]):
        return "the 'title' of a code table is written in both languages: {en: ..., zh: ...}"
    odd = steering(list(head.values()))
    return f"a code table has {odd}, which steers a terminal or is invisible" if odd else ""


def fault(kind: str, row: Any) -> str:
    """What is wrong with a row; empty when nothing is."""
    if not isinstance(row, dict):
        return f"a {kind} must be a mapping of keys to values"
    for name in NEEDED[kind]:
        if not row.get(name):
            return f"a {kind} needs '{name}'"
    for name, shape in SHAPES[kind].items():
        if name in row and row[name] != "" and not shape(row[name]):
            return f"'{name}' has not the form that a {kind} has"
    if odd := steering(row):
        return f"a {kind} has {odd}, which steers a terminal or is invisible"
    for one in row.get("references") or ():
        if kind == "card" and one.get("url") and not WEB_PAGE.fullmatch(one["url"]):
            return "a reference leads to a web page: https://... without blanks, quotes or angle brackets"
    return ""
