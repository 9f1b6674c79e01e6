"""Where in its file the fault of an entry stands, and what helps: messages of the linter and the bench get what the loader's have."""

from __future__ import annotations

import re
from typing import Any

from kb.model import Entry
from kb.problems import Problem
from kb.yamldoc import Document, Path

_LEAF = re.compile(r"\b[A-Z]{3}\d{3}/(\d+)\b|\bleaf (\d+)\b")
_SAMPLE = re.compile(r"\bsamples? '([^']+)'|samples are called (\S+)")
_QUOTED = re.compile(r"'((?:[^'\\]|\\.){4,})'|\"((?:[^\"\\]|\\.){4,})\"")
_NAMED = re.compile(r"\{(\w+)\}|\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b|\b([A-Z]{3}\d{3})\b")
# What a message begins with, and the key that it is about.
_KEYS = (
    ("title", "title"), ("the title", "title"), ("cause", "cause"), ("the slug", "code"), ("the file should", "code"), ("a claim", "references"),
    ("no match sample", "samples"), ("fixes", "fixes"), ("an entry of this severity", "severity"), ("branch", "evidence"), ("'same", "evidence"),
    ("'within_s'", "evidence"), ("a step", "fixes"), ("a fix", "fixes"), ("a caution", "fixes"), ("a command", "fixes"), ("it points", "code"),
)  # fmt: skip
_HELP = (
    ("should match and does not", "compare the sample's line with the leaf: letters, blanks, what a prefix hides"),
    ("must not match and does", "make the leaf narrower, or add a `not`"),
    ("the first root is", "name the other entry in `refines` or `symptom_of`, or make the sample end where the fault does"),
    ("is spoken of by", "kb/README.md, 'alone'"),
    ("no no_match sample would match", "add a counter-example that only this part keeps out, or take the part away"),
    ("whatever it sees", "take the leaf away, or add a sample that only this leaf sees"),
    ("is hit by no sample", "add a sample with a line that this leaf is for"),
    ("whatever its words are", "anchor the leaf on words that only this fault prints"),
    ("is to be written", "write it; the marked texts are what a log cannot tell"),
    ("is not bound on every path", "a name needs a capture in every alternative, or a default"),
    ("different placeholders", "use the same {names} in both languages"),
    ("not in kb/envvars.yaml", "add the variable there first, with its source"),
)


def problem(entry: Entry, doc: Document, message: str) -> Problem:
    """The message as a fault of the file: line, excerpt, what to do."""
    what = message.removeprefix(f"{entry.code}: ")
    line = _line(doc, what)
    help_ = next((told for words, told in _HELP if words in what), "kb/README.md tells what each key means")
    return Problem(doc.path, line, what, help_, doc.excerpt(line))


def _line(doc: Document, what: str) -> int:
    value: Any = doc.value
    if found := _SAMPLE.search(what):
        name = found[1] or found[2]
        for key in ("match", "no_match"):
            samples = value.get("samples", {}).get(key) or []
            for number, sample in enumerate(samples):
                if isinstance(sample, dict) and sample.get("name") == name:
                    return doc.line(("samples", key, number))
    if found := _LEAF.search(what):
        places = leaves(value)
        number = int(found[1] or found[2])
        if number < len(places):
            return doc.line(places[number])
    for words in sorted((a or b for a, b in _QUOTED.findall(what)), key=len, reverse=True):
        if line := _holding(doc, words.replace("\\n", "\n").split("\n")[0].replace("\\'", "'").replace("\\\\", "\\")[:40]):
            return line
    for name, variable, code in _NAMED.findall(what):
        if line := _holding(doc, f"{{{name}" if name else variable or code):
            return line
    return next((doc.line((key,)) for begin, key in _KEYS if what.startswith(begin)), 1)


def _holding(doc: Document, words: str) -> int:
    rows = doc.text.split("\n")
    return next((number for number, row in enumerate(rows, 1) if words.strip() and words in row), 0)


def leaves(value: Any) -> list[Path]:
    """Where the leaves of an entry stand, in the order of their numbers."""
    found: list[Path] = []

    def members(node: Any, at: Path, key: str) -> None:
        for number, member in enumerate(node.get(key) or [] if isinstance(node, dict) else []):
            place = (*at, key, number)
            if isinstance(member, dict) and any(k in member for k in ("all", "any", "not")):
                for group in ("all", "any", "not"):
                    members(member, place, group)
            else:
                found.append(place)

    evidence = value.get("evidence") if isinstance(value, dict) else None
    for key in ("all", "any", "not", "also"):
        members(evidence, ("evidence",), key)
    return found
