"""Lines of a log of any size by their offsets: nothing is ever read but the piece that is asked for.

A row is a physical line. A line longer than a megabyte is several rows, cut at multiples of a megabyte, so that neither
direction ever has to read further than two of them. Line numbers come from counts of line breaks that are taken once per
stride and kept: a few bytes for four megabytes of log. What somebody counted before is learned, and never counted again.
"""

from __future__ import annotations

import os
import re
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from typing import BinaryIO, Protocol

from doctor.read.encoding import decode
from doctor.read.source import Source
from parsers.named import NamedTuple

PIECE = 1 << 20
STRIDE = 4 << 20
COUNTED = 256 << 10
NEAR = 32  # strides that are counted within a tenth of a second
PAGE = 64 << 10
MAX_TEXT = 16 << 10  # bytes of a row that are shown
AROUND = 8 << 20  # of a stream that cannot be reread in parts: kept before and after the line that is asked for
REGEX_TIMEOUT_S = 2.0


class BadPatternError(ValueError):
    """A search text that is no regular expression: why."""


class LogRow(NamedTuple):
    """A row: where it begins and ends (line break included), and its text as far as it is shown."""

    start: int
    end: int
    raw: bytes

    @property
    def text(self) -> str:
        return decode(self.raw)


class Reader(Protocol):
    """Bytes at an offset."""

    def size(self) -> int: ...
    def read(self, offset: int, length: int) -> bytes: ...
    def breaks(self, offset: int, length: int) -> int: ...
    def close(self) -> None: ...


class FileReader:
    """A file that stays open, so that its renaming or removal changes nothing."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def size(self) -> int:
        return os.fstat(self._file.fileno()).st_size

    def read(self, offset: int, length: int) -> bytes:
        return os.pread(self._file.fileno(), length, offset)

    def breaks(self, offset: int, length: int) -> int:
        """Counts line breaks in small pieces through one buffer: it stays in the cache of the processor, and between the
        pieces other threads get their turn.
        """
        buffer, found = bytearray(min(COUNTED, length)), 0
        while length > 0 and (got := os.preadv(self._file.fileno(), [memoryview(buffer)[:length]], offset)) > 0:
            found += buffer.count(b"\n", 0, got)
            offset, length = offset + got, length - got
        return found

    def close(self) -> None:
        self._file.close()


class BytesReader:
    """A part of a stream, in memory."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def size(self) -> int:
        return len(self._data)

    def read(self, offset: int, length: int) -> bytes:
        return self._data[offset : offset + length]

    def breaks(self, offset: int, length: int) -> int:
        return self._data.count(b"\n", offset, offset + length)

    def close(self) -> None:
        self._data = b""


def never() -> bool:
    return False


Cancelled = Callable[[], bool]


