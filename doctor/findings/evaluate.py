"""Hits to Findings: an entry whose whole condition holds among the signals of one scope."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from doctor.findings.attempts import Attempts
from doctor.read.source import hints, home
from doctor.scan.harvest import Harvest, Hit, Place
from kb.model import Condition, Entry
from parsers.named import NamedTuple
from parsers.parsed import seconds

FEW_FILES = 16  # somebody put them together to show one failure; more are the logs of a job
MAX_VALUES = 64  # distinct values kept of one capture


class Scope(NamedTuple):
    """Whose fault it is, as far as the lines say."""

    node: str | None
    rank: int | None
    device: int | None
    pid: int | None


class Instance(NamedTuple):
    """An entry's condition holding once: in one process, device, rank, stream or job."""

    scope: Scope
    hits: tuple[Hit, ...]
    captures: Mapping[str, str]
    every: Mapping[str, tuple[str, ...]]
    paths: frozenset[str]
    pids: frozenset[int]


class Apart(NamedTuple):
    """Why a finding is not of the failure's time: then it stands beside it and explains nothing."""

    why: str  # older | later | undated | unplaced: the failure's own lines have no time | state: of a card, beside what no card brings about | overcome: of a run before the last | quoted: a note tells it of a try before
    by: float = 0.0  # seconds, of what is older or later


class Finding(NamedTuple):
    """An entry that holds somewhere; all its instances together."""

    entry: Entry
    instances: tuple[Instance, ...]
    total: int
    exact: bool  # False: "at least" count
    apart: Apart | None = None

    @property
    def first(self) -> Place:
        return self.instances[0].hits[0].place

    @property
    def hits(self) -> tuple[Hit, ...]:
        return tuple(h for i in self.instances for h in i.hits)


class Entries(Protocol):
    """Whatever knows entries by their codes: all that is asked of knowledge here."""

    def entry(self, code: str) -> Entry | None: ...


def evaluate(harvest: Harvest, knowledge: Entries) -> tuple[Finding, ...]:
    """Every entry that holds, in the order of the codes."""
    by_entry: dict[str, list[Hit]] = {}
    for hit in harvest.hits:
        by_entry.setdefault(hit.entry, []).append(hit)
    aside: dict[str, list[Hit]] = {}
    for hit in harvest.aside if harvest.files <= FEW_FILES else ():
        aside.setdefault(hit.entry, []).append(hit)
    restarts = (c for c in by_entry if (e := knowledge.entry(c)) is not None and "restarts" in e.traits)
    attempts = Attempts(hit.place for code in restarts for hit in by_entry[code])
    found = []
    for code in sorted(by_entry):
        entry = knowledge.entry(code)
        if entry is None:  # a harvest of other knowledge
            continue
        groups = _groups(entry.same, by_entry[code])
        parts = (part for group in groups for part in (attempts.parts(group) if entry.same != "job" else (group,)))
        instances = _instances(entry, parts)
        if not instances and entry.same == "source" and harvest.files <= FEW_FILES and _one_failure(by_entry[code]):
            instances = _instances(entry, (by_entry[code],))
        elif instances and entry.also and entry.same == "source" and harvest.files <= FEW_FILES:
            instances = _told_beside(entry, instances, by_entry[code])
        if not instances and entry.same == "source" and code in aside:
            instances = _with_settings(entry, by_entry[code], aside[code])
        if instances and code in aside:
            more = _added(entry, aside[code])
            instances = [_with(one, more) for one in instances]
        if instances:
            instances.sort(key=lambda i: order(i.hits[0].place))
            if len(instances) > 1 and entry.also and harvest.files <= FEW_FILES and (entry.general or entry.role in ("symptom", "wrapper")):
                instances[0] = _told_once(entry, instances)
            used = {h.signal for i in instances for h in i.hits}
            counts = {s: harvest.counts.get(s, 0) for s in used}
            often, by = min((_often(part, code, counts) for part in entry.condition if _decides(part)), default=(0, ""))
            found.append(Finding(entry, tuple(instances), max(often, len(instances)), by not in harvest.capped))
    return tuple(found)


def _instances(entry: Entry, parts: Iterable[list[Hit]]) -> list[Instance]:
    return [made for part in parts if (made := _instance(entry, part)) is not None]


