"""Which differences indicate the fault: few, the most telling first; and which node they speak against."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from math import log10
from typing import NamedTuple

from doctor.baseline.compare import GONE, LATER, LESS, MORE, NEW, Compared, Difference
from doctor.baseline.run import bits
from doctor.baseline.severity import NONE, STRONG, WEAK
from parsers.parsed import seconds

THRESHOLD = 1.97  # of what indicates
BEFORE = 45.0  # seconds between a cause and what many say of it
TOGETHER = 20.0  # seconds in which lines belong to each other
_BY_KIND = {NEW: 1.0, MORE: 0.9, LATER: 0.6, LESS: 0.4, GONE: 0.3}
_BY_SEVERITY = {STRONG: 1.3, WEAK: 0.35, NONE: 0.0}


class Ranked(NamedTuple):
    """A difference, and how much it tells."""

    difference: Difference
    score: float
    early: float  # 0 for the first of all that indicate, 1 for the last


class Suspect(NamedTuple):
    """A node, or a process of the only one, with what speaks against it."""

    name: str
    score: float
    lines: int  # differences that only it has


class Verdict(NamedTuple):
    """What indicates the fault, in reading order; the other differences; the suspects, the likeliest first."""

    indicating: tuple[Ranked, ...]
    others: tuple[Ranked, ...]
    suspects: tuple[Suspect, ...]


def judge(compared: Compared) -> Verdict:
    """Ranks everything."""
    company, wave = _company(compared), _wave(compared)
    rows = [Ranked(one, _score(one, company.get(one.shape, 0.0), wave), 1.0) for one in compared.differences]
    telling = [row for row in rows if row.score >= THRESHOLD]
    early = _early(telling)
    ranked = tuple(sorted((row._replace(early=early(row)) for row in telling), key=lambda row: -(row.score + 1.0 - row.early)))
    others = tuple(sorted((row for row in rows if row.score < THRESHOLD), key=lambda row: (-row.score, row.difference.shape)))
    return Verdict(ranked, others, _suspects(ranked, compared))


def _score(one: Difference, company: float, wave: float | None) -> float:
    score = _BY_KIND[one.kind] + _BY_SEVERITY[one.severity]
    if one.near:
        score -= 0.7
    if one.seen is None or one.kind in (LESS, LATER):
        return score
    if one.only:
        score += 0.3
        if wave is not None and one.kind == NEW and one.seen.since is not None and 0.0 <= wave - one.seen.since <= BEFORE:
            score += 0.75
    if _is_wide(one):
        score += 0.5 if one.severity else -0.3  # what nearly everybody says without a word of trouble is how this run was started
    return score + min(1.0, 0.7 * log10(max(1.0, one.seen.times / one.voices.bit_count()))) + min(0.9, company)


def _is_wide(one: Difference) -> bool:
    """Do many of those say it that might?"""
    return one.peers.bit_count() > 2 and one.voices.bit_count() > one.peers.bit_count() / 3


def _wave(compared: Compared) -> float | None:
    """When many began to complain of the same: who said something new alone just before had a part in it."""
    return min((one.seen.since for one in compared.differences if one.kind == NEW and one.severity == STRONG and _is_wide(one) and one.seen and one.seen.since), default=None)


def _company(compared: Compared) -> dict[str, float]:
    """What else came up as new at about the same time in the same place: a fault seldom says one line, chance does."""
    places: dict[int, list[tuple[float, Difference]]] = defaultdict(list)
    for one in compared.differences:
        if one.kind == NEW and not one.near and one.seen is not None and one.seen.time is not None and one.voices.bit_count() == 1:
            places[one.voices].append((seconds(one.seen.time), one))
    return {
        one.shape: sum(0.45 if other.severity else 0.3 for moment, other in rows if other is not one and abs(at - moment) <= TOGETHER)
        for rows in places.values()
        for at, one in rows
    }


def _early(rows: list[Ranked]) -> Callable[[Ranked], float]:
    """The place of a difference in the order in which they came up."""
    order = sorted(rows, key=_came_up)
    places = {id(row.difference): n / max(1, len(order) - 1) for n, row in enumerate(order)}
    return lambda row: places[id(row.difference)]


def _came_up(row: Ranked) -> tuple[bool, float, float]:
    seen = row.difference.seen
    if seen is None:
        return (True, 0.0, 0.0)
    return (seen.since is None, seen.since or 0.0, seen.at)


def _suspects(rows: tuple[Ranked, ...], compared: Compared) -> tuple[Suspect, ...]:
    """Who says alone what indicates, early and grave; who has gone quiet; whom all others name by their silence about it."""
    run = compared.run
    if len(run.voices) < 2:
        return ()
    by_node = len(run.nodes) > 1
    against: dict[str, float] = defaultdict(float)
    alone: Counter[str] = Counter()
    for row in rows:
        one = row.difference
        if one.seen is None or one.kind in (LESS, LATER):
            continue
        whose, might = (run.homes(one.voices), run.homes(one.peers)) if by_node else (one.voices, one.peers)
        named = {_name(compared, n, by_node) for n in bits(whose)}
        missing = {_name(compared, n, by_node) for n in bits(might & ~whose)}
        weight = (row.score - 1.0) ** 2 * (2.0 - row.early)
        for name in named:
            against[name] += weight / len(named) ** 2
        if len(named) == 1:
            alone[next(iter(named))] += 1
        if len(missing) == 1 and len(named) > 1:
            against[next(iter(missing))] += weight / 2
    for quiet in compared.quiet:
        voice = run.voices[quiet.voice]
        against[voice.node if by_node else voice.name] += 2.0 / len(compared.quiet)
    return tuple(Suspect(name, round(score, 3), alone[name]) for name, score in _first(against) if name)


def _first(against: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(against.items(), key=lambda row: (-row[1], row[0]))


def _name(compared: Compared, number: int, by_node: bool) -> str:
    return compared.run.nodes[number] if by_node else compared.run.voices[number].name
