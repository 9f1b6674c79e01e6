"""Facts about the job while a source is read: what is kept of them, and from when to when the source speaks.

A fact claims no line: an error that tells who waits for whom is still an error. What repeats is dropped per process.
"""

from __future__ import annotations

from typing import Any

from doctor.read.source import Source
from doctor.scan.floods import FUTILE, FUTILE_OF_PROCESS, KEEP_OF_OWNER
from doctor.scan.harvest import SEVERAL, Hit, Place, Span
from parsers.line import read_line
from parsers.parsed import Line

KEEP_TEXT = 400
TAIL = 4096
LAST_LINES = 40
MAX_OWNERS = 2048  # processes of one range of which a fact is kept apart
_OTHERS = "others"


class FactScan:
    """The facts of one range of a source."""

    def __init__(self, source: Source) -> None:
        self.hits: list[Hit] = []
        self._owners: dict[tuple[str, Any], int] = {}
        self._many: dict[str, int] = {}  # processes that have told a fact
        self._futile: dict[str, int] = {}
        self._source = source
        self._first: str | None = None
        self._pids: set[int] = {source.hints.pid} if source.hints.pid is not None else set()
        self.tail = b""
        self._read: dict[bytes, Line] = {}  # the first lines: of a small file they are the last ones as well

    def keep(self, name: str, place: Place, captures: dict[str, str]) -> bool:
        """Keeps an occurrence unless its owner has enough of them; True: nothing new has come for a long time."""
        owner = (name, place.pid if place.pid is not None else place.rank if place.rank is not None else place.worker)
        if owner not in self._owners:
            if self._many.get(name, 0) >= MAX_OWNERS:
                owner = (name, _OTHERS)
            self._many[name] = self._many.get(name, 0) + 1
        count = self._owners[owner] = self._owners.get(owner, 0) + 1
        if count <= KEEP_OF_OWNER:
            self._futile[name] = 0
            self.hits.append(Hit(name, place._replace(text=place.text[:KEEP_TEXT]), tuple(captures.items())))
            return False
        futile = self._futile[name] = self._futile.get(name, 0) + 1
        return futile >= (FUTILE if self._source.hints.pid is None else FUTILE_OF_PROCESS)

    def begin(self, raw: bytes, line: Line) -> None:
        """One of the first lines of the source."""
        self._read[raw] = line
        if line.time is not None and self._first is None:
            self._first = line.time
        if line.pid is not None and self._source.hints.pid is None:
            self._pids.add(line.pid)

    def window(self, own: bytes) -> None:
        """The lines of a window; of the last one, the end is looked at."""
        self.tail = own[-TAIL:] if len(own) >= TAIL else (self.tail + own)[-TAIL:]

    def span(self) -> tuple[Span, ...]:
        from doctor.read.encoding import decode

        last: str | None = None
        for raw in reversed(self.tail.split(b"\n")[-LAST_LINES:]):
            line = self._read.get(raw) or (read_line(decode(raw)) if raw.strip() else None)
            if line is None:
                continue
            if line.pid is not None and self._source.hints.pid is None:
                self._pids.add(line.pid)
            if last is None and line.time is not None:
                last = line.time
                if self._source.hints.pid is not None:
                    break
        if self._first is None and last is None:
            return ()
        pid = None if not self._pids else next(iter(self._pids)) if len(self._pids) == 1 else SEVERAL
        # A clock that was set back makes the last line the earlier one.
        told = sorted(t for t in (self._first, last) if t is not None)
        return (Span(self._source.name, told[0], told[-1], pid),)