def _with_settings(entry: Entry, printed: list[Hit], aside: list[Hit]) -> list[Instance]:
    """An entry of which a part was printed, and the rest stands in a script or in settings: an error, and the option that it came of."""
    failed = [hit for hit in printed if hit.place.kind in ("traceback", "message", "kernel") or hit.place.level in ("error", "fatal", "critical")]
    whole = _instances(entry, ([*printed, *aside],)) if failed else ()
    return [one for one in whole if any(hit in failed for hit in one.hits)]


def _told_beside(entry: Entry, instances: list[Instance], hits: list[Hit]) -> list[Instance]:
    """The instances with what stands in files that hold no instance: a table of the network, a script, the records of another node.

    It decides nothing, so whose fault it is stays as the lines of the fault say; what these told themselves is told by them.
    """
    inside = {stream_of(h.place) for instance in instances for h in instance.hits}
    more = _added(entry, hits)
    if not more:
        return instances
    ranks = {h.place.pid: h.place.rank for h in hits if h.place.rank is not None}
    ranks.pop(None, None)
    whose = [(instance, instance.scope.pid, instance.scope.rank if instance.scope.rank is not None else ranks.get(instance.scope.pid)) for instance in instances]
    return [_with(one, [h for h in more if _may_be_of(h.place, pid, rank, inside)]) for one, pid, rank in whose]


def _told_once(entry: Entry, instances: list[Instance]) -> Instance:
    """The first instance of what only passes an error on, with what lies beneath it where another one tells that, and all that do agree.

    A console and a log of another run of the same are pasted side by side: the code above is one, and only the log says what it stands for.
    """
    first, *others = instances
    beneath = [hit for one in others for hit in _added(entry, one.hits) if not any(name in first.captures for name, _ in hit.captures)]
    values: dict[str, set[str]] = {}
    for name, value in (capture for hit in beneath for capture in hit.captures):
        values.setdefault(name, set()).add(value)
    agreed = [hit for hit in beneath if all(len(values[name]) == 1 for name, _ in hit.captures)]
    return _with(first, agreed[:1]) if agreed else first


def _added(entry: Entry, hits: Iterable[Hit]) -> list[Hit]:
    """Those of leaves that only add to what others decide."""
    leaves = {leaf for part in entry.also for leaf in leaves_of(part)} - {leaf for part in entry.condition for leaf in leaves_of(part)}
    return sorted((h for h in hits if int(h.signal.partition("/")[2]) in leaves), key=lambda h: order(h.place))


def _may_be_of(place: Place, pid: int | None, rank: int | None, inside: set[str]) -> bool:
    """What another rank or process says is not told of this one; nor is what stands beside a fault of its own, if no rank is told."""
    if stream_of(place) in inside and (place.rank is None or place.rank != rank):
        return False
    return all(None in (mine, told) or mine == told for mine, told in ((rank, place.rank), (pid, place.pid)))


def _with(instance: Instance, more: list[Hit]) -> Instance:
    captures, every = dict(instance.captures), dict(instance.every)
    more = [hit for hit in more if hit not in instance.hits]
    for name, value in (c for hit in more for c in hit.captures):
        captures.setdefault(name, value)
        if name not in instance.captures and value not in (known := every.get(name, ())) and len(known) < MAX_VALUES:
            every[name] = (*known, value)
    return instance._replace(captures=captures, every=every, hits=(*instance.hits, *more))


def leaves_of(condition: Condition) -> tuple[int, ...]:
    return (condition,) if isinstance(condition, int) else tuple(leaf for member in condition[1] for leaf in leaves_of(member))


def _one_failure(hits: list[Hit]) -> bool:
    """Did somebody put pieces of one failure into files of their own: a console, a list of packages, records of the machine?"""
    return len({stream_of(h.place) for h in hits}) > 1 and len({h.place.rank for h in hits if h.place.rank is not None}) < 2


def _decides(condition: Condition) -> bool:
    return isinstance(condition, int) or condition[0] != "not"


def _often(condition: Condition, code: str, counts: Mapping[str, int]) -> tuple[int, str]:
    """How often a part of a condition was seen, and the signal that tells: of all that is needed, the rarest counts.

    A name that stands beside every fault, and a thousand times elsewhere, makes no fault of its mentions.
    """
    if isinstance(condition, int):
        signal = f"{code}/{condition}"
        return counts.get(signal, 0), signal
    how, members = condition
    parts = [_often(member, code, counts) for member in members if _decides(member)]
    if how == "all":
        return min(parts, default=(0, ""))
    return max(parts, default=(0, ""))


def order(place: Place) -> tuple[str, str, int]:
    """Time first where there is one; then where it stands."""
    return (place.time or "~", place.path, place.line)


