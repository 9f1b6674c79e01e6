"""Where the pace of a whole run changes, its first steps, and the steps that are long again and again."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence

from doctor.pace.robust import LEAST, Level, calm, drifts, known, levels, median, noise
from doctor.pace.runs import OWN, Run
from doctor.pace.stragglers import FEW_STEPS
from parsers.named import NamedTuple

LEAST_CHANGE = 0.03  # of the level before
FIRST = 50  # steps that may be the warm-up
SLOW_START = 1.2  # times as long as usual
LONG = 1.3  # times as long as what stands around it
CLEAR = 8.0  # deviations of a long step
OFTEN = 3  # times that something comes back
MET = 0.8  # share of its turns at which it does
MOST_LONG = 5000
ENOUGH = 64  # ranks whose steps tell those of the job


class WarmUp(NamedTuple):
    steps: int  # points
    seconds: float
    usual: float  # what as many later steps take


class Change(NamedTuple):
    """A new level from a point on."""

    at: int  # point
    before: float
    after: float

    @property
    def share(self) -> float:
        return self.after / self.before - 1


class Periodic(NamedTuple):
    """Steps that are long again and again: every so many steps, by how many seconds."""

    kind: str  # checkpoint, evaluation, gc, or "" when the log does not say
    period: int  # steps
    first: int  # step
    times: int
    seconds: float  # each
    share: float  # of the time of the run


class Course(NamedTuple):
    """The pace of the whole run."""

    line: tuple[float, ...]  # seconds of each point
    begin: int  # the first point behind the warm-up
    warm_up: WarmUp | None
    levels: tuple[Level, ...]
    changes: tuple[Change, ...]
    drift: tuple[float, float] | None  # from, to
    periodic: tuple[Periodic, ...]
    long: tuple[int, ...]  # points of long steps that do not come back regularly


def line(run: Run) -> list[float]:
    """One number for each step: the usual one of all ranks; without whole steps told, the slowest rank's own work."""
    if run.total:
        rows = list(run.total.values())[:: max(1, len(run.total) // ENOUGH)]
        if len(rows) == 1:
            return _filled(rows[0])
        return _filled([_middle(column) for column in zip(*rows, strict=True)])
    sums: dict[object, list[float]] = {}
    for name in OWN:
        for lane, values in run.parts.get(name, {}).items():
            before = sums.get(lane)
            sums[lane] = list(values) if before is None else [a + b for a, b in zip(before, values, strict=True)]
    return _filled([max(known(column), default=float("nan")) for column in zip(*sums.values(), strict=True)]) if sums else []


def _middle(column: Sequence[float]) -> float:
    ordered = sorted(column)
    middle = ordered[len(ordered) // 2]
    return middle if middle == middle and ordered[0] == ordered[0] and ordered[-1] == ordered[-1] else median(column)


def _filled(values: Sequence[float]) -> list[float]:
    """Without holes: what is missing is as what stands before it."""
    made: list[float] = []
    last = next(iter(known(values[:1000])), float("nan"))
    for value in values:
        last = value if value == value else last
        made.append(last)
    return made


def course(run: Run) -> Course:
    """The levels of a run, with the warm-up and the single long steps set apart."""
    whole = tuple(line(run))
    warm = _warm_up(whole)
    begin = warm.steps if warm is not None else 0
    rest = whole[begin:]
    if len(rest) < FEW_STEPS:
        return Course(whole, begin, warm, (), (), None, (), ())
    found = tuple(Level(a + begin, b + begin, v) for a, b, v in levels(rest, LEAST_CHANGE))
    drift = (found[0].value, found[-1].value) if drifts(rest, [Level(a - begin, b - begin, v) for a, b, v in found]) else None
    changes = () if drift else tuple(Change(b.begin, a.value, b.value) for a, b in itertools.pairwise(found))
    long = _long(whole, begin)
    periodic, left = _periodic(run, whole, long)
    return Course(whole, begin, warm, found, changes, drift, periodic, left)


def _warm_up(whole: Sequence[float]) -> WarmUp | None:
    """The first steps, as long as they take much longer than usual: compiling, filling caches."""
    size = len(whole)
    if size < 3 * LEAST:
        return None
    most = min(FIRST, size // 4)
    usual = median(whole[most : most + max(most, 2 * LEAST)])
    count = 0
    while count < most and whole[count] > SLOW_START * usual:
        count += 1
    if count == most:  # that is no warm-up but a level
        return None
    return WarmUp(count, sum(whole[:count]), usual * count) if count else None


def _long(whole: Sequence[float], begin: int) -> list[int]:
    """Points that take much longer than what stands around them."""
    rest = whole[begin:]
    quiet = calm(rest)
    limit = CLEAR * noise(quiet)
    return [begin + at for at, (value, usual) in enumerate(zip(rest, quiet, strict=True)) if value > LONG * usual and value - usual > limit][:MOST_LONG]


def _periodic(run: Run, whole: Sequence[float], long: list[int]) -> tuple[tuple[Periodic, ...], tuple[int, ...]]:
    """What comes back: first what the log names, then what only the numbers show."""
    found: list[Periodic] = []
    quiet = calm(whole)
    extra = {run.steps[at]: (whole[at] - quiet[at]) * run.every for at in long}
    extra |= _outside(run, whole, extra)
    left, duration = set(extra), sum(whole) * _stride(run.steps) or 1.0
    near = _stride(run.steps)
    for kind in ("checkpoint", "evaluation", "gc"):
        told = sorted({event.step for event in run.events if event.kind == kind and event.about == "pause"})
        mine = [step for step in left if any(abs(step - one) <= near for one in _around(told, step))]
        seconds = {event.step: event.seconds for event in run.events if event.kind == kind and event.seconds}
        if len(mine) >= OFTEN and (made := _regular(sorted(mine), kind, extra, duration, near)) is not None:
            found.append(made)
            left -= set(mine)
        elif len(seconds) >= OFTEN and (made := _regular(sorted(seconds), kind, seconds, duration, near)) is not None:
            found.append(made)
    for _ in range(3):
        made = _hidden(sorted(left), extra, duration, near)
        if made is None:
            break
        found.append(made)
        left = {step for step in left if _off(step, made.first, made.period) > near}
    at = {step: number for number, step in enumerate(run.steps)}
    return tuple(found), tuple(sorted(at[step] for step in left if step in at))


def _around(told: Sequence[int], step: int) -> Iterable[int]:
    from bisect import bisect_left

    at = bisect_left(told, step)
    return told[max(0, at - 1) : at + 1]


def _stride(steps: Sequence[int]) -> int:
    """Steps from one line to the next."""
    gaps = Counter(b - a for a, b in itertools.pairwise(steps))
    return gaps.most_common(1)[0][0] if gaps else 1


def _outside(run: Run, whole: Sequence[float], known_long: dict[int, float]) -> dict[int, float]:
    """Time that passes between steps and belongs to none: stamps tell it where the time of a step leaves it out."""
    found: dict[int, float] = {}
    if run.account in ("stamps", "elapsed", "bar") or not run.times:
        return found
    times = next((row for row in run.times.values() if row[0] == row[0]), next(iter(run.times.values())))
    for at in range(1, len(whole)):
        gap = times[at] - times[at - 1] - whole[at] * (run.steps[at] - run.steps[at - 1])
        if gap == gap and gap > max(3.0, whole[at]) and run.steps[at] not in known_long and len(found) < MOST_LONG:
            found[run.steps[at]] = gap
    return found


def _regular(steps: Sequence[int], kind: str, extra: dict[int, float], duration: float, near: int) -> Periodic | None:
    gaps = Counter(b - a for a, b in itertools.pairwise(steps))
    if not gaps:
        return None
    period = gaps.most_common(1)[0][0]
    seconds = [extra[step] for step in steps]
    return Periodic(kind, period, steps[0], len(steps), median(seconds), sum(seconds) / duration) if period > near else None


def _hidden(steps: Sequence[int], extra: dict[int, float], duration: float, near: int) -> Periodic | None:
    """A period that most of the long steps keep, and at most of whose turns a step is long."""
    best: tuple[int, int, int] | None = None
    gaps = Counter(b - a for a, b in itertools.pairwise(steps) if b - a > 2 * near)
    for period, _ in gaps.most_common(12):
        for first in steps[:6]:
            mine = [s for s in steps if s >= first and _off(s, first, period) <= near // 2]
            turns = (steps[-1] - first) // period + 1
            if len(mine) >= OFTEN and len(mine) >= MET * turns and (best is None or len(mine) > best[0]):
                best = len(mine), period, first
    if best is None or best[0] < len(steps) * 0.2:
        return None
    count, period, first = best
    seconds = [extra[s] for s in steps if s >= first and _off(s, first, period) <= near // 2]
    return Periodic("", period, first, count, median(seconds), sum(seconds) / duration)


def _off(step: int, first: int, period: int) -> int:
    return min((step - first) % period, (first - step) % period)
