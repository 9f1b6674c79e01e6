"""The dumps of all ranks side by side: the first call at which they part, and who is missing there.

A rank waits in a group when its last call of it has not ended. Who is missing there may itself wait in another group: the one who
waits nowhere is the cause, and a circle of waiting ranks is a circle.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from doctor.hang.verdict import Kind, Reason, Verdict, ranks_told
from parsers.flight import Call, Flight, Group, Signature
from parsers.named import NamedTuple

_SHAPES_DIFFER = ("all_to_all", "alltoall", "gather", "scatter", "allgather_v", "split", "coalesced", "barrier", "send", "recv")
"""Calls whose inputs may be of different sizes on different ranks; a whole word of the name tells (`all_gather` is none)."""
_EQUAL_SHAPES = ("all_gather", "_all_gather_base", "all_gather_single", "_reduce_scatter_base", "reduce_scatter", "reduce_scatter_single")


class Member(NamedTuple):
    """What one rank did in a group."""

    rank: int
    group: Group
    signatures: tuple[Signature, ...]

    @property
    def end(self) -> int:
        """The number of the last call that it has made."""
        return self.group.first + len(self.group.signatures) - 1

    @property
    def ended(self) -> int:
        """The number of the last call that has ended."""
        open_ = {call.number for call in self.group.open if call.pair is None}
        return next((number for number in range(self.end, self.group.first - 1, -1) if number not in open_), -1)

    def signature(self, number: int) -> Signature | None:
        at = number - self.group.first
        if not 0 <= at < len(self.group.signatures) or self.group.signatures[at] < 0:
            return None
        return self.signatures[self.group.signatures[at]]


class Wait(NamedTuple):
    """The first call of a group that has not ended."""

    group: str
    desc: str
    number: int
    op: str
    inside: tuple[int, ...]
    """Ranks that have made the call and have not come out."""
    missing: tuple[int, ...]
    """Ranks of the group that have not made it."""
    undumped: tuple[int, ...]
    """Ranks of the group of which there is no dump."""
    scheduled: tuple[int, ...]
    """Of those inside, the ones whose device has not begun it while others' have."""
    call: Call

    @property
    def told(self) -> str:
        group = f"{self.group} ({self.desc})" if self.desc not in ("", "undefined", self.group) else self.group
        return f"{self.op} no. {self.number} of group {group}"


class Parting(NamedTuple):
    """A call that the ranks of a group do not make alike."""

    group: str
    number: int
    field: str  # op | size | dtype
    ranks: tuple[int, ...]
    """The fewer ones."""
    theirs: str
    others: str
    line: str
    waiting: bool
    """Has one of them not come out of it?"""


def decide(flights: Mapping[int, Flight], world: int | None = None) -> Verdict:
    """The verdict of the dumps alone."""
    groups = _groups(flights)
    partings = [found for name, members in groups.items() for found in _partings(name, members)]
    standing = [(name, members) for name, members in groups.items() if not _went_on(members)]
    waits = [w for name, members in standing if (w := _wait(name, members, flights, world)) is not None]
    waits += _pair_waits(flights)
    parted = [one for one in partings if one.waiting] or partings
    if parted:
        return _mismatch(min(parted, key=lambda one: (not one.waiting, one.number)), flights)
    if not waits and len(standing) < len(groups):
        return Verdict(Kind.NONE, reasons=(Reason("hang.other-moments", (("ranks", str(len(flights))),)),))
    if not waits:
        return Verdict(Kind.NONE, reasons=(Reason("hang.all-ended", (("ranks", str(len(flights))),)),))
    return _root(waits, flights)


def _groups(flights: Mapping[int, Flight]) -> dict[str, list[Member]]:
    found: dict[str, list[Member]] = {}
    for rank in sorted(flights):
        for name, group in flights[rank].groups.items():
            found.setdefault(name, []).append(Member(rank, group, flights[rank].signatures))
    return {name: part for name, members in found.items() for name, part in _apart(name, members)}


