"""A run against what is usual: what is new, what comes more often, less often, later, and what has gone silent."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from statistics import median

from doctor.baseline.near import MAX_ASKED, Neighbours
from doctor.baseline.run import Run, Sighting
from doctor.baseline.settings import pairs
from doctor.baseline.severity import severity
from doctor.baseline.shapes import Shapes
from doctor.baseline.usual import Facts, Usual
from parsers.named import NamedTuple

NEW, MORE, LESS, LATER, GONE = "new", "more", "less", "later", "gone"
FACTOR = 4.0  # so many times as often, or as late, is another behaviour
FEWEST = 12  # times that a shape must come before it comes too often
LATE = 30.0  # seconds that are late
OFTEN_ENOUGH = 5  # times on which a ratio of lengths is measured


class Changed(NamedTuple):
    """A version, variable or setting that is not what it was in any healthy run; empty: it is not told."""

    name: str
    usual: tuple[str, ...]
    here: tuple[str, ...]


class Difference(NamedTuple):
    """One shape that is said otherwise than usual."""

    kind: str
    shape: str
    severity: int
    seen: Sighting | None  # in the run; None where it has gone silent
    usual: float  # how often it was to be expected; of LATER the seconds
    near: str = ""  # a usual shape in nearly the same words
    voices: int = 0  # of the run, as bits: who says it, or says it too often
    peers: int = 0  # and who might
    only: bool = False  # one voice or one node alone, of several


class Quiet(NamedTuple):
    """A voice that ended long before those that are comparable with it."""

    voice: int
    early: float  # seconds


class Compared(NamedTuple):
    """Everything that differs, in no order yet."""

    run: Run
    usual: Usual
    settings: tuple[Changed, ...]
    differences: tuple[Difference, ...]
    quiet: tuple[Quiet, ...]
    values: int  # new shapes that are usual ones but for a value
    scale: float  # how long the run is, in healthy ones


def compare(run: Run, usual: Usual, facts: Facts, shapes: Shapes) -> Compared:
    """The run against the healthy ones; `facts`: what its logs tell of the situation."""
    scale = _scale(run, usual)
    new, values, reworded = _new(run, usual, shapes)
    found = (
        *new,
        *_often(run, usual, shapes, scale),
        *_later(run, usual, shapes),
        *_gone(run, usual, shapes, reworded),
    )
    changed = (*_changed(facts, usual.facts), *_changed({n: (v,) for n, v in run.settings.items()}, usual.settings))
    return Compared(run, usual, changed, found, _quiet(run), values, scale)


def _scale(run: Run, usual: Usual) -> float:
    """The length of the run, by shapes that come again and again in both; a flood moves no median."""
    ratios = [
        seen.times / norm.times
        for number, seen in run.sightings.items()
        if (norm := usual.norms.get(number)) is not None and norm.times >= OFTEN_ENOUGH and seen.times >= OFTEN_ENOUGH
    ]
    return median(ratios) if ratios else run.lines / max(1.0, usual.lines)


def _only(run: Run, voices: int, peers: int) -> bool:
    """One voice of several, or several of one node alone."""
    if voices.bit_count() == 1:
        return peers.bit_count() > 1
    return run.homes(voices).bit_count() == 1 < run.homes(peers).bit_count()


def _new(run: Run, usual: Usual, shapes: Shapes) -> tuple[list[Difference], int, set[int]]:
    """What healthy runs never said; how much of it is only another value; usual shapes that are said in other words."""
    rows = [(number, seen, severity(shapes.texts[number], seen.level)) for number, seen in run.sightings.items() if number not in usual.norms]
    rows.sort(key=lambda row: (-row[2], row[1].voices.bit_count(), -row[1].times))
    neighbours = Neighbours(((number, shapes.texts[number]) for number in usual.norms), (shapes.texts[number] for number, _, _ in rows))
    found: list[Difference] = []
    values, reworded, families = 0, set(), set()
    for place, (number, seen, grave) in enumerate(rows):
        shape = shapes.texts[number]
        if (told := pairs(seen.text)) and all(name in usual.settings for name, _ in told):
            continue  # a setting with another value, which is told among the settings
        near = neighbours.of(shape) if place < MAX_ASKED else None
        if near is not None:
            reworded.add(near.number)
            if near.value:
                values += 1
                continue
        if not grave and (family := neighbours.family(shape)):
            values += family in families  # the first one stands for all
            if family in families:
                continue
            families.add(family)
        peers = run.peers(seen.voices)
        found.append(Difference(NEW, shape, grave, seen, 0.0, near.shape if near else "", seen.voices, peers, _only(run, seen.voices, peers)))
    return found, values, reworded


def _often(run: Run, usual: Usual, shapes: Shapes, scale: float) -> Iterator[Difference]:
    """Shapes that come far more often, or far less often, than the length of the run and the number of its voices let expect."""
    for number, seen in run.sightings.items():
        norm = usual.norms.get(number)
        if norm is None:
            continue
        shape, peers = shapes.texts[number], run.peers(seen.voices)
        grave = severity(shape, seen.level)
        more, less = norm.times * scale, norm.times * len(run.voices) / max(1.0, usual.voices)
        expected, least = max(more, less, norm.times), min(more, less, norm.times)
        by_voice = norm.by_voice * max(1.0, scale)
        if _exceeds(seen.most, by_voice) and _exceeds(seen.most, float(seen.second)) and peers.bit_count() > 1:
            yield Difference(MORE, shape, grave, seen, by_voice, "", 1 << seen.most_by, peers, True)
        elif _exceeds(seen.times, expected) and _exceeds(seen.most, by_voice):
            yield Difference(MORE, shape, grave, seen, expected, "", seen.voices, peers, _only(run, seen.voices, peers))
        elif _exceeds(least, float(seen.times)) and norm.runs == usual.runs:
            yield Difference(LESS, shape, grave, seen, least, "", seen.voices, peers)


def _exceeds(number: float, other: float) -> bool:
    """Is it a multiple, and more than chance?"""
    return number >= FEWEST and number > FACTOR * other and number - other > 4 * sqrt(other + 1)


def _later(run: Run, usual: Usual, shapes: Shapes) -> Iterator[Difference]:
    """Milestones that come late: of those that follow each other the first, which holds the others up."""
    marks = sorted(
        (seen.since, norm.since, number)
        for number, seen in run.sightings.items()
        if (norm := usual.norms.get(number)) is not None and seen.since is not None and norm.since is not None and norm.voices >= 0.99
    )
    held_up = 0.0
    for since, before, number in marks:
        late = since - before
        if since > FACTOR * before and late - held_up > LATE:
            seen = run.sightings[number]
            shape = shapes.texts[number]
            yield Difference(LATER, shape, severity(shape, seen.level), seen, before, "", seen.voices, run.peers(seen.voices))
        held_up = max(held_up, late)


def _gone(run: Run, usual: Usual, shapes: Shapes, reworded: set[int]) -> Iterator[Difference]:
    """What every voice that might say it said in all healthy runs, and nobody says now."""
    for number, norm in usual.norms.items():
        if norm.voices >= 0.99 and number not in run.sightings and number not in reworded:
            shape = shapes.texts[number]
            yield Difference(GONE, shape, severity(shape, None), None, norm.times)


def _quiet(run: Run) -> tuple[Quiet, ...]:
    """Voices that end while the others of their kind go on for long."""
    kinds: dict[str, list[int]] = {}
    for number, voice in enumerate(run.voices):
        if voice.end is not None and voice.begin is not None:
            kinds.setdefault(voice.kind, []).append(number)
    found = []
    for members in kinds.values():
        if len(members) < 3:
            continue
        ends = {n: (run.voices[n].end or 0.0) - (run.voices[n].begin or 0.0) for n in members}
        usually = median(ends.values())
        found += [Quiet(n, usually - lasted) for n, lasted in ends.items() if usually - lasted > max(60.0, 0.1 * usually)]
    return tuple(sorted(found, key=lambda q: -q.early)) if len(found) * 3 <= len(run.voices) else ()


def _changed(here: Facts, usual: Facts) -> Iterator[Changed]:
    """Settings that both tell, with other values; what only one of them tells is no difference."""
    for name in sorted(here.keys() & usual.keys()):
        if not set(here[name]) & set(usual[name]):
            yield Changed(name, tuple(usual[name]), tuple(here[name]))
