"""One log that grows: what was written since the last look is scanned, and its findings are kept.

The end of a log is scanned again with every growth, so that a signature whose lines are written one after the other is
found as if the file had been whole from the beginning; what stands well before the end is settled and never read again.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from doctor.read.source import Source
from doctor.scan.clusters import FURTHER
from doctor.scan.floods import KEEP, KEEP_OF_OWNER, MAX_SHAPES
from doctor.scan.harvest import Cluster, Harvest, Hit, merge, shift
from doctor.scan.raised import MAX_SHAPES as MAX_CALLERS
from doctor.scan.scanner import Scanner

SETTLE = 256 << 10  # with so much behind the settled part, more of it is settled
KEEP_OPEN = 64 << 10  # bytes at the end that are scanned again: as far as signatures reach
BLOCK = 64 << 10
ENDS = 4 << 10  # bytes at beginning and end by which a file is known again


class Tail:
    """A file followed by its identity: it may be renamed, it may shrink and begin anew."""

    def __init__(self, source: Source, path: str, begin: int = 0, identity: tuple[int, int] | None = None) -> None:
        self.source, self.path, self._identity = source, path, identity
        self.size = self._settled = begin
        self._lines = self._count_lines(begin)
        self._before: list[Harvest] = []  # of the file before it was emptied
        self._done = Harvest(files=1)
        self._open = Harvest()
        self._rest = False  # the last line has no line break yet
        self._changed = -1  # when it was written last, as far as it was read
        self._seen = self._ends(begin) if begin else (b"", b"")
        self.restarts = 0

    def _count_lines(self, end: int) -> int:
        if not end:
            return 0
        count = 0
        with self.source.open() as file:
            while end > 0 and (piece := file.read(min(1 << 20, end))):
                count += piece.count(b"\n")
                end -= len(piece)
        return count

    @property
    def harvests(self) -> list[Harvest]:
        return [*self._before, self._done, self._open]

    def rename(self, source: Source, path: str) -> None:
        """The same file under another name: what was found in it is told under that name from now on."""
        self.source, self.path = source, path
        self._before = [_renamed(h, source.name) for h in self._before]
        self._done, self._open = _renamed(self._done, source.name), _renamed(self._open, source.name)

    def look(self, scanner: Scanner) -> bool:
        """Reads what is new; whether there was anything. A last line without its end is read once nothing follows it."""
        before, restarts = (self.size, self._changed, self._seen), self.restarts
        try:
            return self._look(scanner)
        except OSError:  # removed, or no longer to be read: what was not read is, should it come back
            self.size, self._changed, self._seen = before if restarts == self.restarts else (0, -1, (b"", b""))
            return False

    def _look(self, scanner: Scanner) -> bool:
        state = os.stat(self.path)
        if self._identity not in (None, (state.st_dev, state.st_ino)) or not stat.S_ISREG(state.st_mode):  # another one stands in its place
            return False
        size = state.st_size
        if size < self.size or (state.st_mtime_ns != self._changed and self._ends(self.size) != self._seen):
            self._before = [together([*self._before, self._done, self._open])]
            self._done, self._open = Harvest(files=1), Harvest()
            self.size = self._settled = self._lines = 0
            self.restarts += 1
        if state.st_mtime_ns != self._changed:
            self._changed, self._seen = state.st_mtime_ns, self._ends(size)
        grown = size != self.size
        if not grown and not self._rest:
            return False
        end = size if not grown else self._last_break(size)
        self._rest = grown and end < size
        self.size = size
        if end <= self._settled:
            return False
        if end - self._settled > SETTLE:
            middle = self._last_break(end - KEEP_OPEN)
            if middle > self._settled:
                part = self._scan(scanner, self._settled, middle)
                self._done = continued(self._done, shift(part, self._lines))
                self._lines += part.lines
                self._settled = middle
        self._open = shift(self._scan(scanner, self._settled, end), self._lines)
        return True

    def _ends(self, size: int) -> tuple[bytes, bytes]:
        """The beginning and the end of the first `size` bytes: a file that was written anew has others, however large it is."""
        with self.source.open() as file:
            head = file.read(min(size, ENDS))
            file.seek(max(0, size - ENDS))
            return head, file.read(min(size, ENDS))

    def _scan(self, scanner: Scanner, begin: int, end: int) -> Harvest:
        return scanner.scan(self.source, begin, end)._replace(files=0)

    def _last_break(self, below: int) -> int:
        """Behind the last line break before an offset, or where the settled part ends."""
        with self.source.open() as file:
            at = below
            while at > self._settled:
                begin = max(self._settled, at - BLOCK)
                file.seek(begin)
                found = file.read(at - begin).rfind(b"\n")
                if found >= 0:
                    return begin + found + 1
                at = begin
        return self._settled


def together(harvests: Sequence[Harvest]) -> Harvest:
    """What is not read any more as one harvest, of which no more is kept than of one file, however often it began anew."""
    whole = _folded(merge(harvests))
    hits, capped = _first(whole.hits, _leaf, KEEP)
    facts, _ = _first(whole.facts, _leaf, KEEP)
    return whole._replace(hits=hits, facts=facts, capped=tuple(sorted({*whole.capped, *capped})))


def continued(done: Harvest, part: Harvest) -> Harvest:
    """A log with what was written into it since: no more is kept than if it had been read at once. What is not kept is counted."""
    whole = _folded(merge([done, part]))
    return whole._replace(hits=_first(whole.hits, _leaf, KEEP)[0], facts=_first(whole.facts, _owner, KEEP_OF_OWNER)[0])


def _leaf(hit: Hit) -> object:
    return hit.signal


def _owner(hit: Hit) -> object:
    return hit.signal, hit.place.pid, hit.place.rank, hit.place.worker


def _first(hits: Iterable[Hit], kind: Callable[[Hit], object], most: int) -> tuple[tuple[Hit, ...], set[str]]:
    """The first of each kind, and the leaves of which there are more."""
    seen: Counter[object] = Counter()
    kept, more = [], set()
    for hit in hits:
        seen[kind(hit)] += 1
        if seen[kind(hit)] <= most:
            kept.append(hit)
        else:
            more.add(hit.signal)
    return tuple(kept), more


def _folded(whole: Harvest) -> Harvest:
    """With so many shapes of errors, and of callers, as a file has: the lines of the later ones are counted together."""
    if len(whole.clusters) <= MAX_SHAPES and len(whole.callers) <= MAX_CALLERS:
        return whole
    kept: list[Cluster] = []
    later: list[Cluster] = []
    for cluster in sorted(whole.clusters, key=lambda c: (c.template == FURTHER, c.first.path, c.first.line)):
        (kept if len(kept) < MAX_SHAPES and cluster.template != FURTHER else later).append(cluster)
    if later:
        kept.append(Cluster(FURTHER, sum(c.total for c in later), later[0].first, ()))
    return whole._replace(clusters=tuple(sorted(kept, key=lambda c: c.template)), callers=whole.callers[:MAX_CALLERS])


def _renamed(harvest: Harvest, name: str) -> Harvest:
    return harvest._replace(
        hits=tuple(h._replace(place=h.place._replace(path=name)) for h in harvest.hits),
        clusters=tuple(c._replace(first=c.first._replace(path=name)) for c in harvest.clusters),
    )