def _apart(name: str, members: list[Member]) -> list[tuple[str, list[Member]]]:
    """Groups of one name with different members are different groups: each node may count its own."""
    parts: dict[tuple[int, ...], list[Member]] = {}
    for member in members:
        parts.setdefault(member.group.ranks, []).append(member)
    if len(parts) == 1:
        return [(name, members)]
    return [(f"{name} of ranks {ranks_told(ranks)}" if ranks else name, part) for ranks, part in parts.items()]


# --- calls that are not alike


def _partings(name: str, members: list[Member]) -> list[Parting]:
    """The first call that is not made alike; what follows it is shifted and says nothing."""
    if len(members) < 2:
        return []
    first = max(member.group.first for member in members if member.group.signatures or member.end >= 0)
    last = min(member.end for member in members)
    shared = {(m.group.first, m.group.signatures, m.signatures) for m in members}
    if len(shared) == 1:
        return []
    for number in range(first, last + 1):
        made = [(member.rank, signature) for member in members if (signature := member.signature(number)) is not None]
        if len({signature for _, signature in made}) > 1 and (found := _differ(name, number, made, members)) is not None:
            return [found]
    return []


def _differ(name: str, number: int, made: Sequence[tuple[int, Signature]], members: Sequence[Member]) -> Parting | None:
    for field, told in (("op", _op), ("dtype", _dtype), ("size", _size)):
        kinds = Counter(told(signature) for _, signature in made)
        if len(kinds) < 2:
            continue
        usual = max(kinds, key=lambda kind: (kinds[kind], kind == told(made[0][1])))
        ranks = tuple(rank for rank, signature in made if told(signature) != usual)
        other = next(signature for rank, signature in made if rank == ranks[0])
        common = next(signature for _, signature in made if told(signature) == usual)
        own = next(m for m in members if m.rank == ranks[0])
        open_ = any(call.number == number and call.pair is None for m in members for call in m.group.open)
        call = next((c for c in (*own.group.open, *((own.group.last,) if own.group.last else ())) if c.number == number), None)
        return Parting(name, number, field, ranks, _signed(field, other), _signed(field, common), user_line(call.stack) if call else "", open_)
    return None


def _op(signature: Signature) -> str:
    return signature.op


def _dtype(signature: Signature) -> str:
    return "" if signature.op in ("barrier", "scatter", "gather") else signature.dtypes


def _size(signature: Signature) -> str:
    if signature.op not in _EQUAL_SHAPES and any(word in signature.op for word in _SHAPES_DIFFER):
        return ""
    return signature.inputs


def _signed(field: str, signature: Signature) -> str:
    return {"op": signature.op, "dtype": f"{signature.op} {signature.dtypes}", "size": f"{signature.op} {signature.inputs}"}[field]


def _mismatch(found: Parting, flights: Mapping[int, Flight]) -> Verdict:
    waiting = tuple(rank for rank in flights if rank not in found.ranks and any(g.open for g in flights[rank].groups.values()))
    values = (
        ("ranks", ranks_told(found.ranks)), ("number", str(found.number)), ("group", found.group),
        ("theirs", found.theirs), ("others", found.others),
    )  # fmt: skip
    return Verdict(
        Kind.MISMATCH, found.ranks, waiting, f"{found.others} no. {found.number} of group {found.group}", found.line,
        _line_of(waiting[:1], flights), (Reason(f"hang.parted-{found.field}", values),),
    )  # fmt: skip


# --- calls that do not end


_NEED_ALL = re.compile(r"_?(?:all_?(?:reduce|gather|to_?all)|reduce_scatter|barrier)")


