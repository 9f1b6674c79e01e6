"""Statistics that a few wild values do not move: medians, spread, where a series changes its level. No package is needed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import sqrt

from parsers.named import NamedTuple

NORMAL = 1.4826  # a median deviation as a standard deviation
WILD = 4.0  # deviations from its neighbours beyond which a value counts as a single one
SURE = 6.5  # deviations by which two levels must differ
LEAST, LEAST_OF_MANY = 5, 8  # points of a level, in short series and in long ones
MANY = 60
EXACT = 0.002  # no log is more exact than this share of what it tells


def known(values: Sequence[float]) -> Sequence[float]:
    total = sum(values)
    return values if total == total else [v for v in values if v == v]


def usual(values: Sequence[float], begin: int, end: int, most: int = 1024) -> float:
    """The median of a stretch; of a long one every so many values are enough."""
    return median(values[begin : end : max(1, (end - begin) // most)])


def median(values: Sequence[float]) -> float:
    """Of what is known; NaN of nothing."""
    ordered = sorted(known(values))
    half = len(ordered) // 2
    if not ordered:
        return float("nan")
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def quick_noise(values: Sequence[float]) -> float:
    """How much a series moves from value to value: neither single wild values nor changes of its level count."""
    return max(NORMAL * median([abs(b - a) for a, b in pairwise(values)]) / sqrt(2), EXACT * abs(median(values)))


def noise(values: Sequence[float]) -> float:
    """How much a series without wild values moves, from value to value and slowly: changes of its level do not count."""
    size = max(4, round(len(values) ** 0.4))
    means = [sum(values[a : a + size]) / size for a in range(0, len(values) - size + 1, size)]
    slow = NORMAL * median([abs(b - a) for a, b in pairwise(means)]) / sqrt(2) * sqrt(size) if len(means) > 8 else 0.0
    return max(quick_noise(values), slow)


def least(size: int) -> int:
    """Points that a level has at least: in a long series a few wild values may well stand together."""
    return LEAST_OF_MANY if size >= MANY else LEAST


def calm(values: Sequence[float]) -> list[float]:
    """The series with its single wild values replaced by what stands around them."""
    about = least(len(values)) - 1 if len(values) >= MANY else 3
    limit = WILD * quick_noise(values)
    made = []
    for at, value in enumerate(values):
        middle = median(values[max(0, at - about) : at + about + 1])
        made.append(value if abs(value - middle) <= limit else middle)
    return made


class Level(NamedTuple):
    """A stretch of a series: where it begins and ends, and what is usual in it."""

    begin: int
    end: int
    value: float


def levels(values: Sequence[float], least_change: float) -> tuple[Level, ...]:
    """The series cut where its level changes by more than the noise and by more than a share of itself."""
    if len(values) < 2 * LEAST:
        return (Level(0, len(values), median(values)),) if values else ()
    smooth = calm(values)
    sums = [0.0, *accumulate(smooth)]
    sigma = noise(smooth)
    few = least(len(values))
    cuts = _merge(_refined(_cuts(sums, sigma, few), sums, few), smooth, sigma, least_change)
    edges = [0, *cuts, len(smooth)]
    return tuple(Level(a, b, median(smooth[a:b])) for a, b in pairwise(edges))


def _cuts(sums: list[float], sigma: float, few: int) -> list[int]:
    found: list[int] = []
    todo = [(0, len(sums) - 1)]
    while todo:
        begin, end = todo.pop()
        if end - begin < 2 * few:
            continue
        at, strength = _best(sums, begin, end, few)
        if strength > SURE * sigma:
            found.append(at)
            todo += [(begin, at), (at, end)]
    return sorted(found)


def _best(sums: list[float], begin: int, end: int, few: int) -> tuple[int, float]:
    """The cut between two places where the means on both sides differ most, weighed by how many values speak for it."""
    size, first = end - begin, sums[begin]
    mean = (sums[end] - first) / size
    best, where = -1.0, begin + few
    for at in range(few, size - few + 1):
        off = sums[begin + at] - first - mean * at
        strength = off * off / (at * (size - at))
        if strength > best:
            best, where = strength, begin + at
    return where, sqrt(best * size)


def _refined(cuts: list[int], sums: list[float], few: int) -> list[int]:
    """Each cut once more, between its neighbours: the first search saw the others' changes as well."""
    made = list(cuts)
    for number in range(len(made)):
        begin = made[number - 1] if number else 0
        end = made[number + 1] if number + 1 < len(made) else len(sums) - 1
        if end - begin >= 2 * few:
            made[number] = _best(sums, begin, end, few)[0]
    return made


def _merge(cuts: list[int], values: list[float], sigma: float, least_change: float) -> list[int]:
    """Without the cuts at which the level hardly changes."""
    cuts = list(cuts)
    while cuts:
        edges = [0, *cuts, len(values)]
        usual = [median(values[a:b]) for a, b in pairwise(edges)]
        steps = [(abs(b - a) / max(abs(a), 1e-12), n) for n, (a, b) in enumerate(pairwise(usual))]
        smallest, number = min(steps)
        change = abs(usual[number + 1] - usual[number])
        fewest = min(edges[number + 1] - edges[number], edges[number + 2] - edges[number + 1])
        if smallest >= least_change and change > SURE * sigma / sqrt(fewest) / sqrt(2):
            break
        del cuts[number]
    return cuts


def drifts(values: Sequence[float], found: Sequence[Level]) -> bool:
    """Does a straight line tell the series better than its levels do? Then it changes slowly, and nowhere."""
    if len(found) < 3:
        return False
    smooth, size = calm(values), len(values)
    middle, mean = (size - 1) / 2, sum(smooth) / size
    slope = sum((at - middle) * v for at, v in enumerate(smooth)) / sum((at - middle) ** 2 for at in range(size))
    line = sum((v - mean - slope * (at - middle)) ** 2 for at, v in enumerate(smooth))
    steps = sum((v - level.value) ** 2 for level in found for v in smooth[level.begin : level.end])
    return line <= steps * 1.02


def densest(values: Sequence[float]) -> tuple[float, float]:
    """Middle and spread of the half of the values that stand nearest together; of several such halves the lowest one."""
    ordered = sorted(values)
    half = (len(ordered) + 1) // 2
    widths = [(ordered[at + half - 1] - ordered[at], at) for at in range(len(ordered) - half + 1)]
    narrowest = min(widths)[0]
    allowed = narrowest * 1.25 + 1e-12
    width, at = next(pair for pair in widths if pair[0] <= allowed)
    return median(ordered[at : at + half]), width / 1.349
