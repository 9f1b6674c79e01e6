"""Which differences indicate the fault: few, the most telling first; and which node they speak against."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from math import lgamma, log, log10

from doctor.baseline.compare import GONE, LATER, LESS, MORE, NEW, Compared, Difference
from doctor.baseline.kin import Kin, alone, kin
from doctor.baseline.run import bits
from doctor.baseline.severity import NONE, STRONG, WEAK
from doctor.baseline.usual import Usual
from parsers.named import NamedTuple
from parsers.parsed import seconds

THRESHOLD = 1.97  # of what indicates
BEFORE = 45.0  # seconds between a cause and what many say of it
BEHIND = 90.0  # seconds after a fault began in which what others newly say is of it
TOGETHER = 20.0  # seconds in which lines belong to each other
_HINT = 0.1  # what a difference that does not indicate weighs against somebody
_CERTAIN = 0.3  # above the threshold: of the line with which the fault begins
_BY_KIND = {NEW: 1.0, MORE: 0.9, LATER: 0.6, LESS: 0.4, GONE: 0.3}
# A grave word of a line that its program calls a mere note tells little: by gravity, then by level; of lines without one, the first.
_BY_SEVERITY = {STRONG: (1.2, 0.45, 0.3), WEAK: (0.45, 0.45, 0.15), NONE: (0.0, 0.0, 0.0)}
_LEVELS = {"warning": 1, "info": 2, "debug": 2}


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


class _Setting(NamedTuple):
    """What a difference is weighed by beside itself."""

    compared: Compared
    kin: Mapping[str, Kin]
    company: Mapping[str, float]
    wave: tuple[float, int] | None
    chance: float

    def of(self, one: Difference) -> Kin:
        return self.kin.get(one.shape) or alone(one) if one.kind == NEW else alone(one)


def judge(compared: Compared) -> Verdict:
    """Ranks everything."""
    related = kin(compared.differences)
    setting = _Setting(compared, related, _company(compared, related), _wave(compared, related), _chance(compared, related))
    weighed = [(one, _score(one, setting)) for one in compared.differences]
    began = _began(weighed, setting)
    rows = [Ranked(one, score + _behind(one, setting, began), 1.0) for one, score in weighed]
    telling = [row for row in rows if row.score >= THRESHOLD]
    early = _early(telling)
    ranked = tuple(sorted((row._replace(early=early(row)) for row in telling), key=lambda row: -(row.score + 1.0 - row.early)))
    others = tuple(sorted((row for row in rows if row.score < THRESHOLD), key=lambda row: (-row.score, row.difference.shape)))
    return Verdict(ranked, others, _suspects(ranked, others, compared))


def _score(one: Difference, setting: _Setting) -> float:
    score = _BY_KIND[one.kind] + _BY_SEVERITY[one.severity][_LEVELS.get((one.seen and one.seen.level) or "", 0)]
    if one.near:
        score -= 0.7
    if one.seen is None or one.kind in (LESS, LATER):
        return score
    told = setting.of(one)
    if _only(told, one, setting.compared):
        score += 0.2
        if setting.wave is not None and one.kind == NEW and told.since is not None and 0.0 <= setting.wave[0] - told.since <= BEFORE:
            score += 0.1 if told.voices & setting.wave[1] else 0.9  # who does not complain with the others, but spoke just before them
    if one.kind != NEW:
        score += (0.5 if one.severity else -0.3) if _is_wide(told) else 0.0
    else:
        if one.severity:
            score += min(0.75, 0.25 * _unlike(told, setting.compared))
        if not _is_wide(told):
            score += 0.15 * (0.5 - setting.chance)
    return score + min(0.85, 0.8 * log10(max(1.0, told.times / told.voices.bit_count()))) + min(0.8, setting.company.get(one.shape, 0.0))


def _only(told: Kin, one: Difference, compared: Compared) -> bool:
    """One voice, or one node alone, says it and its kin, of several."""
    if one.kind != NEW:
        return one.only
    if told.voices.bit_count() == 1:
        return told.peers.bit_count() > 1
    return compared.run.homes(told.voices).bit_count() == 1 < compared.run.homes(told.peers).bit_count()


def _is_wide(told: Kin) -> bool:
    """Do many of those say it that might?"""
    return told.peers.bit_count() > 2 and told.voices.bit_count() > told.peers.bit_count() / 3


def _unlike(told: Kin, compared: Compared) -> float:
    """How unlikely it is that so many voices say it here and none in the healthy runs, were they alike; the power of ten."""
    here, might = told.voices.bit_count(), told.peers.bit_count()
    there = compared.usual.runs * compared.usual.voices * might / max(1, len(compared.run.voices))
    return max(0.0, _ways(might + there, here) - _ways(might, here))


def _ways(of: float, number: int) -> float:
    """In how many ways so many can be chosen of some; the power of ten."""
    return (lgamma(of + 1) - lgamma(number + 1) - lgamma(of - number + 1)) / log(10)


def _chance(compared: Compared, related: Mapping[str, Kin]) -> float:
    """Which part of what is new healthy runs would say as well, by what only one of them says, or what one says and this run does not."""
    usual: Usual = compared.usual
    if usual.runs > 1:
        expected = sum(norm.runs == 1 for norm in usual.norms.values()) / usual.runs
    else:
        expected = float(sum(norm.voices < 0.99 and number not in compared.run.sightings for number, norm in usual.norms.items()))
    return min(1.0, expected / max(1, len(set(map(id, related.values())))))


def _wave(compared: Compared, related: Mapping[str, Kin]) -> tuple[float, int] | None:
    """When many began to complain of the same, and who: who said something new alone just before had a part in it."""
    rows = [told for one in compared.differences if one.kind == NEW and one.severity == STRONG and _is_wide(told := related[one.shape])]
    return min(((told.since, told.voices) for told in rows if told.since), default=None)


def _began(weighed: list[tuple[Difference, float]], setting: _Setting) -> float | None:
    """When somebody alone first said something that surely indicates."""
    rows = [(one, setting.of(one)) for one, score in weighed if one.kind == NEW and score >= THRESHOLD + _CERTAIN]
    return min((told.since for one, told in rows if told.since is not None and _only(told, one, setting.compared)), default=None)


def _behind(one: Difference, setting: _Setting, began: float | None) -> float:
    """More for what others newly say once the fault began, the more so the more of them; without a word of trouble many must say it."""
    told = setting.of(one)
    if one.kind != NEW or began is None or told.since is None or not began <= told.since <= began + BEHIND:
        return 0.0
    if one.severity:
        return 0.0 if _only(told, one, setting.compared) else 0.2
    return 0.4 + min(0.75, 0.15 * _unlike(told, setting.compared)) if _is_wide(told) else 0.0


def _company(compared: Compared, related: Mapping[str, Kin]) -> dict[str, float]:
    """What else came up as new at about the same time in the same place: a fault seldom says one line, chance does."""
    places: dict[int, list[tuple[float, Difference]]] = defaultdict(list)
    for one in compared.differences:
        if one.kind == NEW and not one.near and one.seen is not None and one.seen.time is not None and (voices := related[one.shape].voices).bit_count() == 1:
            places[voices].append((seconds(one.seen.time), one))
    return {
        one.shape: sum(0.5 if other.severity else 0.15 for moment, other in rows if other is not one and abs(at - moment) <= TOGETHER)
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


def _suspects(rows: tuple[Ranked, ...], others: tuple[Ranked, ...], compared: Compared) -> tuple[Suspect, ...]:
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
        weight = (row.score - 1.0) ** 2 * (1.05 - row.early)  # who complains last complains of the others
        for name in named:
            against[name] += weight / len(named) ** 2
        if len(named) == 1:
            alone[next(iter(named))] += 1
        if len(missing) == 1 and len(named) > 1:
            against[next(iter(missing))] += weight / 2
    for quiet in compared.quiet:
        voice = run.voices[quiet.voice]
        against[voice.node if by_node else voice.name] += 2.0 / len(compared.quiet)
    for row in others if against else ():  # where all say the same, a word that only one says besides
        one = row.difference
        if one.kind == NEW and one.only:
            against[_name(compared, bits(run.homes(one.voices) if by_node else one.voices)[0], by_node)] += _HINT * max(0.0, row.score - 1.0)
    ordered = sorted(against.items(), key=lambda row: (-row[1], row[0]))
    return tuple(Suspect(name, round(score, 3), alone[name]) for name, score in ordered if name)


def _name(compared: Compared, number: int, by_node: bool) -> str:
    return compared.run.nodes[number] if by_node else compared.run.voices[number].name
