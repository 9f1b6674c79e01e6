"""A window's lines, read on demand: text, number, and to whom a line belongs."""

from __future__ import annotations

from collections import deque
from io import BytesIO
from itertools import repeat
from operator import length_hint

from doctor.read.encoding import decode
from doctor.read.source import Source
from doctor.scan.harvest import Place
from doctor.scan.windows import LOOK_BACK, MAX_LINE, Window
from parsers.jsonline import FOLD
from parsers.lazy import lazy
from parsers.line import may_say_whose, read_line
from parsers.parsed import Line

KEEP_TEXT = 2000
REMEMBERED = 64  # lines of a window, peeled
OWNER_LINES = 60  # how far back the owner of a line is looked for
_END_LINES, _END_BYTES = 4, 2048  # below an exception, in which torch_npu says when and where it was raised
_END = b", RankID:"
# A launcher speaks of one of its processes, whoever printed the lines before.
OF_CHILD = lazy(r"(?:Sending process |failed \(exitcode: -?\d{1,5}\) local_rank: \d{1,6} \(pid: )(?P<pid>\d{1,9})(?: closing signal|\))")


def line_breaks(data: bytes, start: int, end: int) -> int:
    """How many lines end in a part of the data.

    `bytes.count` looks at every byte on its own; reading line by line skips through long lines at the speed of memchr.
    """
    if end - start < 16384 or data.count(b"\n", start, start + 4096) > 48:
        return data.count(b"\n", start, end)
    part = data[start:end]
    lines = repeat(None, end - start + 1)
    deque(zip(BytesIO(part), lines, strict=False), maxlen=0)
    return end - start + 1 - length_hint(lines) - (not part.endswith(b"\n"))


class WindowLines:
    """Lines of one window of one source; the first one has the number `first_line`."""

    def __init__(self, window: Window, source: Source, first_line: int) -> None:
        self.window, self.source = window, source
        self._first_line = first_line
        self._counted = (0, first_line)
        self._owners: dict[int, Line] = {}
        self._silent: dict[int, tuple[int, int]] = {}  # lines above which, up to a position and so many lines, nobody says it
        self._before: tuple[Line | None, int, int] | None = None  # who says it before the window, how many lines and bytes up
        self._peeled: dict[int, str] = {}  # lines that blocks were made of: several signals ask for the same ones

    def number(self, start: int) -> int:
        """The line number of a position. Positions mostly come in ascending order: counting goes on where it stopped."""
        at, line = self._counted
        if start < at:
            at, line = 0, self._first_line
        line += line_breaks(self.window.data, at, start)
        if self.window.folded:
            line -= self.window.data.count(FOLD, at, start + 1)
        self._counted = (start, line)
        return line

    def raw(self, start: int) -> bytes:
        end = self.window.data.find(b"\n", start, start + MAX_LINE)
        return self.window.data[start : end if end >= 0 else start + MAX_LINE]

    def block(self, start: int, first: Line, more: int) -> str:
        """The line and some following ones, each peeled, without the blanks at its end: patterns cross line breaks."""
        texts, at, data = [first.text.rstrip(" \t")], start, self.window.data
        for _ in range(more):
            end = data.find(b"\n", at)
            if end < 0 or end + 1 >= len(data):
                break
            at = end + 1
            text = self._peeled.get(at)
            if text is None:
                if len(self._peeled) >= REMEMBERED:
                    self._peeled.clear()
                text = self._peeled[at] = read_line(decode(self.raw(at))).text.rstrip(" \t")
            texts.append(text)
        return "\n".join(texts)

    def place(self, start: int, line: Line) -> Place:
        """Where the line stands and whose it is: by itself, by the lines before it, by the path, in this order."""
        number = self.number(start)
        child = OF_CHILD.match(line.text) if line.pid is None else None
        line = line if child is None else line._replace(pid=int(child["pid"]))
        owner = None if line.pid is not None and line.time is not None else self._end(start, line) or self._owner(start, line)
        hints = self.source.hints
        pid = _first(line.pid, owner.pid if owner else None, hints.pid)
        same = owner if owner is not None and (owner.pid == pid or (owner.pid is None and child is None)) else None
        return Place(
            path=self.source.name,
            line=number,
            end_line=number,
            time=line.time or (owner.time if owner else None),
            level=line.level,
            module=line.module,
            kind=line.kind,
            node=hints.node,
            pid=pid,
            rank=_first(line.rank, same.rank if same else None, hints.rank),
            device=_first(line.device, same.device if same else None, hints.device),
            worker=line.worker or (same.worker if same else None),
            text=line.text[:KEEP_TEXT],
        )

    def _end(self, start: int, line: Line) -> Line | None:
        """The line of torch_npu that closes an exception. What stands above it may be an hour older: it waited."""
        if line.kind != "traceback" or line.time is not None:
            return None
        data = self.window.data
        at, stop = start, min(len(data), start + _END_BYTES)
        if data.find(_END, start, stop) < 0:
            return None
        for _ in range(_END_LINES):
            at = data.find(b"\n", at, stop) + 1
            if at == 0:
                return None
            below = read_line(decode(data[at:stop].split(b"\n", 1)[0]))
            if below.kind == "message" and below.time is not None and below.pid is not None:
                alike = line.pid in (None, below.pid) and (line.rank is None or below.rank in (None, line.rank))
                return below if alike else None
        return None

    def _owner(self, start: int, line: Line) -> Line | None:
        """The nearest earlier line that says whose it is, at most 60 lines and 16 KiB back. In a storm each line is read once."""
        data, at, steps = self.window.data, start, 0
        asked = [] if _says(line) else [start]
        passed = list(asked)  # lines that the owner found here owns as well
        found: Line | None = None
        seen = (at, steps)  # so far up nothing says whose it is
        while steps < OWNER_LINES and found is None:
            if at == 0:
                found = self._owner_before(OWNER_LINES - steps, LOOK_BACK - start)
                break
            if at in self._silent:
                at, more = self._silent[at]
                steps += more
            else:
                at, steps = data.rfind(b"\n", 0, at - 1) + 1, steps + 1
                if start - at > LOOK_BACK:
                    break
                found = self._owners.get(at)
                if found is None and at not in self._silent:
                    found = _saying(data[at : at + 4096].split(b"\n", 1)[0])
                passed.append(at)
            seen = (at, steps)
        if found is not None:
            self._owners.update(dict.fromkeys(passed, found))
        elif seen[1]:  # directly beneath a line that is too long nothing is known of what is above
            self._silent.update(dict.fromkeys(asked, seen))
        if found is not None and line.pid is not None and found.pid not in (None, line.pid):
            return None
        return found

    def _owner_before(self, lines: int, size: int) -> Line | None:
        """The last line before the window that says whose it is, when it is so near."""
        if self._before is None:
            self._before = (None, 0, 0)
            at = 0
            for number, raw in enumerate(reversed(self.window.before.split(b"\n")[:-1][-OWNER_LINES:]), 1):
                at += len(raw) + 1
                if (saying := _saying(raw[:4096])) is not None:
                    self._before = (saying, number, at)
                    break
        found, number, at = self._before
        return found if number <= lines and at <= size else None


def _saying(raw: bytes) -> Line | None:
    """The line, if it says whose it is."""
    if not may_say_whose(raw):
        return None
    line = read_line(decode(raw))
    return line if _says(line) else None


def _says(line: Line) -> bool:
    """Does the line say whose it is?"""
    return line.time is not None or line.pid is not None or line.rank is not None


def _first(*values: int | None) -> int | None:
    return next((v for v in values if v is not None), None)
