"""The program's own texts in both languages: one table, a file for each area, one way to look a text up.

A name with a dot (`draft.tried`) stands in the file of that area; one without stands in `report`, or in `tui`. A file is
read when the first of its texts is asked for.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

AREAS = ("report", "explain", "draft", "issue", "job", "ops", "precision", "watch", "run", "kb", "cli", "env", "missing", "modules", "brief", "agents", "script", "fleet", "bundle", "pace", "repro", "diff", "hang", "memory", "tui")
PLAIN = ("report", "tui")  # areas whose names carry no dot

Table = dict[str, tuple[str, str]]


@cache
def table(area: str) -> Table:
    """The texts of one area: name -> (English, Chinese)."""
    found: Table = import_module(f"{__name__}.{area}").WORDS
    return found


def word(text_name: str, language: str, /, **values: object) -> str:
    """A text by its name, filled."""
    pair = _pair(text_name)
    if pair is None:
        raise KeyError(text_name)
    text = pair[language == "zh"]
    return text.format(**values) if values else text


def both(text_name: str, /, **values: object) -> dict[str, str]:
    """A text in both languages, as reports carry it."""
    return {language: word(text_name, language, **values) for language in ("en", "zh")}


def named(group: str, name: str, language: str) -> str:
    """What a name of a set (`domain`, `role`, `risk`) is called; one that a user's own knowledge adds keeps its name."""
    pair = _pair(f"{group}:{name}")
    return pair[language == "zh"] if pair is not None else name


def _pair(name: str) -> tuple[str, str] | None:
    area, dot, rest = name.partition(".")
    if dot:
        return table(area).get(rest) if area in AREAS else None
    return next((pair for area in PLAIN if (pair := table(area).get(name)) is not None), None)
