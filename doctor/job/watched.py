"""What the watchdogs of several ranks say together: each prints the number and kind of the collective it gave up in.

The numbers count the collectives of one group of ranks, and the line does not name the group. They are compared only
when every rank is called by its rank in the whole job, and when they are near each other: other groups count otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from doctor.job.case import MAX_ROOTS, Case, make_root
from doctor.job.chains import Ends
from doctor.job.job import WHOLE, Issue, Root, label
from doctor.scan.harvest import Place

NEAR = 16  # collectives that ranks of one group may be apart: one that came or was left out, not another group


def watched(case: Case, ends: Ends, _: Mapping[int, Place]) -> tuple[Root, ...]:
    """Who gave up in another collective than the others; else the few who never came to the one all others name."""
    first: dict[int, Issue] = {}
    for issue in case.graph.watched:
        first.setdefault(issue.by, issue)
    if len(first) < 2 or any(issue.comm != WHOLE for issue in first.values()):
        return ()
    counted = Counter((i.nth or 0, i.op or "") for i in first.values())
    common = max(counted, key=lambda value: (counted[value], *value))
    odd = sorted((n for n, i in first.items() if (i.nth or 0, i.op or "") != common), key=lambda n: (first[n].nth, n))
    return _odd(case, first, odd, common, ends) if odd else _behind(case, first)


def _odd(
    case: Case, first: Mapping[int, Issue], odd: list[int], common: tuple[int, str], ends: Ends
) -> tuple[Root, ...]:
    if len(odd) * 2 > len(first) or any(abs((first[n].nth or 0) - common[0]) > NEAR for n in odd):
        return ()
    number, own = odd[0], first[odd[0]]
    peers = tuple(f"{label(case.who.processes[n])} ({_called(first[n])})" for n in odd[1:MAX_ROOTS])
    root = make_root(case, "watched-odd", number, (), len(ends.waiters - {number}), peers, own.place, None)
    theirs = next(i for i in first.values() if (i.nth or 0, i.op or "") == common)
    return (root._replace(last=f"{_called(own)} / {_called(theirs)}"),)


def _behind(case: Case, first: Mapping[int, Issue]) -> tuple[Root, ...]:
    here = {rank for n in first if (rank := case.who.processes[n].rank) is not None}
    world = max(case.who.world_size or 0, max(here) + 1)
    away = sorted(set(range(world)) - here)
    if not away or len(away) * 4 > world + 3:  # of a paste that shows some ranks only, nothing is said about the others
        return ()
    peers = tuple(f"rank {rank}" for rank in away[1:MAX_ROOTS])
    issue = next(iter(first.values()))
    number = case.who.by_rank.get(away[0])
    root = Root("watched-away", number, f"rank {away[0]}", (), len(first), peers, issue.place, None, _called(issue))
    return (root,)


def _called(issue: Issue) -> str:
    return f"{issue.op or '?'} #{issue.nth}"
