"""How logs tell the pace of a run: steps, their parts, rates, pauses, events, settings. Read from `pace.yaml`, with what proves each."""

from __future__ import annotations

import re
from pathlib import Path

from kb import anchors, yamldoc
from kb.pace_forms import MEASURES, RATES, UNITS, PaceForm, measure_of
from kb.problems import Problem
from kb.reader import Reader
from kb.yamldoc import read_list
from parsers.named import NamedTuple

ABOUT = ("step", "parts", "members", "rate", "pause", "event", "setting", "result")
PAUSES = ("checkpoint", "evaluation", "gc")
EVENTS = ("recompile", "link", "throttle", "retry", "restart")
PLAIN = ("step", "of", "rank", "name", "value", "parts", "peak", "low")
KEYS = ("id", "about", "kind", "near", "regex", "part", "unit", "names", "references", "samples", "misses")
MIN_NEAR = 4


class PaceSample(NamedTuple):
    text: str
    expect: tuple[tuple[str, str], ...]


class PaceFact(NamedTuple):
    """A form with what proves it."""

    form: PaceForm
    samples: tuple[PaceSample, ...]
    misses: tuple[str, ...]
    references: int


def read_pace(path: Path, shown: str, trusted: bool = True) -> tuple[list[PaceFact], list[Problem]]:
    """The wordings of a layer; none when it has no such file."""
    doc, problems = read_list(path, shown, "wordings of the pace")
    if doc is None:
        return [], problems
    found = [_fact(doc, (number,), problems, trusted) for number in range(len(doc.value))]
    names = [fact.form.id for fact in found]
    for number, name in enumerate(names):
        if name in names[:number]:
            problems.append(doc.problem((number, "id"), f"the wording '{name}' is there twice"))
    return ([] if problems else found), problems


def _fact(doc: yamldoc.Document, at: yamldoc.Path, problems: list[Problem], trusted: bool) -> PaceFact:
    top = Reader(doc, at, problems, KEYS, "a wording of the pace")
    about, pattern, near = top.word("about", ABOUT), top.string("regex"), top.string("near")
    kind = top.string("kind", "")
    allowed = {"pause": PAUSES, "event": EVENTS}.get(about)
    if allowed and kind not in allowed:
        top.fault(("kind",) if "kind" in top.map else (), f"a {about} needs its kind: {', '.join(allowed)}")
    names = top.pairs("names")
    for name, measure in names:
        if measure not in MEASURES:
            top.fault(("names", name), f"'{measure}' is no measure", f"measures: {', '.join(MEASURES)}")
    part = top.string("part", "")
    for key, one in (("regex", pattern), ("part", part)):
        _usable(top, key, one, trusted)
    if len(near) < MIN_NEAR:
        top.fault(("near",), f"'near' needs {MIN_NEAR} characters or more that stand in each such line")
    unit = top.word("unit", tuple(UNITS), "ms")
    fact = PaceForm(top.string("id"), about, kind, near, pattern, part, unit, names)

    def sample(under: yamldoc.Path) -> PaceSample:
        one = top.sub(under, ("text", "expect"), "a sample")
        return PaceSample(one.string("text"), one.pairs("expect"))

    samples, misses = top.items("samples", sample), top.strings("misses")
    references = top.items("references", lambda under: top.sub(under, ("kind", "title", "url"), "a reference").string("title"))
    if not samples or not misses or not references:
        top.fault((), "a wording needs references, samples, and lines that it must miss")
    return PaceFact(fact, samples, misses, len(references))


def _usable(top: Reader, key: str, pattern: str, trusted: bool) -> None:
    """Is the pattern one that compiles, costs little, and whose groups mean something?"""
    try:
        anchors.usable(pattern, trusted)
        groups = re.compile(pattern.encode()).groupindex
    except (anchors.PatternError, re.error) as error:
        top.fault((key,), f"bad regex: {error}")
        return
    if key == "part":
        return
    for group in groups:
        if group not in PLAIN and measure_of(group) is None:
            top.fault((key,), f"the group '{group}' has no meaning", f"groups: {', '.join(PLAIN)}, MEASURE_UNIT, {', '.join(RATES)}")
