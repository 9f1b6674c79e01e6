"""What a log tells of the situation: read from `situation.yaml`, compiled into the pack beside the facts about jobs."""

from __future__ import annotations

from pathlib import Path

from kb import anchors, yamldoc
from kb.model import SITUATION, Signal
from kb.problems import Problem
from kb.reader import Reader
from kb.yamldoc import read_list
from parsers.named import NamedTuple

KEYS = ("fact", "forms", "references", "samples")
MAX_WIDTH = 200  # bytes that a match may be long if its form is tried only around the words that stand in it


class Told(NamedTuple):
    """One fact of the situation: the forms in which logs tell it, and samples that prove them."""

    fact: str
    signals: tuple[Signal, ...]
    samples: tuple[tuple[str, str], ...]  # text, value
    references: int


def read_situation(path: Path, shown: str, trusted: bool = True) -> tuple[list[Told], list[Problem]]:
    """What a layer knows of situations; nothing when it has no such file."""
    doc, problems = read_list(path, shown, "facts of the situation")
    if doc is None:
        return [], problems
    found = [_told(doc, (number,), number, problems, trusted) for number in range(len(doc.value))]
    return ([] if problems else found), problems


def _told(doc: yamldoc.Document, at: yamldoc.Path, number: int, problems: list[Problem], trusted: bool) -> Told:
    top = Reader(doc, at, problems, KEYS, "a fact of the situation")
    name = top.string("fact")

    def form(under: yamldoc.Path) -> Signal | None:
        one = top.sub(under, ("is", "near", "regex"), "a form")
        constant, pattern, near = one.string("is", ""), one.string("regex"), one.strings("near")
        try:
            anchors.usable(pattern, trusted)
        except anchors.PatternError as error:
            one.fault(("regex",), f"bad regex: {error}")
            return None
        if not near:
            one.fault(("near",), "a form needs words near which it is tried")
        if bool(constant) == ("(?P<v>" in pattern):
            one.fault(("regex",), "a value is the group 'v' of the form, or the word under 'is': one of the two")
        name_of = f"{SITUATION}{name}={constant}/{number}.{under[-1]}"
        return Signal(name_of, "situation", pattern, near, 0, (), "", (), trusted, _inside(pattern))

    def sample(under: yamldoc.Path) -> tuple[str, str]:
        one = top.sub(under, ("text", "value"), "a sample")
        return one.string("text"), one.string("value")

    signals = top.items("forms", form)
    samples = top.items("samples", sample)
    references = top.items("references", lambda under: top.sub(under, ("kind", "title", "url"), "a reference").string("title"))
    if not signals or not samples or not references:
        top.fault((), "a fact of the situation needs forms, samples and references")
    return Told(name, signals, samples, len(references))


def _inside(pattern: str) -> tuple[str, ...]:
    """Texts one of which stands in each match, when no match is long: where none of them stands, the form need not be tried."""
    return anchors.of_regex(pattern) if anchors.width(pattern) <= MAX_WIDTH else ()
