"""Error lines that no signal claims. A few lines of each log statement are read; the rest of a storm is only counted."""

from __future__ import annotations

import re

from doctor.read.encoding import decode
from doctor.scan.clusters import FURTHER, Clusters
from doctor.scan.harvest import Cluster, Place
from doctor.scan.select import EVERYTHING, Select
from doctor.scan.window_lines import View
from parsers.line import read_line
from parsers.parsed import Line
from parsers.traceback_forms import DEATH, EXCEPTION

KEEP_OF_STATEMENT = 8  # error lines of one log statement that are read; beyond that only the count grows
FLOOD = 1000  # so many lines in a row that fitted none of the shapes, when there are as many shapes as are kept

_TITLE = re.compile(r"\s*(?:[A-Za-z]\w{0,60}\.){0,4}[A-Za-z]\w{0,60}(?:Error|Exception|Failure|Fault)\([A-Z]\w{1,12}\):")  # of CANN: Resource_Error(EE1023):
_STATEMENT = re.compile(
    rb"\[(?:ERROR|CRITICAL|FATAL)\] ?[A-Z0-9_]{2,20}\([^)\n]{0,60}\): ?[\d:. -]{20,32}\[[^\]\n]{1,120}\]"
)

_GO_ERROR = re.compile(rb"(?<![^\s\]:])[EF]\d{4} \d\d:\d\d:\d\d\.\d{3,9} {1,8}\d{1,19} [\w./-]{1,100}\.go:\d")


def go_error(data: bytes, start: int, eol: int) -> bool:
    """Is a line of a Go program one that reports an error? `E1204 14:46:07.912003 60570 file.go:201]`, behind any prefix."""
    return _GO_ERROR.search(data, start, min(eol, start + 400)) is not None


def statement(data: bytes, start: int, eol: int) -> bytes:
    """From `start`, behind the level: where in the software's source a line was written, as plog lines tell behind their level: `[stream.cc:12`."""
    at = data.find(b"[", start, eol)
    return data[at : data.find(b"]", at, eol)] if at >= 0 else b""


class _Statement:
    """A place in the software's source that logs errors which no signal claims."""

    __slots__ = ("further", "seen", "shape")

    def __init__(self) -> None:
        self.seen, self.further, self.shape = 0, 0, FURTHER


class ErrorLines:
    """The unclaimed error lines of one range of a source."""

    def __init__(self, select: Select) -> None:
        self._select, self._everything = select, select == EVERYTHING
        self._clusters = Clusters()
        self._statements: dict[bytes, _Statement] = {}
        self.further = 0  # lines that came when there were enough shapes
        self.flooded = (
            False  # nothing but new shapes for a long time: whoever finds an error line only counts it as a further one
        )
        self._new_in_a_row = 0

    def add(self, view: View, start: int, eol: int, line: Line | None = None, place: Place | None = None) -> None:
        """A line with an error mark."""
        known: _Statement | None = None
        if self._everything:
            data = view.window.data
            name = statement(data, start + 1, eol)
            known = self._statements.get(name)
            if known is None:
                if _STATEMENT.match(data, start, eol) is not None:
                    if self._clusters.full:
                        self.further += 1
                        self._new()
                        return
                    known = self._statements[name] = _Statement()
            elif known.seen >= KEEP_OF_STATEMENT:
                known.further += 1
                return
        line = line or read_line(decode(view.window.data[start:eol]))
        if not is_error(line):
            self._new_in_a_row = 0
            return
        place = place or view.place(start, line)
        if not self._select.wants(place):
            return
        shape = self._clusters.add(place)
        if shape == FURTHER:
            self._new()
        else:
            self._new_in_a_row = 0
        if known is not None:
            known.seen, known.shape = known.seen + 1, shape

    def _new(self) -> None:
        self._new_in_a_row += 1
        self.flooded = self.flooded or self._new_in_a_row >= FLOOD

    def result(self) -> tuple[tuple[Cluster, ...], int]:
        """The shapes, and how many lines there were in all."""
        for known in self._statements.values():
            self._clusters.count(known.shape, known.further)
            known.further = 0
        self._clusters.count(FURTHER, self.further)
        self.further = 0
        return self._clusters.result(), self._clusters.total


def is_error(line: Line | Place) -> bool:
    """Does this line by itself report an error? Frames, summaries and INFO lines that mention the word do not."""
    if line.kind == "plog":
        return line.level in ("error", "fatal")
    if line.kind in ("traceback", "message", "text", "launcher", "kernel"):
        if EXCEPTION.match(line.text) or DEATH.match(line.text) or _TITLE.match(line.text):
            return line.level not in ("info", "debug", "warning")
        if line.kind == "traceback":
            return False
        return line.level in ("error", "fatal") and bool(line.text.strip())
    return False
