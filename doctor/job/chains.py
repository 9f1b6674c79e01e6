"""Where chains of waiting end, and who is behind each end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from doctor.job.case import (
    ACCUSED,
    MAX_TERMINALS,
    Case,
)
from doctor.job.job import Target
from parsers.named import NamedTuple


class Ends(NamedTuple):
    """Where chains of waiting end: for each end, who is behind it."""

    votes: Mapping[Target, int]
    circle: tuple[int, ...]
    circling: int  # how many wait for somebody in the circle, and for no end
    waiters: frozenset[int]


def find_ends(case: Case, faulty: set[int]) -> Ends:
    """The ends of all chains. A process with a fault of its own is an end, whatever it waits for as well."""
    edges: dict[int, set[Target]] = defaultdict(set)
    back: dict[Target, set[int]] = defaultdict(set)
    waiters = {w.by for w in case.graph.waits if w.kind not in ACCUSED}
    plain: dict[Target, Target] = {}
    for wait in case.graph.waits:
        if wait.on is None or wait.on.process == wait.by:
            continue
        target = Target(wait.on.process) if wait.on.process is not None else outside(wait.on)
        target = plain.setdefault(target, target)
        if wait.by in faulty:
            continue
        edges[wait.by].add(target)
        back[target].add(wait.by)
    ends = [t for t in back if t.process is None or t.process in faulty or not edges.get(t.process)]
    silent = [t for t in ends if t.process is None or t.process in faulty or t.process not in waiters]
    votes: dict[Target, int] = {}
    reached: set[int] = set()
    for end in sorted(silent or ends, key=lambda t: (-len(back[t]), t.comm_rank or 0, str(t)))[:MAX_TERMINALS]:
        behind = set(back[end])
        queue = list(behind)
        while queue:
            at = queue.pop()
            more = back.get(Target(at), set()) - behind
            behind |= more
            queue += more
        votes[end] = len(behind - ({end.process} if end.process is not None else set()))
        reached |= behind
    loose = {number: targets for number, targets in edges.items() if number not in reached}
    circle = _circle(loose) if len(silent or ends) <= MAX_TERMINALS else ()
    return Ends(votes, circle, len(loose) if circle else 0, frozenset(waiters))


def outside(target: Target) -> Target:
    """Somebody without logs: by place when it is told, else by its seat."""
    if target.location is not None:
        return Target(None, location=target.location)
    if target.comm_rank is not None:  # the communicator itself may be unknown: the number still tells several apart
        return Target(None, target.comm, target.comm_rank)
    return Target(None, address=target.address)


def _circle(edges: Mapping[int, set[Target]]) -> tuple[int, ...]:
    """A circle of processes that wait for each other; chains that lead nowhere are left aside."""
    done: set[int] = set()
    for start in sorted(edges):
        trail: list[int] = []
        at: int | None = start
        while at is not None and at not in trail and at not in done:
            trail.append(at)
            at = min((t.process for t in edges.get(at, ()) if t.process is not None), default=None)
        if at in trail:
            return tuple(trail[trail.index(at) :])
        done.update(trail)
    return ()
