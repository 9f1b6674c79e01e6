"""Which lines of a log are shown: `level=error module=HCCL pid=4242 rank=3` and words. No terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.read.logfile import Cancelled, LogFile, LogRow, Pattern, never
from doctor.read.source import Hints
from parsers.line import read_line
from parsers.named import NamedTuple

LEVELS = ("debug", "info", "event", "warning", "error", "fatal")
_PART = re.compile(r"(\w+)=(\S+)")


class BadFilterError(ValueError):
    """A part of a filter that means nothing."""


class LineFilter(NamedTuple):
    """What a line must say; `level` means this level or above. Empty parts accept anything."""

    level: str = ""
    module: str = ""
    pid: int | None = None
    rank: int | None = None
    words: tuple[str, ...] = ()

    def accepts(self, row: LogRow, hints: Hints) -> bool:
        text = row.text
        folded = text.lower()
        if any(word.lower() not in folded for word in self.words):
            return False
        if not (self.level or self.module or self.pid is not None or self.rank is not None):
            return True
        line = read_line(text)
        if self.level and (line.level not in LEVELS or LEVELS.index(line.level) < LEVELS.index(self.level)):
            return False
        if self.module and (line.module or "").lower() != self.module.lower():
            return False
        pid = line.pid if line.pid is not None else hints.pid
        rank = line.rank if line.rank is not None else hints.rank
        return self.pid in (None, pid) and self.rank in (None, rank)

    def anchor(self, hints: Hints) -> Pattern | None:
        """Something that stands in every line that can be accepted, to skip the others unread."""
        if self.words:
            return Pattern(max(self.words, key=len).lower(), literal=True)
        if self.pid is not None and hints.pid is None:
            return Pattern(str(self.pid), literal=True)
        if self.module:
            return Pattern(self.module.lower(), literal=True)
        return None

    def text(self) -> str:
        parts = [
            f"{k}={v}"
            for k, v in (("level", self.level), ("module", self.module), ("pid", self.pid), ("rank", self.rank))
            if v not in ("", None)
        ]
        return " ".join([*parts, *self.words])


def parse(text: str) -> LineFilter | None:
    """A filter as it is typed; None when nothing is asked for."""
    made = LineFilter()
    for part in text.split():
        found = _PART.fullmatch(part)
        if found is None:
            made = made._replace(words=(*made.words, part))
            continue
        name, value = found[1].lower(), found[2]
        if name == "level" and value.lower() in LEVELS:
            made = made._replace(level=value.lower())
        elif name == "module":
            made = made._replace(module=value)
        elif name == "pid" and value.isdigit():
            made = made._replace(pid=int(value))
        elif name == "rank" and value.isdigit():
            made = made._replace(rank=int(value))
        else:
            raise BadFilterError(part)
    return made if made != LineFilter() else None


class Lines:
    """The rows of a log that a filter leaves, one after the other in both directions."""

    def __init__(self, log: LogFile, hints: Hints, wanted: LineFilter | None = None) -> None:
        self.log, self.hints, self.filter = log, hints, wanted
        self._anchor = wanted.anchor(hints) if wanted else None

    def at_or_after(self, start: int, cancelled: Cancelled = never) -> LogRow | None:
        """The first row to be shown at or behind the row that begins at `start`."""
        while start < self.log.size and not cancelled():
            if self._anchor is not None:
                found = self.log.find(self._anchor, start, True, cancelled)
                if found is None:
                    return None
                start = max(start, found)
            for row in self.log.rows(start, 1 if self.filter is None or self._anchor else 200):
                if self.filter is None or self.filter.accepts(row, self.hints):
                    return row
                start = row.end
        return None

    def before(self, start: int, cancelled: Cancelled = never) -> LogRow | None:
        """The last row to be shown that begins before `start`."""
        while start > 0 and not cancelled():
            if self._anchor is not None:
                found = self.log.find(self._anchor, start, False, cancelled)
                if found is None:
                    return None
                at: int | None = found
            else:
                at = self.log.before(start)
            if at is None:
                return None
            for row in self.log.rows(at, 1):
                if self.filter is None or self.filter.accepts(row, self.hints):
                    return row
            start = at
        return None

    def page(self, start: int, count: int, cancelled: Cancelled = never) -> list[LogRow]:
        """Up to `count` rows from `start` on."""
        if self.filter is None:
            return self.log.rows(start, count)
        found: list[LogRow] = []
        while len(found) < count and (row := self.at_or_after(start, cancelled)) is not None:
            found.append(row)
            start = row.end
        return found

    def whole(self, start: int) -> Iterator[bytes]:
        """The rows from `start` on, as they stand in the log."""
        while rows := self.page(start, 200):
            yield b"".join(map(self.log.whole_row, rows))
            start = rows[-1].end

    def up(self, start: int, count: int, cancelled: Cancelled = never) -> int:
        """The row `count` rows above `start`, or the first one."""
        for _ in range(count):
            row = self.before(start, cancelled)
            if row is None:
                break
            start = row.start
        return start
