"""Facts: what logs tell about a whole job. Read from `facts.yaml`, compiled into the pack next to the signals of entries."""

from __future__ import annotations

from pathlib import Path

from kb import anchors, yamldoc
from kb.model import FACT_PREFIX, Sample, Signal
from kb.problems import Problem
from kb.reader import Reader
from kb.yamldoc import read_list
from parsers.named import NamedTuple

ABOUT = ("identity", "wait", "clock", "setting", "load")
KEYS = ("id", "about", "forms", "references", "samples")


class Fact(NamedTuple):
    """One kind of message, in all its wordings."""

    id: str
    about: str
    signals: tuple[Signal, ...]
    samples: tuple[Sample, ...]
    references: int


def read_facts(path: Path, shown: str, trusted: bool = True) -> tuple[list[Fact], list[Problem]]:
    """The facts of a layer; none when the layer has no such file."""
    doc, problems = read_list(path, shown, "facts")
    if doc is None:
        return [], problems
    facts = [_fact(doc, (number,), problems, trusted) for number in range(len(doc.value))]
    names = [f.id for f in facts]
    for number, name in enumerate(names):
        if name in names[:number]:
            problems.append(doc.problem((number, "id"), f"the fact '{name}' is there twice"))
    return ([] if problems else facts), problems


def _fact(doc: yamldoc.Document, at: yamldoc.Path, problems: list[Problem], trusted: bool) -> Fact:
    top = Reader(doc, at, problems, KEYS, "a fact")
    name = top.string("id")
    signals: list[Signal] = []

    def form(under: yamldoc.Path) -> Signal | None:
        one = top.sub(under, ("regex", "lines"), "a form")
        pattern = one.string("regex")
        try:
            anchors.usable(pattern, trusted)
        except anchors.PatternError as error:
            one.fault(("regex",), f"bad regex: {error}")
            return None
        found = anchors.of_regex(pattern)
        if not found or min(map(len, found)) < anchors.MIN_ANCHOR:
            one.fault(
                ("regex",), f"the regex has no fixed text of {anchors.MIN_ANCHOR} characters outside optional parts"
            )
            return None
        signals.append(
            Signal(
                f"{FACT_PREFIX}{name}/{len(signals)}",
                "regex",
                pattern,
                found,
                int(one.number("lines", 0) or 0),
                (),
                "",
                (),
                trusted,
            )
        )
        return signals[-1]

    def sample(under: yamldoc.Path) -> Sample:
        one = top.sub(under, ("text", "path", "expect"), "a sample")
        return Sample(str(under[-1]), one.string("text"), one.string("path", ""), one.pairs("expect"))

    top.items("forms", form)
    samples = top.items("samples", sample)
    references = top.items(
        "references", lambda under: top.sub(under, ("kind", "title", "url"), "a reference").string("title")
    )
    if not signals or not samples or not references:
        top.fault((), "a fact needs forms, samples and references")
    return Fact(name, top.word("about", ABOUT), tuple(signals), samples, len(references))
