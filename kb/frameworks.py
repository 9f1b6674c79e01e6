"""The software that logs are of: read from `frameworks.yaml`, compiled into the pack."""

from __future__ import annotations

from pathlib import Path

from kb.model import PHRASES, Framework
from kb.problems import Problem
from kb.reader import Reader
from kb.yamldoc import read_list

KEYS = ("framework", "title", "stack", "does", "program", "beneath", *PHRASES, "references")


def read_frameworks(path: Path, shown: str) -> tuple[list[Framework], list[Problem]]:
    """What a layer knows of frameworks; nothing when it has no such file."""
    doc, problems = read_list(path, shown, "frameworks")
    if doc is None:
        return [], problems
    found = [_framework(Reader(doc, (number,), problems, KEYS, "a framework")) for number in range(len(doc.value))]
    return ([] if problems else found), problems


def _framework(one: Reader) -> Framework:
    phrases = ((name, text) for name in PHRASES if (text := one.text(name, required=False)) is not None)
    if not one.items("references", lambda at: one.sub(at, ("kind", "title", "url"), "a reference").string("title")):
        one.fault((), "a framework needs references: what proves how it is told")
    return Framework(
        one.string("framework"), one.string("title"), one.string("stack", ""), one.string("does", ""), one.string("program", ""),
        one.word("beneath", ("true", "false"), "false") == "true", tuple(phrases),
    )  # fmt: skip
