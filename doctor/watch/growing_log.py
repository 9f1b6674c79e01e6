"""One log that grows: what was written since the last look is scanned, and its findings are kept.

The end of a log is scanned again with every growth, so that a signature whose lines are written one after the other is
found as if the file had been whole from the beginning; what stands well before the end is settled and never read again.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Sequence

from doctor.read.source import Source
from doctor.scan.floods import KEEP
from doctor.scan.harvest import Harvest, Hit, merge, shift
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
                self._done = merge([self._done, shift(part, self._lines)])
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
    whole = merge(harvests)
    hits, capped = _first(whole.hits)
    facts, _ = _first(whole.facts)
    return whole._replace(hits=hits, facts=facts, capped=tuple(sorted({*whole.capped, *capped})))


def _first(hits: tuple[Hit, ...]) -> tuple[tuple[Hit, ...], set[str]]:
    """The first of each leaf, and the leaves of which there are more."""
    seen: Counter[str] = Counter()
    kept = []
    for hit in hits:
        seen[hit.signal] += 1
        if seen[hit.signal] <= KEEP:
            kept.append(hit)
    return tuple(kept), {signal for signal, count in seen.items() if count > KEEP}


def _renamed(harvest: Harvest, name: str) -> Harvest:
    return harvest._replace(
        hits=tuple(h._replace(place=h.place._replace(path=name)) for h in harvest.hits),
        clusters=tuple(c._replace(first=c.first._replace(path=name)) for c in harvest.clusters),
    )
