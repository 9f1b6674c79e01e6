"""Everything that is known of a job that does not move, to one verdict."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from doctor.hang import collectives, processes
from doctor.hang.cann import Stage, stage
from doctor.hang.doing import WAITING, Doing, doing
from doctor.hang.verdict import NOTHING, SLOW, Kind, Reason, Verdict
from doctor.read.dumps import FLIGHT, STACKS, VERDICT
from doctor.scan.harvest import Dump
from parsers import flight, stacks
from parsers.flight import Flight

_SURE = frozenset({Kind.MISMATCH, Kind.CIRCLE})
"""What the dumps of the recorder prove by themselves."""


def conclude(dumps: Iterable[Dump], world: int | None = None, silence: Verdict | None = None) -> Verdict:
    """The verdict of all dumps of one job; `world`: of how many ranks it is, when that is known; `silence`: what the logs say by their steps."""
    given = tuple(dumps)
    flights, unread = _flights(given)
    found = _doings(given)
    of_calls = collectives.decide(flights, world) if len(flights) > 1 else None
    of_stacks = _of_stacks(found, world)
    if len(flights) == 1 and of_stacks is None and silence is None:
        few = Reason("hang.one-dump", (("rank", str(*flights)),))
        return NOTHING._replace(reasons=(few,), unread=unread)
    made = _both(of_calls, of_stacks, found)
    said = _said(given) if made.kind is Kind.UNKNOWN else None
    return _heard(said or made, silence)._replace(unread=unread)


def _heard(made: Verdict, silence: Verdict | None) -> Verdict:
    """Dumps and stacks say why; the order in which the logs fell silent stands by itself, or speaks for it."""
    if silence is None:
        return made
    if made.kind is Kind.UNKNOWN:
        return silence._replace(reasons=(*silence.reasons, *made.reasons))
    return made._replace(reasons=(*made.reasons, *silence.reasons)) if made.hung else made


def stages(dumps: Iterable[Dump]) -> Iterator[tuple[Doing, Stage]]:
    """How far the processes have come in CANN whose native frames were printed."""
    for one in _doings(tuple(dumps)):
        if (told := stage(one.stacks)) is not Stage.UNTOLD:
            yield one, told


def _said(dumps: Sequence[Dump]) -> Verdict | None:
    """What was said where the processes ran; who names a rank knows more than who saw others wait."""
    found: list[Verdict] = []
    for dump in dumps:
        if dump.kind != VERDICT:
            continue
        told = json.loads(dump.told)
        if told["kind"] in Kind._value2member_map_:
            reasons: tuple[Reason, ...] = (Reason("hang.said", (("path", dump.path),)),)
            if quiet := told.get("silence"):
                reasons = (Reason("hang.silent", tuple(quiet.items())), *reasons)
            found.append(Verdict(Kind(told["kind"]), tuple(told["ranks"]), tuple(told["waiting"]), told["call"], told["line"], told["other_line"], reasons))
    return max(found, key=lambda one: (one.hung and bool(one.ranks), one.hung, one.kind in SLOW), default=None)


def _of_stacks(found: Sequence[Doing], world: int | None) -> Verdict | None:
    if not found:
        return None
    if len(found) > 1 or (world or 0) > 1:
        return processes.decide(found, world)
    return _alone(found[0])


def _alone(one: Doing) -> Verdict:
    """Of one process it can be said where it stands; whether that is a hang, only when it was looked at twice."""
    values = (("line", one.line or "?"), ("theirs", one.call))
    if one.stacks.state in ("T", "t", "gone", "Z", "X"):
        return processes.decide([one])
    if one.activity in WAITING:
        return Verdict(Kind.UNKNOWN, call=one.call, other_line=one.line, reasons=(Reason("hang.waits-alone", values),))
    if one.stacks.moved is None:
        return Verdict(Kind.UNKNOWN, line=one.line, reasons=(Reason("hang.stands-alone", values),))
    made = processes.decide([one])
    if made.kind is not Kind.NONE:
        return made
    if one.stacks.moved or one.active:
        return Verdict(Kind.NONE, line=one.line, reasons=(Reason("hang.moves-alone", values),))
    return Verdict(Kind.STUCK, (one.rank,) if one.rank is not None else (), line=one.line, reasons=(Reason("hang.same-twice", values),))


def _both(of_calls: Verdict | None, of_stacks: Verdict | None, found: Sequence[Doing]) -> Verdict:
    """Calls say who is missing, stacks say what that one does."""
    if of_calls is None:
        return of_stacks or NOTHING
    if of_stacks is None or of_stacks.kind is Kind.UNKNOWN:
        return of_calls
    if of_stacks.kind is Kind.STOPPED or (of_stacks.kind is Kind.DEAD and of_calls.kind not in _SURE):
        return of_stacks._replace(call=of_calls.call or of_stacks.call, reasons=(*of_stacks.reasons, *of_calls.reasons))
    by_rank = {one.rank: one for one in found if one.rank is not None}
    if of_stacks.reasons[:1] and of_stacks.reasons[0].word == "hang.calls-move" and of_calls.kind not in _SURE:
        return of_stacks  # the ranks were seen to go on; dumps are of one moment each, and not of the same one
    if of_calls.kind in _SURE:
        first = next((by_rank[rank].line for rank in of_calls.ranks if rank in by_rank), "")
        return of_calls._replace(line=of_calls.line or first)
    if of_calls.kind in (Kind.AWAY, Kind.DEAD):
        return _named(of_calls, [by_rank[rank] for rank in of_calls.ranks if rank in by_rank], of_stacks)
    if of_stacks.kind in (Kind.NONE, Kind.TRANSPORT):
        return of_calls if of_calls.kind is not Kind.NONE else of_stacks
    return of_stacks._replace(call=of_calls.call or of_stacks.call, reasons=(*of_stacks.reasons, *of_calls.reasons))


def _named(of_calls: Verdict, culprits: Sequence[Doing], of_stacks: Verdict) -> Verdict:
    """The missing rank by what it does."""
    alive = [one for one in culprits if one.activity not in WAITING]
    if not culprits:
        return of_calls
    if not alive:
        return of_calls._replace(kind=Kind.AWAY, line=culprits[0].line)
    ranks = {one.rank for one in alive}
    if set(of_stacks.ranks) & ranks:
        kept = tuple(rank for rank in of_stacks.ranks if rank in ranks)
        return of_stacks._replace(ranks=kept, call=of_calls.call, waiting=of_calls.waiting, reasons=(*of_stacks.reasons, *of_calls.reasons))
    return of_calls._replace(kind=Kind.AWAY, line=alive[0].line)


def _flights(dumps: Iterable[Dump]) -> tuple[Mapping[int, Flight], tuple[str, ...]]:
    """One dump for each rank; of several of one rank the last call decides which is the newer."""
    found: dict[int, Flight] = {}
    unread: list[str] = []
    for dump in dumps:
        if dump.kind != FLIGHT:
            continue
        try:
            one = flight.read(dump.told)
        except (ValueError, KeyError, IndexError):
            unread.append(dump.path)
            continue
        rank = dump.rank
        if rank is None:
            unread.append(dump.path)
        elif rank not in found or _newest(one) > _newest(found[rank]):
            found[rank] = one
    return found, tuple(unread)


def _newest(one: Flight) -> int:
    return max((group.last.created for group in one.groups.values() if group.last), default=0)


def _doings(dumps: Iterable[Dump]) -> list[Doing]:
    """One for each process: the latest of a file, for somebody may have looked several times."""
    found: dict[object, Doing] = {}
    for number, dump in enumerate(dumps):
        if dump.kind != STACKS:
            continue
        try:
            one = stacks.again(dump.told)
        except (ValueError, KeyError, IndexError):
            continue
        rank = one.rank if one.rank is not None else dump.rank
        if not one.threads and not one.state:
            continue
        key: object = ("rank", rank) if rank is not None else (dump.node, one.pid if one.pid is not None else (dump.path, number))
        found[key] = doing(one._replace(rank=rank))
    return list(found.values())
