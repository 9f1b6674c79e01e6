"""What a run's pace comes to: who is slow, since when, what comes again and again; or that it is even."""

from __future__ import annotations

from doctor.pace.changes import Change, Course, course
from doctor.pace.reading import Event
from doctor.pace.robust import known, median, usual
from doctor.pace.runs import OWN, PARTS, Run
from doctor.pace.services import Engine, engines
from doctor.pace.stragglers import FEW_STEPS, Sight, Straggler, sight, step_time, stragglers
from doctor.pace.tracks import Lane
from parsers.named import NamedTuple

COSTLY = 0.05  # of the time: what comes back and takes less is told, and is nothing to act on
NEAR_S = 120.0  # seconds around a change in which something counts as near it
MOST_NEAR = 12
CLOCKS = 2.0  # seconds by which the clocks of nodes may differ


class Moved(NamedTuple):
    """A part of a step that changed with the step."""

    measure: str
    before: float
    after: float


class Turn(NamedTuple):
    """A change with what moved and what happened near it."""

    change: Change
    moved: tuple[Moved, ...]
    near: tuple[Event, ...]


class Pace(NamedTuple):
    """All that is said of a run."""

    run: Run
    course: Course
    sight: Sight
    step_s: float
    slow: tuple[Straggler, ...]
    turns: tuple[Turn, ...]
    uneven: tuple[tuple[str, float], ...]  # parts of which the log tells the least and the most alone, as a share of a step
    engines: tuple[Engine, ...]
    absent: tuple[int, ...]  # ranks between others of which there is no log
    clocks: float  # seconds by which nodes that were at the same step disagree
    verdict: str  # even, uneven, few, none


def judge(run: Run) -> Pace:
    """The verdict on one run."""
    told = course(run)
    begin, end = told.begin, len(told.line)
    stretches = [(level.begin, level.end) for level in told.levels] if told.changes else [(begin, end)]
    slow = _joined([one for a, b in stretches for one in stragglers(run, a, b)])
    if not slow and told.changes:
        slow = list(stragglers(run, begin, end))
    turns = tuple(Turn(change, _moved(run, told, change), _near(run, change)) for change in told.changes)
    step = step_time(run, begin, end)
    served = engines(run)
    found = bool(slow) or any(t.change.share > 0 for t in turns) or any(p.share >= COSTLY for p in told.periodic)
    found = found or (told.drift is not None and told.drift[1] > told.drift[0]) or any(one.slow for one in served)
    verdict = "uneven" if found else "even"
    if not told.line and not served:
        verdict = "few" if run.results else "none"
    elif not found and end - begin < FEW_STEPS and not any(one.points >= FEW_STEPS for one in served):
        verdict = "few"
    return Pace(run, told, sight(run, begin, end), step, tuple(slow), turns, _uneven(run, step, slow), served, _absent(run), _clocks(run, begin), verdict)


def _joined(found: list[Straggler]) -> list[Straggler]:
    """What holds in several stretches after each other is said once."""
    made: list[Straggler] = []
    for one in found:
        at = next((n for n, k in enumerate(made) if (k.lanes, k.measure) == (one.lanes, one.measure) and k.end == one.begin), None)
        if at is None:
            made.append(one)
        else:
            strongest = max(made[at], one, key=lambda s: s.excess)
            made[at] = strongest._replace(begin=made[at].begin, end=one.end)
    return made


def _moved(run: Run, told: Course, change: Change) -> tuple[Moved, ...]:
    """The parts that explain a change, the largest first."""
    around = [level for level in told.levels if change.at in (level.begin, level.end)]
    before, after = around[0], around[-1]
    found = []
    for name in PARTS:
        rows = run.parts.get(name, {}).values()
        was = median([usual(row, before.begin, before.end) for row in rows])
        now = median([usual(row, after.begin, after.end) for row in rows])
        if was == was and now == now and abs(now - was) > 0.2 * abs(change.after - change.before):
            found.append(Moved(name, was, now))
    return tuple(sorted(found, key=lambda one: -abs(one.after - one.before)))


def _near(run: Run, change: Change) -> tuple[Event, ...]:
    """What happened near a change, by its step where one is known, else by the time of day."""
    first, last = run.steps[max(0, change.at - 3)], run.steps[min(len(run.steps) - 1, change.at + 1)]
    moments = known([row[change.at] for row in run.times.values()])
    moment = median(moments)
    found = []
    for event in run.events:
        if event.about != "event":
            continue
        timely = moment == moment and event.time == event.time and abs(event.time - moment) <= NEAR_S
        if (event.step and first <= event.step <= last) or (not event.step and timely):
            found.append(event)
    return tuple(sorted(found, key=lambda e: (e.kind, e.step, e.lane))[:MOST_NEAR])


def _uneven(run: Run, step: float, slow: list[Straggler]) -> tuple[tuple[str, float], ...]:
    """Where only the least and the most of all ranks are told, the gap between them: somebody is slow, and nobody is named."""
    if slow or not step > 0:
        return ()
    gaps = [(name, median(row) / step) for name, row in run.spreads.items() if name in OWN]
    return tuple((name, share) for name, share in gaps if share > 2 * COSTLY)


def _absent(run: Run) -> tuple[int, ...]:
    """Ranks that must be there, because later ones are; where ranks count anew on each node nobody can tell."""
    ranks = {lane.rank for lane in run.lanes if lane.rank >= 0}
    if len(ranks) < 2 or len(ranks) < sum(lane.rank >= 0 for lane in run.lanes):
        return ()
    return tuple(rank for rank in range(max(ranks)) if rank not in ranks)[:10_000]


def _clocks(run: Run, begin: int) -> float:
    """By how much the clocks of nodes differ: ranks that run in step end their steps together."""
    nodes: dict[str, list[float]] = {}
    first = next(iter(run.times.values()), None)
    if first is None or not first:
        return 0.0
    at = min(begin, len(first) - 1)
    for lane, row in run.times.items():
        if row[at] == row[at]:
            nodes.setdefault(lane.node, []).append(row[at])
    middles = [median(found) for found in nodes.values()]
    apart = max(middles) - min(middles) if len(middles) > 1 else 0.0
    return apart if apart > CLOCKS else 0.0


def slow_lanes(pace: Pace) -> frozenset[Lane]:
    return frozenset(lane for one in pace.slow for lane in one.lanes)
