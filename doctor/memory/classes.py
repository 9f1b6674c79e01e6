"""Twelve ways in which a device's memory goes: the first rule that holds names it, and which places in the code to look at.

The order is from what is measured to what is concluded: memory that is not this process's, memory that nobody can use, memory of
one purpose, growth, and in the end a program that is simply too large.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from itertools import pairwise

from doctor.memory.evidence import Evidence
from parsers.named import NamedTuple
from parsers.snapshot import UNKNOWN, Holder, Snapshot

SMALL = 64 << 20  # a snapshot in which less is reserved is of no program that has run
RUNTIME = 2 << 30  # what the runtime, kernels and a few communicators hold outside the allocator
NAMED = 3
WINDOWS = 8  # parts of the curve that are compared


class Kind(Enum):
    """What took the memory."""

    OTHER_PROCESS = "other-process"
    HCCL = "hccl-buffers"
    PENDING = "other-streams"
    FRAGMENTED = "fragmentation"
    GRAPHS = "graph-pools"
    WORKSPACE = "workspace"
    LEAK = "leak"
    HUGE = "huge-request"
    KV_CACHE = "kv-cache"
    OPTIMIZER = "optimizer-states"
    PEAK = "step-peak"
    RESIDENT = "too-large"
    EVEN = "even"


class Found(NamedTuple):
    """What a rule says: the bytes that it is about, and who holds them, the largest first."""

    kind: Kind
    size: int
    of: int
    holders: tuple[tuple[Holder, int], ...]  # with the bytes that count here


class Case(NamedTuple):
    """One snapshot, or one log, and what is said of it."""

    path: str
    evidence: Evidence
    found: Found


def judge(evidence: Evidence) -> Found:
    """The first rule that holds."""
    for rule in RULES:
        found = rule(evidence)
        if found is not None:
            return found
    snapshot = evidence.snapshot
    return Found(Kind.EVEN, 0, snapshot.reserved if snapshot else 0, _named(snapshot, lambda h: h.held) if snapshot else ())


def _named(snapshot: Snapshot, size: Callable[[Holder], int]) -> tuple[tuple[Holder, int], ...]:
    rows = sorted(((holder, size(holder)) for holder in snapshot.holders), key=lambda row: (row[1] <= 0, row[0].site.place == UNKNOWN, -row[1]))
    return tuple(row for row in rows if row[1] > 0)


def _hccl(evidence: Evidence) -> Found | None:
    held = sum(size for name, size in evidence.components.items() if "HCCL" in name.upper() or "HCOM" in name.upper())
    snapshot, said = evidence.snapshot, evidence.figures
    of = max(said.capacity if said else 0, snapshot.reserved + held if snapshot else 0)
    if of and held >= max(RUNTIME, of // 10):
        return Found(Kind.HCCL, held, of, ())
    if snapshot is None or snapshot.reserved < SMALL:
        return None
    rows = _named(snapshot, lambda h: h.held if h.site.topic == "hccl" else 0)
    size = sum(held for _, held in rows)
    return Found(Kind.HCCL, size, snapshot.reserved, rows) if size >= snapshot.reserved * 0.2 else None


def _other_process(evidence: Evidence) -> Found | None:
    said = evidence.figures
    if said is None or not said.outside:
        return None
    own = sum(evidence.components.values())
    outside = said.outside - (max(0, own - (said.reserved or 0)) if own else RUNTIME)
    return Found(Kind.OTHER_PROCESS, outside, said.capacity, ()) if outside >= said.capacity * 0.12 else None


def _pending(evidence: Evidence) -> Found | None:
    s = evidence.snapshot
    if s is None or s.reserved < SMALL or s.pending < s.reserved * 0.2:
        return None
    return Found(Kind.PENDING, s.pending, s.reserved, _named(s, lambda h: h.pending))


def _fragmented(evidence: Evidence) -> Found | None:
    s, said = evidence.snapshot, evidence.figures
    if s is None:
        if said is None or not said.reserved or said.reserved - said.allocated < max(said.tried, said.reserved * 0.15):
            return None
        return Found(Kind.FRAGMENTED, said.reserved - said.allocated, said.reserved, ())
    if s.reserved < SMALL:
        return None
    idle = s.split + s.cached
    asked = s.failed.size if s.failed else said.tried if said else 0
    unusable = asked and asked > s.largest_free and idle >= max(asked, s.reserved * 0.15)
    if unusable or (not asked and s.split >= s.reserved * 0.35 and s.largest_free < s.split * 0.25):
        return Found(Kind.FRAGMENTED, idle, s.reserved, _named(s, lambda h: h.beside))
    return None


def _graphs(evidence: Evidence) -> Found | None:
    s = evidence.snapshot
    if s is None or s.reserved < SMALL or s.pooled < s.reserved * 0.3:
        return None
    return Found(Kind.GRAPHS, s.pooled, s.reserved, _named(s, lambda h: h.pooled))


def _topic(kind: Kind, topic: str, share: float) -> Callable[[Evidence], Found | None]:
    def rule(evidence: Evidence) -> Found | None:
        s = evidence.snapshot
        if s is None or s.reserved < SMALL:
            return None
        rows = _named(s, lambda h: max(h.held, h.at_peak) if h.site.topic == topic else 0)
        size = sum(held for _, held in rows)
        return Found(kind, size, s.reserved, rows) if size >= s.reserved * share else None

    return rule


def floors(curve: tuple[int, ...]) -> tuple[int, ...]:
    """The least of each part of a curve: what comes and goes in a step is not in it."""
    if len(curve) < 2 * WINDOWS:
        return ()
    edges = [len(curve) * n // WINDOWS for n in range(WINDOWS + 1)]
    return tuple(min(curve[a:b]) for a, b in pairwise(edges))


def growth(curve: tuple[int, ...]) -> int:
    """By how much the floor of a curve rises from its second part on, when it rises in nearly every part; else 0."""
    low = floors(curve)[1:]
    if not low:
        return 0
    steps = [b - a for a, b in pairwise(low)]
    rising = sum(step > 0 for step in steps)
    gained = low[-1] - low[0]
    return gained if gained > 0 and rising >= len(steps) - 1 and max(steps) <= gained * 0.6 else 0


def _leak(evidence: Evidence) -> Found | None:
    s = evidence.snapshot
    if s is None or s.reserved < SMALL:
        return None
    rows = _named(s, lambda h: growth(h.curve))
    size = sum(gained for _, gained in rows)
    return Found(Kind.LEAK, size, s.reserved, rows) if size >= s.reserved * 0.08 and growth(s.curve) else None


def _huge(evidence: Evidence) -> Found | None:
    s, said = evidence.snapshot, evidence.figures
    if s is not None and s.failed is not None and s.failed.size >= max(SMALL, (s.reserved + s.failed.size) * 0.25):
        site = s.failed.site
        here = next((h for h in s.holders if h.site == site), Holder(site, 0, 0, 0, ()))
        rest = tuple(row for row in _named(s, lambda h: h.held) if row[0].site != site)
        return Found(Kind.HUGE, s.failed.size, s.reserved + s.failed.size, ((here, s.failed.size), *rest))
    if s is None and said is not None and said.capacity and said.tried >= said.capacity * 0.25:
        return Found(Kind.HUGE, said.tried, said.capacity, ())
    return None


def _peak(evidence: Evidence) -> Found | None:
    s = evidence.snapshot
    low = floors(s.curve)[1:] if s is not None else ()
    if s is None or s.reserved < SMALL or not low:
        return None
    base = sorted(low)[len(low) // 2]
    before = max(0, s.allocated + s.pending - (s.curve[-1] if s.curve else 0))  # lived before the trace began
    rise = s.traced_peak - base
    if rise < (base + before + rise) * 0.3:
        return None
    rows = _named(s, lambda h: h.at_peak - (sorted(floors(h.curve)[1:])[(WINDOWS - 1) // 2] if floors(h.curve) else 0))
    return Found(Kind.PEAK, rise, before + s.traced_peak, rows)


def _resident(evidence: Evidence) -> Found | None:
    s, said = evidence.snapshot, evidence.figures
    if s is None:
        if said is None or not said.capacity or said.allocated < said.capacity * 0.7:
            return None
        return Found(Kind.RESIDENT, said.allocated, said.capacity, ())
    if s.failed is None or s.reserved < SMALL or s.allocated < s.reserved * 0.6:
        return None
    return Found(Kind.RESIDENT, s.allocated, s.reserved, _named(s, lambda h: h.held))


RULES: tuple[Callable[[Evidence], Found | None], ...] = (
    _hccl,
    _other_process,
    _pending,
    _fragmented,
    _graphs,
    _topic(Kind.WORKSPACE, "workspace", 0.2),
    _leak,
    _huge,
    _topic(Kind.KV_CACHE, "kv-cache", 0.4),
    _topic(Kind.OPTIMIZER, "optimizer", 0.3),
    _peak,
    _resident,
)