class LogFile:
    """Rows by offset, offsets by line number, and searching in both directions."""

    def __init__(self, reader: Reader, first_line: int = 1, whole: bool = True) -> None:
        self._reader = reader
        self.first_line = first_line
        self.whole = whole  # False: a part of a stream
        self._strides, self._counts = [0], [0]  # strides that were counted, and the line breaks before each
        self._lock = threading.Lock()
        self.size = reader.size()

    def close(self) -> None:
        self._reader.close()

    def grown(self) -> bool:
        """Looks at the size again. A file that shrank is another file: its counts are forgotten."""
        before, self.size = self.size, self._reader.size()
        if self.size < before:
            self._strides, self._counts = [0], [0]
        return self.size != before

    # Rows

    def start_of(self, offset: int) -> int:
        """The beginning of the row that holds an offset."""
        offset = max(0, min(offset, self.size))
        low = max(0, offset - 2 * PIECE)
        begin, size = low, PAGE
        data = b""
        at = offset
        while at > low:  # nearly always the first small piece holds the line break
            begin = max(low, at - size)
            data = self._reader.read(begin, at - begin)
            found = data.rfind(b"\n")
            if found >= 0:
                return self._cut(begin + found + 1, offset)
            at, size = begin, size * 8
        return self._cut(0, offset) if low == 0 else max(offset // PIECE * PIECE, low)

    def _cut(self, start: int, offset: int) -> int:
        """The row's beginning in a line that begins at `start`: the line's, or the last multiple that cuts it."""
        grid = offset // PIECE * PIECE
        return grid if grid - PIECE >= start else start

    def end_of(self, start: int) -> int:
        """Behind the row that begins at `start`: where the next one begins."""
        limit = (start + PIECE + PIECE - 1) // PIECE * PIECE
        at, size = start, PAGE
        while at < limit:
            data = self._reader.read(at, min(size, limit - at))
            if not data:
                return at
            found = data.find(b"\n")
            if found >= 0:
                return at + found + 1
            at, size = at + len(data), size * 4
        return limit

    def before(self, start: int) -> int | None:
        """Where the row before this one begins; None at the beginning of the log."""
        return self.start_of(start - 1) if start > 0 else None

    def rows(self, start: int, count: int) -> list[LogRow]:
        """Up to `count` rows from the row that begins at `start`."""
        found: list[LogRow] = []
        data, base = b"", start
        while len(found) < count and start < self.size:
            at = data.find(b"\n", start - base)
            if at < 0:  # the page ends in this row
                data, base = self._reader.read(start, PAGE), start
                at = data.find(b"\n")
            end = base + at + 1 if at >= 0 else min(self.end_of(start), self.size)
            if end <= start:
                break
            raw = data[start - base : min(end - base, start - base + MAX_TEXT)]
            found.append(LogRow(start, end, raw.rstrip(b"\r\n")))
            start = end
        return found

    def whole_row(self, row: LogRow) -> bytes:
        """What stands there, to its last byte: more than is shown of a long line."""
        return self._reader.read(row.start, row.end - row.start)

    def row(self, offset: int) -> LogRow | None:
        found = self.rows(self.start_of(offset), 1)
        return found[0] if found else None

    @property
    def last(self) -> int:
        """The beginning of the last row."""
        return self.start_of(max(0, self.size - 1))

    # Line numbers

    def learn(self, begun: Iterable[tuple[int, int]]) -> None:
        """Takes over what a scan counted: offsets, and how many lines begin before each. Those between strides tell nothing."""
        for offset, lines in begun:
            if 0 < offset < self.size and offset % STRIDE == 0 and self.first_line == 1:
                self._keep(offset // STRIDE, lines - 1 + (self._reader.read(offset - 1, 1) == b"\n"))

    def _keep(self, stride: int, breaks: int) -> None:
        with self._lock:
            at = bisect_left(self._strides, stride)
            if at == len(self._strides) or self._strides[at] != stride:
                self._counts.insert(at, breaks)
                self._strides.insert(at, stride)

    def _nearest(self, stride: int) -> tuple[int, int]:
        """The last stride up to this one that was counted, and the line breaks before it."""
        with self._lock:
            at = bisect_right(self._strides, stride) - 1
            return self._strides[at], self._counts[at]

    def _before(self, breaks: int) -> tuple[int, int]:
        """The last stride that was counted before which fewer lines end, and the line breaks before it."""
        with self._lock:
            at = max(0, bisect_left(self._counts, breaks) - 1)
            return self._strides[at], self._counts[at]

    def known(self, offset: int) -> bool:
        """Whether the number of a line can be told without reading much."""
        return offset // STRIDE - self._nearest(offset // STRIDE)[0] < 2

    def near(self, number: int) -> bool:
        """Whether a line can be found without reading much."""
        stride, _ = self._before(number - self.first_line)
        with self._lock:
            following = self._strides[bisect_right(self._strides, stride) :][:1]
        return (following[0] if following else self.size // STRIDE + 1) - stride <= NEAR

    def index(self, until: int, cancelled: Cancelled = never) -> bool:
        """Counts line breaks up to an offset; False when it was stopped on the way."""
        wanted = until // STRIDE
        stride, counted = self._nearest(wanted)
        while stride < wanted and stride * STRIDE < self._reader.size():
            if cancelled():
                return False
            counted += self._reader.breaks(stride * STRIDE, STRIDE)
            stride += 1
            self._keep(stride, counted)
        return True

    def number(self, offset: int, cancelled: Cancelled = never) -> int | None:
        """The number of the line that holds an offset; None when counting was stopped."""
        if not self.index(offset, cancelled):
            return None
        stride, counted = self._nearest(offset // STRIDE)
        at = stride * STRIDE
        return self.first_line + counted + self._reader.breaks(at, max(0, offset - at))

    def offset(self, number: int, cancelled: Cancelled = never) -> int | None:
        """Where a line begins (the last one when there are fewer); None when counting was stopped."""
        wanted = number - self.first_line
        if wanted <= 0:
            return 0
        stride, counted = self._before(wanted)
        while True:
            if stride * STRIDE >= self.size:
                return self.last
            if not self.index((stride + 1) * STRIDE, cancelled):
                return None
            following, after = self._nearest(stride + 1)
            if following == stride or after >= wanted:
                break
            stride, counted = following, after
        data = self._reader.read(stride * STRIDE, STRIDE)
        left, at = wanted - counted, -1
        for _ in range(left):
            at = data.find(b"\n", at + 1)
            if at < 0:
                return self.last
        return min(stride * STRIDE + at + 1, self.last)

    # Searching

    def find(self, pattern: Pattern, start: int, forward: bool = True, cancelled: Cancelled = never) -> int | None:
        """The row of the next match that begins at or behind `start`, or of the last one that ends before it."""
        return self._ahead(pattern, start, cancelled) if forward else self._back(pattern, start, cancelled)

    def _ahead(self, pattern: Pattern, start: int, cancelled: Cancelled) -> int | None:
        while start < self.size and not cancelled():
            data = self._reader.read(start, STRIDE)
            if not data:
                return None
            last = data.rfind(b"\n") + 1
            if last and start + len(data) < self.size:
                data = data[:last]
            if (at := pattern.first(data)) is not None:
                return self.start_of(start + at)
            start += len(data)
        return None

    def _back(self, pattern: Pattern, end: int, cancelled: Cancelled) -> int | None:
        while end > 0 and not cancelled():
            begin = self.start_of(max(0, end - STRIDE))
            data = self._reader.read(begin, end - begin)
            if (at := pattern.last(data)) is not None:
                return self.start_of(begin + at)
            end = begin
        return None


class Pattern:
    """What is searched for: words as they are, or a regular expression; lower case finds both cases."""

    def __init__(self, text: str, literal: bool = False) -> None:
        flags = 0 if any(c.isupper() for c in text) else re.IGNORECASE
        raw = text.encode("utf-8", "surrogateescape")
        self._slow = not literal and bool(re.search(r"[\\^$.|?*+()\[{]", text))
        self.text = text
        try:
            if self._slow:
                import regex  # has a time limit, which a search text from a keyboard needs

                self._pattern = regex.compile(raw, flags | regex.MULTILINE)
            else:
                self._pattern = re.compile(re.escape(raw), flags)
        except Exception as error:
            raise BadPatternError(str(error)) from error

    def first(self, data: bytes) -> int | None:
        found = self._pattern.search(data, timeout=REGEX_TIMEOUT_S) if self._slow else self._pattern.search(data)
        return int(found.start()) if found else None

    def last(self, data: bytes) -> int | None:
        more = {"timeout": REGEX_TIMEOUT_S} if self._slow else {}
        at = None
        for found in self._pattern.finditer(data, **more):
            at = int(found.start())
        return at

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where it stands in a line, counted in characters."""
        raw = text.encode("utf-8", "surrogateescape")
        more = {"timeout": REGEX_TIMEOUT_S} if self._slow else {}
        found = [(f.start(), f.end()) for f in self._pattern.finditer(raw, **more) if f.end() > f.start()][:100]
        if text.isascii():
            return found
        return [(len(raw[:a].decode("utf-8", "replace")), len(raw[:b].decode("utf-8", "replace"))) for a, b in found]


def open_log(source: Source, line: int = 1) -> LogFile:
    """The log of a source. What can only be read from its beginning (compressed, piped) gives the part around a line."""
    stream = source.open()
    if source.seekable:
        return LogFile(FileReader(stream))
    with stream:
        return _part(stream, line)


def _part(stream: BinaryIO, line: int) -> LogFile:
    kept: list[bytes] = []
    size, first, passed = 0, 1, 0  # bytes kept, number of the first kept line, line breaks seen
    left: int | None = None
    whole = True
    while True:
        piece = stream.read(PAGE * 4)
        if not piece:
            break
        kept.append(piece)
        size += len(piece)
        passed += piece.count(b"\n")
        if left is None and passed >= line - 1:
            left = AROUND
        if left is not None:
            left -= len(piece)
            if left <= 0:
                whole = False
                break
        while left is None and size > 2 * AROUND:
            gone = kept.pop(0)
            size -= len(gone)
            first += gone.count(b"\n")
            whole = False
    data = b"".join(kept)
    if first > 1:  # the first kept line may be cut: it is left out
        cut = data.find(b"\n") + 1
        data, first = data[cut:], first + 1
    return LogFile(BytesReader(data), first, whole)
