"""Which ranks are slow, by what each does itself: in a job that runs in step all take as long as the slowest one.

So the whole step tells nobody apart; the time of its own work does, and the time of waiting does the other way round: who is
slow waits least.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate

from doctor.pace.robust import NORMAL, densest, known, median, usual
from doctor.pace.runs import OWN, Run, Values
from doctor.pace.tracks import Lane
from parsers.named import NamedTuple

LEAST_EXCESS = 0.04  # of a step: what costs less slows no job that anybody would notice
APART = 5.0  # deviations of the others
BINS, OF_BIN = 64, 16  # stretches that ranks are compared in, and values of each that are looked at
CROWDS, MANY = 6.0, 8  # deviations between two crowds of ranks; ranks that make crowds
FEW_STEPS = 8
LOCKSTEP = 0.01  # ranks whose steps differ by less take them together


class Straggler(NamedTuple):
    """Ranks that are slow together, in what, by how much of a step, in which steps."""

    lanes: tuple[Lane, ...]
    measure: str  # total, data, compute, ...; comm: they wait least
    excess: float  # of a step
    seconds: float  # a step
    usual: float  # what the others take for it, in seconds
    begin: int
    end: int  # points
    shape: str  # rank, node, block, every, ranks
    sure: bool


class Sight(NamedTuple):
    """What can be seen of ranks at all."""

    measures: tuple[str, ...]  # by which ranks can be told apart
    lockstep: bool


def sight(run: Run, begin: int, end: int) -> Sight:
    """By what the ranks of this run can be compared."""
    if end - begin < FEW_STEPS:
        return Sight((), False)
    several = tuple(name for name in (*OWN, "comm") if len(run.parts.get(name, {})) > 1)
    whole = [m for values in run.total.values() if (m := usual(values, begin, end)) == m]
    lockstep = len(whole) > 1 and max(whole) - min(whole) < LOCKSTEP * max(whole)
    if len(whole) > 1 and not lockstep:
        several = (*several, "total")
    return Sight(several, lockstep)


def step_time(run: Run, begin: int, end: int) -> float:
    """What a step usually takes; without it told, what the slowest ranks do themselves."""
    if run.total and (run.scaled or not run.parts):
        return median([usual(values, begin, end) for values in run.total.values()])
    each: dict[Lane, float] = defaultdict(float)
    for name in (*OWN, "comm"):
        for lane, values in run.parts.get(name, {}).items():
            told = usual(values, begin, end)
            each[lane] += told if told == told else 0.0
    return max(each.values(), default=float("nan"))


def stragglers(run: Run, begin: int, end: int) -> tuple[Straggler, ...]:
    """Slow ranks in a stretch of the run; what their own work tells comes before what waiting tells."""
    seen, step = sight(run, begin, end), step_time(run, begin, end)
    if not seen.measures or not step > 0:
        return ()
    found: list[Straggler] = []
    for name in (n for n in seen.measures if n != "comm"):
        values = run.total if name == "total" else run.parts[name]
        if name == "total" and found:
            continue  # its parts have told it
        found += _of(run, values, name, begin, end, step, 1.0)
    if not found and "comm" in seen.measures:
        found += _of(run, run.parts["comm"], "comm", begin, end, step, -1.0)
    return tuple(sorted(found, key=lambda one: -one.excess))


def _of(run: Run, values: dict[Lane, Values], name: str, begin: int, end: int, step: float, sign: float) -> list[Straggler]:
    lanes = [lane for lane in run.lanes if lane in values and len(known(values[lane][begin:end])) >= FEW_STEPS]
    if len(lanes) < 2:
        return []
    excess, error, others = _excess([values[lane][begin:end] for lane in lanes], sign)
    middle, width = densest(excess)
    limit = max(LEAST_EXCESS * step, (APART + 12 / len(lanes)) * width, APART * error)
    fast = [one for one in excess if middle - one > limit]
    if 2 * len(fast) >= len(lanes):  # the half that agrees best is the slow one
        middle, width = densest(fast)
        limit = max(LEAST_EXCESS * step, (APART + 12 / len(lanes)) * width, APART * error)
    edge = min(middle + limit, _parted(excess, LEAST_EXCESS * step))
    slow = [number for number, one in enumerate(excess) if one > edge]
    if not slow or len(slow) > len(lanes) / 2:
        return []
    made = median([excess[number] for number in slow]) - middle
    chosen = tuple(lanes[number] for number in slow)
    return [Straggler(chosen, name, made / step, made, others, begin, end, shape(chosen, lanes), sign > 0)]


def _parted(excess: Sequence[float], least: float) -> float:
    """The value above which a second crowd stands, as far from the first as neither is wide; infinite without one.

    A whole slow half makes the others look as if they differed as much among themselves as it differs from them.
    """
    ordered = sorted(excess)
    size = len(ordered)
    if size < MANY:
        return float("inf")
    sums, squares = [0.0, *accumulate(ordered)], [0.0, *accumulate(v * v for v in ordered)]
    best, edge = 0.0, float("inf")
    for at in range((size + 1) // 2, size):
        low, high = sums[at] / at, (sums[size] - sums[at]) / (size - at)
        inside = squares[size] - at * low * low - (size - at) * high * high
        apart = (high - low) / max((max(inside, 0.0) / (size - 2)) ** 0.5, 1e-12)
        if high - low > least and apart > max(best, CROWDS):
            best, edge = apart, ordered[at - 1]
    return edge


def _excess(rows: list[Values], sign: float) -> tuple[list[float], float, float]:
    """By how much each lane usually exceeds the others in the same steps, how sure that is, and what is usual."""
    size = len(rows[0])
    width = max(1, size // BINS)
    cuts = [(a, min(a + width, size)) for a in range(0, size, width)]
    table = [[usual(row, a, b, OF_BIN) for a, b in cuts] for row in rows]
    middles = [_quarter(known(column), sign) for column in zip(*table, strict=True)]
    off = [[sign * (value - middle) for value, middle in zip(row, middles, strict=True)] for row in table]
    excess = [median(row) for row in off]
    noise = median([NORMAL * median([abs(v - middle) for v in known(row)]) for row, middle in zip(off, excess, strict=True)])
    return excess, noise * 1.25 / max(1, len(cuts)) ** 0.5, median(middles)


def _quarter(values: Sequence[float], sign: float) -> float:
    """What the middle of the better half shows: up to half of all ranks may be slow."""
    ordered = sorted(values, reverse=sign < 0)
    return median(ordered[: (len(ordered) + 1) // 2]) if ordered else float("nan")


def shape(slow: Sequence[Lane], everybody: Sequence[Lane]) -> str:
    """What the slow ones have in common: a node, a block of neighbours, every n-th rank."""
    if len(slow) == 1:
        return "rank"
    nodes = {lane.node for lane in slow}
    if "" not in nodes and len({lane.node for lane in everybody}) > 1 and sum(lane.node in nodes for lane in everybody) == len(slow):
        return "node"
    ranks = sorted(lane.rank for lane in slow)
    if ranks[0] < 0:
        return "ranks"
    gaps = {b - a for a, b in itertools.pairwise(ranks)}
    if gaps == {1}:
        return "block"
    return "every" if len(gaps) == 1 and len(ranks) > 2 else "ranks"