def _went_on(members: Sequence[Member]) -> bool:
    """Has one rank ended a call behind the first open one, a call that needs all of them? Then the dumps are of different moments, and the group moves."""
    open_ = [(call.number, member) for member in members for call in member.group.open if call.pair is None]
    if not open_:
        return False
    number, waiting = min(open_, key=lambda one: one[0])
    for member in members:
        last = member.ended
        if member.rank != waiting.rank and last > number and (signed := member.signature(last)) is not None and _NEED_ALL.match(signed.op):
            return True
    return False


def _wait(name: str, members: list[Member], flights: Mapping[int, Flight], world: int | None) -> Wait | None:
    open_ = [(call.number, member.rank, call) for member in members for call in member.group.open if call.pair is None]
    if not open_:
        return None
    number = min(one[0] for one in open_)
    inside = {rank: call for at, rank, call in open_ if at == number}
    ranks = _members(name, members, flights, world)
    by_rank = {member.rank: member for member in members}
    missing = tuple(r for r in ranks if r in flights and r not in inside and (r not in by_rank or by_rank[r].end < number))
    begun = {rank for rank, call in inside.items() if call.state == "started"}
    scheduled = tuple(rank for rank in sorted(inside) if begun and rank not in begun)
    call = inside[min(inside)]
    owner = by_rank[min(inside)]
    signature = owner.signatures[call.signature]
    undumped = tuple(r for r in ranks if r not in flights)
    return Wait(name, owner.group.desc, number, signature.op, tuple(sorted(inside)), missing, undumped, scheduled, call)


def _members(name: str, members: list[Member], flights: Mapping[int, Flight], world: int | None) -> tuple[int, ...]:
    told = members[0].group.ranks
    if told:
        return told
    if members[0].group.desc == "default_pg" or name == "0":
        return tuple(range(max(world or 0, max(flights) + 1)))
    return tuple(member.rank for member in members)


def _pair_waits(flights: Mapping[int, Flight]) -> list[Wait]:
    """Sends and receives that have not ended: a rank waits for the peer, unless that one is there as well."""
    waits = []
    for rank, flight in flights.items():
        for name, group in flight.groups.items():
            pending = [call for call in group.open if call.pair is not None]
            if not pending:
                continue
            call = min(pending, key=lambda one: one.created)
            what, own, peer = call.pair or ("", 0, 0)
            at = group.ranks[peer] if peer < len(group.ranks) else peer
            answers = "recv" if what == "send" else "send"
            there = at in flights and any(
                c.pair is not None and c.pair[0] == answers and c.pair[2] == own for g in (flights[at].groups.get(name),) if g for c in g.open
            )
            inside, missing = ((rank, at), ()) if there else ((rank,), (at,) if at in flights else ())
            waits.append(Wait(name, group.desc, call.number, f"{what} {rank}->{at}" if what == "send" else f"{what} {rank}<-{at}",
                              tuple(sorted(inside)), missing, () if at in flights else (at,), (), call))  # fmt: skip
    return waits


def _root(waits: Sequence[Wait], flights: Mapping[int, Flight]) -> Verdict:
    """Along the waits to who waits nowhere."""
    of_rank: dict[int, list[Wait]] = {}
    for wait in waits:
        for rank in wait.inside:
            of_rank.setdefault(rank, []).append(wait)
    waiting = tuple(sorted(of_rank))
    gone = {rank: wait for wait in waits for rank in wait.undumped}
    free = {rank: wait for wait in waits for rank in wait.missing if rank not in of_rank}
    if free:
        ranks = tuple(sorted(free))
        wait = max((free[rank] for rank in ranks), key=lambda one: len(one.inside))
        return _verdict(Kind.AWAY, ranks, waiting, wait, flights, "hang.not-arrived", gone)
    if gone:
        ranks = tuple(sorted(gone))
        return _verdict(Kind.DEAD, ranks, waiting, gone[ranks[0]], flights, "hang.no-dump", {})
    if alone := _unanswered(waits, of_rank):
        return _unanswered_verdict(alone, waiting, flights)
    circle = [wait for wait in waits if wait.missing]
    if circle:
        ranks = tuple(sorted({rank for wait in circle for rank in wait.missing}))
        made = _verdict(Kind.CIRCLE, ranks, waiting, circle[0], flights, "hang.circle", {})
        told = tuple(Reason("hang.circle-wait", (("ranks", ranks_told(w.inside)), ("call", w.told), ("missing", ranks_told(w.missing)))) for w in circle[:6])
        return made._replace(reasons=(*made.reasons, *told))
    late = [wait for wait in waits if wait.scheduled]
    if late:
        return _verdict(Kind.DEVICE, late[0].scheduled, waiting, late[0], flights, "hang.not-begun", {})
    wait = min(waits, key=lambda one: one.call.created)
    return _verdict(Kind.TRANSPORT, (), waiting, wait, flights, "hang.all-arrived", {})