def stream_of(place: Place) -> str:
    """Files of one process are one stream; any other file is a stream of its own."""
    told = hints(place.path)
    if told.pid is None:
        return place.path
    return f"{told.node or home(place.path)}/pid {told.pid}"  # nodes have the same pids: without a host, the folder tells


_KEYS: Mapping[str, Callable[[Place], object]] = {
    "source": stream_of,
    "process": lambda p: (p.node, p.pid) if p.pid is not None else None,
    "rank": lambda p: p.rank,
    "device": lambda p: (p.node, p.device) if p.device is not None else None,
    "node": lambda p: p.node,
    "job": lambda _: "job",
}


def _groups(same: str, hits: list[Hit]) -> Iterable[list[Hit]]:
    """Hits by scope. Those that do not say their scope join every group of their file, or form one of their own."""
    key = _KEYS[same]
    named: dict[object, list[Hit]] = {}
    floating: dict[str, list[Hit]] = {}
    for hit in hits:
        owner = key(hit.place)
        if owner is None:
            floating.setdefault(hit.place.path, []).append(hit)
        else:
            named.setdefault(owner, []).append(hit)
    joined: set[str] = set()
    for group in named.values():
        paths = {h.place.path for h in group}
        for path in paths & floating.keys():
            group.extend(floating[path])
            joined.add(path)
    yield from named.values()
    yield from (group for path, group in floating.items() if path not in joined)


def _instance(entry: Entry, hits: list[Hit]) -> Instance | None:
    hits = sorted(hits, key=lambda h: order(h.place))
    if entry.within_s is None:
        return _held(entry, hits)
    timed = [h for h in hits if h.place.time]
    timeless = [h for h in hits if not h.place.time]
    if not timed:
        return _held(entry, hits)
    for start in timed:
        begin = seconds(start.place.time or "")
        near = [h for h in timed if 0 <= seconds(h.place.time or "") - begin <= entry.within_s]
        if held := _held(entry, timeless + near):
            return held
    return None


def _held(entry: Entry, hits: list[Hit]) -> Instance | None:
    by_leaf: dict[int, list[Hit]] = {}
    for hit in hits:
        by_leaf.setdefault(int(hit.signal.partition("/")[2]), []).append(hit)
    used: list[int] = []
    for part in entry.condition:
        more = _leaves(part, by_leaf)
        if more is None:
            return None
        used += more
    for part in entry.also:
        used += _leaves(part, by_leaf) or []
    kept = [h for leaf in dict.fromkeys(used) for h in by_leaf[leaf]]
    if not kept:
        return None
    captures: dict[str, str] = {}
    every: dict[str, dict[str, None]] = {}
    for hit in kept:
        for name, value in hit.captures:
            captures.setdefault(name, value)
            values = every.setdefault(name, {})
            if len(values) < MAX_VALUES:
                values[value] = None
    decide = {leaf for part in entry.condition for leaf in leaves_of(part)}
    kept.sort(key=lambda h: (int(h.signal.partition("/")[2]) not in decide, order(h.place)))  # when it failed, and where, those tell that decide
    return Instance(
        _scope(kept),
        tuple(kept),
        captures,
        {k: tuple(v) for k, v in every.items()},
        frozenset(h.place.path for h in kept),
        frozenset(h.place.pid for h in kept if h.place.pid is not None),
    )


def _scope(hits: list[Hit]) -> Scope:
    def told(values: Iterable[object]) -> object:
        return next((v for v in values if v is not None), None)

    places = [h.place for h in hits]
    return Scope(
        told(p.node for p in places),  # type: ignore[arg-type]
        told(p.rank for p in places),  # type: ignore[arg-type]
        told(p.device for p in places),  # type: ignore[arg-type]
        told(p.pid for p in places),  # type: ignore[arg-type]
    )


def _leaves(condition: Condition, hits: Mapping[int, list[Hit]]) -> list[int] | None:
    """The leaves by which a condition holds; None when it does not. `any` takes every member that holds."""
    if isinstance(condition, int):
        return [condition] if condition in hits else None
    how, members = condition
    if how == "not":
        return None if any(_leaves(m, hits) is not None for m in members) else []
    results = [_leaves(m, hits) for m in members]
    if how == "all":
        return None if None in results else [leaf for r in results for leaf in r or ()]
    held = [r for r in results if r is not None]
    return [leaf for r in held for leaf in r] if held else None
