"""The stacks of several processes side by side: who waits, who does not, and what that one does instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter

from doctor.hang.doing import WAITING, Activity, Doing
from doctor.hang.verdict import Kind, Reason, Verdict, ranks_told

_KINDS: Mapping[Activity, Kind] = {
    Activity.INPUT: Kind.INPUT,
    Activity.COMPILE: Kind.COMPILE,
    Activity.CHECKPOINT: Kind.CHECKPOINT,
    Activity.EVALUATION: Kind.EVALUATION,
    Activity.LOCK: Kind.LOCK,
    Activity.SYNCHRONIZE: Kind.DEVICE,
    Activity.CODE: Kind.STUCK,
}
_OF_TWO = frozenset({"send", "recv", "isend", "irecv", "batch_isend_irecv"})


def decide(found: Sequence[Doing], world: int | None = None) -> Verdict:
    """The verdict of the stacks alone; `world`: of how many ranks all should be here."""
    stopped = [one for one in found if one.stacks.state in ("T", "t")]
    dead = [one for one in found if one.stacks.state in ("gone", "Z", "X") or _crashed(one)]
    alive = [one for one in found if one not in stopped and one not in dead]
    waiting = [one for one in alive if one.activity in WAITING]
    others = [one for one in alive if one.activity not in WAITING]
    missing = _missing(found, world)
    if stopped:
        return _of(Kind.STOPPED, stopped, waiting, "hang.stopped")
    if dead:
        return _of(Kind.DEAD, dead, waiting, "hang.ended", missing)  # who is gone no longer says which rank it was
    if missing:
        made = _of(Kind.DEAD, [], waiting, "hang.not-there", missing)
        return made._replace(ranks=missing) if waiting else made._replace(kind=Kind.DEAD, ranks=missing)
    if waiting and any(one.stacks.moved and one.activity is Activity.COLLECTIVE for one in waiting):
        return Verdict(Kind.NONE, reasons=(Reason("hang.calls-move", (("count", str(len(waiting))),)),))
    if waiting and others:
        return _outliers(others, waiting)
    if waiting:
        return _all_wait(waiting)
    return _nobody_waits(others)


def _crashed(one: Doing) -> bool:
    return bool(one.stacks.fatal) and not one.stacks.fatal[:1].isdigit()


def _missing(found: Sequence[Doing], world: int | None) -> tuple[int, ...]:
    alive = [one for one in found if one.rank is not None or one.stacks.state not in ("gone", "Z", "X")]
    ranks = {one.rank for one in alive if one.rank is not None}
    if not world or not ranks or len(ranks) < len(alive):
        return ()
    return tuple(rank for rank in range(world) if rank not in ranks)


def _outliers(others: Sequence[Doing], waiting: Sequence[Doing]) -> Verdict:
    """Those who do not wait; of several, the ones that stand still are the cause before those that move on."""
    by_kind: dict[Kind, list[Doing]] = {}
    for one in others:
        by_kind.setdefault(_kind(one), []).append(one)
    order = (Kind.LOCK, Kind.STUCK, Kind.DEVICE, Kind.INPUT, Kind.CHECKPOINT, Kind.COMPILE, Kind.EVALUATION, Kind.BUSY)
    kind = min(by_kind, key=order.index)
    return _of(kind, by_kind[kind], waiting, f"hang.does-{kind.value}")


def _kind(one: Doing) -> Kind:
    kind = _KINDS[one.activity]
    moves = one.stacks.moved is True or (one.stacks.moved is None and one.active is True)
    return Kind.BUSY if kind is Kind.STUCK and one.active is True and moves else kind


def _all_wait(waiting: Sequence[Doing]) -> Verdict:
    """All wait: in different calls, in different lines, or all in the same."""
    if all(one.activity is Activity.STORE for one in waiting):
        return _of(Kind.STORE, [], waiting, "hang.all-in-store")
    pairs = [one for one in waiting if one.call in _OF_TWO]
    if pairs and 2 * len(pairs) <= len(waiting):  # who talks to one other rank is odd beside those who talk to all, however few these are
        return _of(Kind.MISMATCH, pairs, [one for one in waiting if one not in pairs], "hang.other-call")
    for told, word in ((attrgetter("call"), "hang.other-call"), (attrgetter("line"), "hang.other-line")):
        fewer = _fewer(waiting, told)
        if fewer:
            rest = [one for one in waiting if one not in fewer]
            return _of(Kind.MISMATCH, fewer, rest, word)
    return _of(Kind.TRANSPORT, [], waiting, "hang.same-call")


def _fewer(found: Sequence[Doing], told: Callable[[Doing], str]) -> list[Doing]:
    """Those that differ from most; of two halves, those without rank 0."""
    kinds = Counter(told(one) for one in found)
    if len(kinds) < 2:
        return []
    first = told(min(found, key=lambda one: one.rank if one.rank is not None else 1 << 30))
    usual = max(kinds, key=lambda kind: (kinds[kind], kind == first))
    return [one for one in found if told(one) != usual]


def _nobody_waits(found: Sequence[Doing]) -> Verdict:
    if not found:
        return Verdict(Kind.UNKNOWN)
    kinds = Counter(_kind(one) for one in found)
    kind, number = kinds.most_common(1)[0]
    if kind in (Kind.COMPILE, Kind.CHECKPOINT, Kind.EVALUATION) or (kind is Kind.INPUT and number == len(found)):
        return _of(kind, [one for one in found if _kind(one) is kind], [], f"hang.does-{kind.value}")
    still = [one for one in found if _kind(one) in (Kind.LOCK, Kind.DEVICE)]
    if still and len(still) == len(found):
        kind = _kind(still[0])
        return _of(kind, still, [], f"hang.does-{kind.value}")
    return Verdict(Kind.NONE, reasons=(Reason("hang.nobody-waits", (("count", str(len(found))),)),))


def _of(kind: Kind, culprits: Sequence[Doing], waiting: Sequence[Doing], word: str, missing: tuple[int, ...] = ()) -> Verdict:
    ranks = tuple(sorted(one.rank for one in culprits if one.rank is not None)) or missing
    line = culprits[0].line if culprits else ""
    other = Counter(one.line for one in waiting).most_common(1)
    call = Counter(one.call for one in waiting).most_common(1)
    values = (
        ("ranks", ranks_told(ranks) or _pids(culprits) or "?"), ("line", line or "?"), ("call", call[0][0] if call else "?"),
        ("theirs", culprits[0].call if culprits else "?"), ("count", str(len(waiting))), ("other_line", other[0][0] if other else "?"),
    )  # fmt: skip
    return Verdict(
        kind, ranks, tuple(sorted(one.rank for one in waiting if one.rank is not None)), call[0][0] if call else "", line,
        other[0][0] if other else "", (Reason(word, values),),
    )  # fmt: skip


def _pids(found: Sequence[Doing]) -> str:
    return ", ".join(f"pid {one.pid}" for one in found[:8] if one.pid is not None)