def _unanswered(waits: Sequence[Wait], of_rank: Mapping[int, Sequence[Wait]]) -> list[tuple[Wait, Wait]]:
    """A send or receive whose peer has gone on to a call of all, with the call in which that one waits for this rank."""
    found = []
    for wait in waits:
        if wait.call.pair is not None and len(wait.missing) == 1:
            (rank,), (peer,) = wait.inside, wait.missing
            there = next((other for other in of_rank.get(peer, ()) if other.call.pair is None and rank in other.missing), None)
            if there is not None:
                found.append((wait, there))
    return found


def _unanswered_verdict(found: Sequence[tuple[Wait, Wait]], waiting: tuple[int, ...], flights: Mapping[int, Flight]) -> Verdict:
    """Two calls that do not belong together: the one that a rank makes by itself is the odd one."""
    reasons = tuple(
        Reason("hang.pair-unanswered", (("rank", str(wait.inside[0])), ("pair", wait.told), ("peer", str(wait.missing[0])), ("call", other.told)))
        for wait, other in found[:3]
    )
    ranks = tuple(sorted({wait.inside[0] for wait, _ in found}))
    wait, other = found[0]
    there = tuple(rank for rank in waiting if rank not in ranks)
    return Verdict(Kind.MISMATCH, ranks, there, other.told, user_line(wait.call.stack), _line_of(wait.missing, flights), reasons)


def _verdict(
    kind: Kind, ranks: tuple[int, ...], waiting: tuple[int, ...], wait: Wait, flights: Mapping[int, Flight], word: str, gone: Mapping[int, Wait]
) -> Verdict:
    values = (("ranks", ranks_told(ranks)), ("call", wait.told), ("inside", ranks_told(wait.inside)), ("count", str(len(wait.inside))))
    reasons = [Reason(word, values)]
    for rank in ranks[:3]:
        last = _last(flights.get(rank), wait.group)
        if kind is Kind.AWAY and last is not None:
            told = (("rank", str(rank)), ("number", str(last.number)), ("line", user_line(last.stack) or "?"))
            reasons.append(Reason("hang.last-call", told))
    if gone:
        reasons.append(Reason("hang.no-dump-either", (("ranks", ranks_told(tuple(gone))),)))
    return Verdict(kind, ranks, waiting, wait.told, "", user_line(wait.call.stack), tuple(reasons))


def _last(flight: Flight | None, group: str) -> Call | None:
    found = flight.groups.get(group) if flight else None
    return found.last if found else None


def _line_of(ranks: Sequence[int], flights: Mapping[int, Flight]) -> str:
    for rank in ranks:
        for group in flights[rank].groups.values():
            if group.open:
                return user_line(group.open[0].stack)
    return ""


_LIBRARY = ("/torch/", "/torch_npu/", "site-packages", "dist-packages", "/lib/python", "<frozen", "<string>")


def user_line(stack: Sequence[str]) -> str:
    """The innermost frame that is the user's own; of none, the innermost."""
    own = next((frame for frame in stack if not any(part in frame for part in _LIBRARY)), "")
    return own or (stack[0] if stack else "")
