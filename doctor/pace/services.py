"""Engines of a service: what each generates while it has requests, and whether that changed without the load changing."""

from __future__ import annotations

from itertools import pairwise

from doctor.pace.robust import densest, levels, median
from doctor.pace.runs import Run, Service
from doctor.pace.tracks import Lane
from parsers.named import NamedTuple

LEAST_CHANGE = 0.15  # statistics of a service move with its requests
SAME_LOAD = 0.2
BEHIND = 0.2  # by which an engine generates less for each request than the others do
FEW = 8


class Slower(NamedTuple):
    """Tokens a second before and after, from an interval on, and the requests that ran meanwhile."""

    at: int
    time: float
    before: float
    after: float
    running: tuple[float, float]

    @property
    def load(self) -> bool:
        """Did the load change in the same direction?"""
        was, now = self.running
        return was > 0 and abs(now / was - 1) > SAME_LOAD and (now < was) == (self.after < self.before)


class Engine(NamedTuple):
    """One engine over the intervals in which it had requests."""

    lane: Lane
    points: int
    rate: float  # tokens a second
    running: float
    waiting: float
    stalled: int  # intervals with requests and not one token
    changes: tuple[Slower, ...]
    behind: float  # the others' share that it lacks

    @property
    def slow(self) -> bool:
        return self.behind > 0 or any(not c.load and c.after < c.before for c in self.changes)


def engines(run: Run) -> tuple[Engine, ...]:
    made = [_engine(lane, one) for lane, one in sorted(run.services.items())]
    busy = [one for one in made if one.points >= FEW and one.running > 0]
    if len(busy) < 2:
        return tuple(made)
    middle, _ = densest([-one.rate / one.running for one in busy])
    load = median([one.running for one in busy])
    return tuple(one._replace(behind=_behind(one, -middle, load)) if one in busy else one for one in made)


def _behind(one: Engine, usual: float, load: float) -> float:
    lacks = 1 - one.rate / one.running / usual if usual > 0 else 0.0
    return lacks if lacks > BEHIND and abs(one.running / load - 1) <= SAME_LOAD else 0.0


def _engine(lane: Lane, told: Service) -> Engine:
    running = list(told.running) or [1.0] * len(told.generated)
    at = [n for n, (rate, load) in enumerate(zip(told.generated, running, strict=True)) if load > 0 and rate > 0]
    rates, loads = [told.generated[n] for n in at], [running[n] for n in at]
    stalled = sum(load > 0 and rate == 0 for rate, load in zip(told.generated, running, strict=True))
    found = levels(rates, LEAST_CHANGE)
    changes = [
        Slower(b.begin, told.times[at[b.begin]], a.value, b.value, (median(loads[a.begin : a.end]), median(loads[b.begin : b.end])))
        for a, b in pairwise(found)
    ]
    waiting = median(list(told.waiting)) if told.waiting else 0.0
    return Engine(lane, len(at), median(rates), median(loads), waiting, stalled, tuple(changes), 0.0)
