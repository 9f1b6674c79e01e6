"""What scanning yields: small, mergeable, serialisable. The seam between one file, many processes and many nodes.

`merge` is associative and free of order: everything in a Harvest is a bag that is sorted when it is read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import groupby, product
from operator import attrgetter
from pathlib import Path
from typing import Any

from doctor.read.source import Skipped
from doctor.scan.packed import Rows
from doctor.scan.situation import Said, joined
from parsers.lazy import lazy
from parsers.named import NamedTuple


class Place(NamedTuple):
    """Where a line stands and whom it belongs to. `None`: the log does not say."""

    path: str
    line: int
    end_line: int
    time: str | None
    level: str | None
    module: str | None
    kind: str
    node: str | None
    pid: int | None
    rank: int | None
    device: int | None
    worker: str | None
    text: str

    @property
    def spot(self) -> tuple[str, int, str]:
        """What tells one line from another: a record of a JSON log holds several on one line of the file."""
        own = self.text
        if own.startswith('  File "'):  # an exception is shown with the frame that raised it
            own = next((line for line in own.split("\n") if not line.startswith("  ")), own)
        return self.path, self.line, own.partition("\n")[0]


class Hit(NamedTuple):
    """One leaf of one entry seen in one line."""

    signal: str
    place: Place
    captures: tuple[tuple[str, str], ...]

    @property
    def entry(self) -> str:
        return self.signal.partition("/")[0]


class Cluster(NamedTuple):
    """Error lines that no signal claimed, folded by their shape."""

    template: str
    total: int
    first: Place
    codes: tuple[str, ...]


class Span(NamedTuple):
    """From when to when a source tells something, and of which process: who stopped speaking, and when."""

    path: str
    first: str | None
    last: str | None
    pid: int | None  # SEVERAL: of more than one


class Absent(NamedTuple):
    """A node that was asked and gave nothing, or not all: how it ended, and why."""

    node: str
    state: str
    reason: str


class Dump(NamedTuple):
    """What a dump of a process says (stacks, a Flight Recorder, memory), as text that the room it is for can read."""

    kind: str  # of doctor.read.dumps
    path: str
    node: str | None
    rank: int | None
    pid: int | None
    told: str


class Caller(NamedTuple):
    """Who made the call that an exception came out of: the last place above the framework that refused it."""

    path: str  # the log
    line: int  # of the exception in it
    package: str  # of the code; "": the user's own
    place: str  # where it stands: file:line
    code: str  # the line of source, where it was printed
    way: str = ""  # names in the frames of a serving engine that it passed, innermost first


SEVERAL = -1
VERDICTS = "job"  # the table of which the verdicts about a job are rows
STACK = "stack"  # the table of which what cannot go together is a row
CONCLUDED = frozenset({VERDICTS, STACK, "hang", "memory"})  # tables whose rows are concluded, not read: made anew each time
RANK_TABLE = "fact:rank-table/0"  # the only fact that stands in no single line


class Harvest(NamedTuple):
    """All that was learned from some sources."""

    hits: tuple[Hit, ...] = ()
    counts: Mapping[str, int] = {}
    clusters: tuple[Cluster, ...] = ()
    kinds: Mapping[str, int] = {}
    skipped: tuple[Skipped, ...] = ()
    files: int = 0
    size: int = 0
    lines: int = 0
    errors: int = 0  # error lines that no signal claimed
    capped: tuple[str, ...] = ()  # signals whose hits were no longer kept one by one
    facts: Sequence[Hit] = ()  # what tells about the job as a whole: its signals are called "fact:..."
    spans: Sequence[Span] = ()
    situation: tuple[Said, ...] = ()
    machine: str = ""  # where it was read: says nothing by itself, but equal ones are of one machine; "": of several
    absent: tuple[Absent, ...] = ()
    dumps: tuple[Dump, ...] = ()
    callers: tuple[Caller, ...] = ()
    aside: tuple[Hit, ...] = ()  # in source code and settings: it adds to what a log tells, and decides nothing

    def json(self) -> dict[str, Any]:
        return {**self._asdict(), "facts": tuple(self.facts), "spans": tuple(self.spans)}


def from_json(row: Mapping[str, Any]) -> Harvest:
    """The inverse of `Harvest.json` after a trip through JSON."""
    known: dict[Any, Any] = {}  # paths, workers and texts repeat: one object for each keeps large jobs small
    share = known.setdefault
    times: set[Any] = set()
    leaves: set[Any] = set()

    def word(value: Any) -> str:
        if type(value) is not str:
            raise TypeError(f"a text was expected, not {value!r:.80}")
        text: str = share(value, value)
        return text

    def place(values: list[Any]) -> Place:
        if tuple(map(type, values)) not in _KINDS:
            raise TypeError(f"no place: {values!r:.200}")
        path, line, end, time, level, module, kind, node, pid, rank, device, worker, text = values
        if time not in times:
            if not _is_time(time):
                raise TypeError(f"no place: {values!r:.200}")
            times.add(time)
        for one in (line, end, pid, rank, device):
            if one is not None and not -_FAR < one < _FAR:
                raise TypeError(f"no place: {values!r:.200}")
        return Place(
            share(path, path), line, end, share(time, time), share(level, level), share(module, module), share(kind, kind), share(node, node),
            pid, rank, device, share(worker, worker), share(text, text),
        )  # fmt: skip

    def leaf(value: Any) -> str:
        """`HCL012/0`: an entry and the number of one of its leaves."""
        if value not in leaves:
            number = word(value).partition("/")[2]
            if not (number.isascii() and number.isdecimal() and len(number) < 9):
                raise TypeError(f"no leaf of an entry: {value!r:.80}")
            leaves.add(value)
        return word(value)

    def hits(rows: list[Any], signal: Callable[[Any], str] = word) -> tuple[Hit, ...]:
        return tuple([Hit(signal(s), place(p), tuple([(word(k), word(v)) for k, v in c])) for s, p, c in rows])

    def span(path: Any, first: Any, last: Any, pid: Any) -> Span:
        if not (_is_time(first) and _is_time(last) and _is_number(pid)):
            raise TypeError("no span")
        return Span(word(path), first, last, pid)

    def dump(kind: Any, path: Any, node: Any, rank: Any, pid: Any, told: Any) -> Dump:
        if not (type(node) in _MAYBE and _is_number(rank) and _is_number(pid)):
            raise TypeError("no dump")
        return Dump(word(kind), word(path), node, rank, pid, word(told))

    def caller(path: Any, line: Any, package: Any, where: Any, code: Any, way: Any = "") -> Caller:
        if line is None or not _is_number(line):
            raise TypeError("no caller")
        return Caller(word(path), line, word(package), word(where), word(code), word(way))

    return Harvest(
        hits=hits(row["hits"], leaf),
        counts={word(k): number(n) for k, n in row["counts"].items()},
        clusters=tuple(Cluster(word(t), number(n), place(p), tuple(map(word, c))) for t, n, p, c in row["clusters"]),
        kinds={word(k): number(n) for k, n in row["kinds"].items()},
        skipped=tuple(Skipped(word(p), word(r)) for p, r in row["skipped"]),
        files=number(row["files"]),
        size=number(row["size"]),
        lines=number(row["lines"]),
        errors=number(row["errors"]),
        capped=tuple(map(word, row["capped"])),
        facts=hits(row.get("facts", ())),
        spans=tuple(span(*s) for s in row.get("spans", ())),
        situation=tuple(Said(word(f), word(v), word(p), number(n)) for f, v, p, n in row.get("situation", ())),
        machine=word(row.get("machine", "")),
        absent=tuple(Absent(word(n), word(s), word(r)) for n, s, r in row.get("absent", ())),
        dumps=tuple(dump(*d) for d in row.get("dumps", ())),
        callers=tuple(caller(*c) for c in row.get("callers", ())),
        aside=hits(row.get("aside", ()), leaf),
    )


_TEXT, _MAYBE, _COUNT, _MAYBE_COUNT = (str,), (str, type(None)), (int,), (int, type(None))
_PLACE = (_TEXT, _COUNT, _COUNT, _MAYBE, _MAYBE, _MAYBE, _TEXT, _MAYBE, _MAYBE_COUNT, _MAYBE_COUNT, _MAYBE_COUNT, _MAYBE, _TEXT)
_KINDS = frozenset(product(*_PLACE))  # of which types the fields of a place may be
_FAR = 1 << 62
_TIME = lazy(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}")


def number(value: Any) -> int:
    """A count from outside."""
    if type(value) is not int or not 0 <= value < _FAR:
        raise TypeError(f"a count was expected, not {value!r:.80}")
    return value


def _is_time(value: Any) -> bool:
    return value is None or (type(value) is str and _TIME.fullmatch(value) is not None)


def _is_number(value: Any) -> bool:
    return value is None or (type(value) is int and -_FAR < value < _FAR)


def this_machine() -> str:
    """A mark of the running system and, in a container, of the container. Nobody can tell from it which one it is."""
    parts = [os.uname().nodename]
    try:
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))
        parts.append(os.readlink("/proc/self/ns/mnt"))
    except OSError:
        return ""
    from hashlib import blake2s

    return blake2s("\n".join(parts).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


class Merging:
    """Harvests that become one: free of order, and of their grouping. `packs`: they are of so many files that what they tell is packed."""

    def __init__(self, packs: bool = False) -> None:
        self._hits: list[Hit] = []
        self._facts = Rows(_spot, _settled, packs)
        self._counts: dict[str, int] = {}
        self._kinds: dict[str, int] = {}
        self._clusters: dict[str, Cluster] = {}
        self._skipped: set[Skipped] = set()
        self._capped: set[str] = set()
        self._spans = Rows(attrgetter("path"), _widened, packs)
        self._machines: set[str] = set()
        self._situation: tuple[Said, ...] = ()
        self._absent: set[Absent] = set()
        self._dumps: set[Dump] = set()
        self._callers: set[Caller] = set()
        self._aside: list[Hit] = []
        self._files = self._size = self._lines = self._errors = 0

    def add(self, one: Harvest) -> None:
        self._hits += one.hits
        self._facts.add(one.facts)
        self._spans.add(one.spans)
        self._skipped.update(one.skipped)
        self._capped.update(one.capped)
        self._machines.add(one.machine)
        self._absent.update(one.absent)
        self._dumps.update(one.dumps)
        self._callers.update(one.callers)
        self._aside += one.aside
        if one.situation:
            self._situation = joined((*self._situation, *one.situation))
        self._files, self._size = self._files + one.files, self._size + one.size
        self._lines, self._errors = self._lines + one.lines, self._errors + one.errors
        for table, more in ((self._counts, one.counts), (self._kinds, one.kinds)):
            for key, number in more.items():
                table[key] = table.get(key, 0) + number
        for cluster in one.clusters:
            alike = self._clusters.get(cluster.template)
            self._clusters[cluster.template] = _join(alike, cluster) if alike else cluster

    def result(self) -> Harvest:
        return Harvest(
            tuple(_settled(sorted(self._hits, key=_spot))),
            dict(sorted(self._counts.items())),
            tuple(sorted(self._clusters.values(), key=lambda c: c.template)),
            dict(sorted(self._kinds.items())),
            tuple(sorted(self._skipped)),
            self._files,
            self._size,
            self._lines,
            self._errors,
            tuple(sorted(self._capped)),
            self._facts.result(),
            self._spans.result(),
            self._situation,
            next(iter(self._machines)) if len(self._machines) == 1 else "",
            tuple(sorted(self._absent)),
            tuple(sorted(self._dumps, key=lambda d: (d.path, d.kind, d.told))),
            tuple(sorted(self._callers)),
            tuple(_settled(sorted(self._aside, key=_spot))),
        )


def merge(harvests: Iterable[Harvest]) -> Harvest:
    """One harvest of many, the same whatever their order and grouping."""
    merging = Merging()
    for one in harvests:
        merging.add(one)
    return merging.result()


def shift(harvest: Harvest, lines: int) -> Harvest:
    """The harvest of a range of a file, its line numbers counted from the beginning of the file."""
    return numbered(harvest, lines.__add__) if lines else harvest


def numbered(harvest: Harvest, number: Callable[[int], int]) -> Harvest:
    """The harvest with other line numbers."""

    def moved(place: Place) -> Place:
        return place._replace(line=number(place.line), end_line=number(place.end_line))

    return harvest._replace(
        hits=tuple(h._replace(place=moved(h.place)) for h in harvest.hits),
        clusters=tuple(c._replace(first=moved(c.first)) for c in harvest.clusters),
        facts=tuple(h._replace(place=moved(h.place)) for h in harvest.facts),
        callers=tuple(c._replace(line=number(c.line)) for c in harvest.callers),
    )


def _join(a: Cluster, b: Cluster) -> Cluster:
    first = min((a, b), key=lambda c: _place_order(c.first))
    return Cluster(a.template, a.total + b.total, first.first, tuple(sorted({*a.codes, *b.codes})))


def _widen(a: Span, b: Span) -> Span:
    """Both together: also when they are two ranges of one file, or two nodes that call a file the same."""
    first = min((t for t in (a.first, b.first) if t), default=None)
    last = max((t for t in (a.last, b.last) if t), default=None)
    pid = a.pid if b.pid in (None, a.pid) else b.pid if a.pid is None else SEVERAL
    return Span(a.path, first, last, pid)


def _place_order(place: Place) -> tuple[Any, ...]:
    """A total order: places that differ anywhere never change places with each other."""
    told = tuple((value is not None, value if value is not None else 0) for value in (place.pid, place.rank, place.device))
    words = (place.time, place.node, place.worker, place.level, place.module, place.kind, place.text)
    return (place.path, place.line, place.end_line, tuple(word or "" for word in words), told)


def _widened(spans: Iterable[Span]) -> Iterator[Span]:
    """Sorted spans, those of one source together."""
    for _, alike in groupby(spans, key=attrgetter("path")):
        yield reduce(_widen, alike)


def _settled(hits: Iterable[Hit]) -> Iterator[Hit]:
    """Hits that are sorted by where they stand, and the few of one line by more that they tell: working all of that out for each would cost most of merging."""
    for _, alike in groupby(hits, key=_spot):
        together = list(alike)
        if len(together) == 1:
            yield together[0]
            continue
        for _, same in groupby(sorted(together, key=_told), key=_told):
            rest = list(same)
            yield from sorted(rest, key=lambda hit: _place_order(hit.place)) if len(rest) > 1 else rest


def _spot(hit: Hit) -> tuple[str, int]:
    return hit.place.path, hit.place.line


def _told(hit: Hit) -> tuple[Any, ...]:
    return hit.signal, hit.captures, hit.place.text
