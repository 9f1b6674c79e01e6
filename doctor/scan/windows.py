"""A stream in windows of whole lines, each with what stands before and after it.

Only lines that begin below `limit` belong to a window; what follows is there for signatures that run over lines and
comes again as the beginning of the next window. So it makes no difference where windows, or ranges of a file, are cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from doctor.base import interrupts
from doctor.read.inflate import at_once
from parsers.named import NamedTuple

WINDOW = 512 << 10  # fits into the cache next to the automaton
LOOK_BACK = 16 << 10
LOOK_AHEAD = 16 << 10
MAX_LINE = 64 << 10  # of a longer line, the part around a find is read


class Window(NamedTuple):
    """Bytes, of which the lines that begin below `limit` are this window's own; `last`: nothing comes after."""

    data: bytes
    limit: int
    before: bytes
    last: bool
    size: int = 0  # of its own lines as they stand in the stream, where `data` is what records were unwrapped to
    folded: bool = False  # some records hold several lines: what follows a FOLD stands on the line of the record


def windows(stream: BinaryIO, start: int = 0, end: int | None = None, size: int = WINDOW) -> Iterator[Window]:
    """The lines that begin in [start, end) of a stream; the stream must be seekable when start is not 0.

    A fault while reading, or an interrupt, is raised after everything that was read before it.
    """
    before, data, offset = b"", b"", start  # offset: where `data` begins
    skipping = False
    if start:
        back = min(start, LOOK_BACK)
        stream.seek(start - back)
        before, fault = _fill(stream, back)
        if fault is not None:
            raise fault
        skipping = not before.endswith(b"\n")  # asked before a line that is longer than the look back leaves nothing of it
        if back < start:
            before = _whole_lines(before)
    while True:
        interrupts.check()
        piece, fault = _fill(stream, size)
        over = len(piece) < size or fault is not None
        if piece.startswith(b"\0") and not piece.strip(b"\0") and b"\n" not in data:
            offset, piece = offset + len(piece), b""  # a hole in a sparse file
        data += piece
        if skipping:  # the line in which the range begins belongs to the range before
            cut = data.find(b"\n") + 1
            if not cut and not over:
                offset += len(data)
                if end is not None and offset >= end:  # it runs through the whole range
                    return
                before, data = _tail(before + data), b""
                continue
            cut = cut or len(data)
            before, data, offset, skipping = _tail(before + data[:cut]), data[cut:], offset + cut, False
            if end is not None and offset >= end:  # no line begins in this range
                return
        stop = None  # where the first line after the range begins: the range's last line is read to its end, however long
        if end is not None and offset + len(data) >= end:
            stop = data.find(b"\n", max(0, end - 1 - offset)) + 1 or None
            over = over or (stop is not None and len(data) - stop >= LOOK_AHEAD)
        limit = len(data) if over else _last_line(data, len(data) - LOOK_AHEAD)
        if stop is not None:
            limit = min(limit, stop)
        if limit or over:
            if limit:
                yield Window(data, limit, before, over)
            if over:
                break
            before = _tail(data[limit - LOOK_BACK - 1 : limit] if limit > LOOK_BACK else before + data[:limit])
            data, offset = data[limit:], offset + limit
        elif len(data) >= 4 * max(size, MAX_LINE):  # one line longer than several windows: pieces that overlap
            limit = len(data) - MAX_LINE
            yield Window(data, limit, before, False)
            before, data, offset = b"", data[limit - MAX_LINE // 2 :], offset + limit - MAX_LINE // 2
    if fault is not None:
        raise fault


def _tail(data: bytes) -> bytes:
    """The last whole lines, as far as looking back goes."""
    return data if len(data) <= LOOK_BACK else _whole_lines(data[-LOOK_BACK - 1 :])


def _whole_lines(data: bytes) -> bytes:
    return data[data.find(b"\n") + 1 :]


def _last_line(data: bytes, below: int) -> int:
    """Where the last line that begins at or below a position begins."""
    return data.rfind(b"\n", 0, max(0, below)) + 1


def _fill(stream: BinaryIO, size: int) -> tuple[bytes, OSError | KeyboardInterrupt | None]:
    """Up to `size` bytes, fewer only at the end, a fault or an interrupt, which comes back with what was read before it."""
    read = at_once(stream)
    pieces: list[bytes] = []
    while size > 0:
        try:
            piece = read(size)
        except (OSError, KeyboardInterrupt) as error:
            return b"".join(pieces), error
        if not piece:
            break
        pieces.append(piece)
        size -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces), None
