"""Streams that are read once, forwards, and stop at their bounds: compressed data, and a stretch of a file."""

from __future__ import annotations

import io
import sys
import zlib
from collections.abc import Callable
from typing import BinaryIO, cast

from doctor.base import limits
from doctor.read.machines import machines

MAX_MEMBER = 64 << 30  # bytes that one compressed file, or one file in an archive, may grow to
MAX_RATIO = 400  # a log compresses 10 to 60 times; what grows more is padding or a bomb
RATIO_GRACE = 64 << 20  # below this much output the ratio is not judged
MAX_STREAMS = 1 << 20  # gzip streams one after another in one file
RAW = "raw"  # deflated data without a head, as it stands in a zip; the other kinds are those of `content.archive`
_PIECE = 1 << 14  # what follows a stream is copied at its end: small pieces keep many tiny streams linear
_STEP = 1 << 12  # what the library inflated in the very call that meets the damage is lost: small steps lose little


class ArchiveError(OSError):
    """An archive or a compressed file ends early, is damaged, or grows beyond its bounds."""


class Meter:
    """How many bytes were taken from the file itself; streams within streams are judged by what the outermost one took."""

    def __init__(self) -> None:
        self.packed = 0


class Flow(io.RawIOBase):
    """A stream of bytes that are made of those of another one, which is closed with it; each kind says what comes next."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source

    def some(self, size: int) -> bytes:
        """At most so many bytes, more than none; empty at the end."""
        raise NotImplementedError

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        piece = self.some(len(view)) if len(view) else b""
        view[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        self._source.close()
        super().close()


class Slice(Flow):
    """A stretch of a file, of its own: nobody else moves its position."""

    def __init__(self, raw: BinaryIO, start: int, size: int, meter: Meter) -> None:
        super().__init__(raw)
        self._left, self._meter = size, meter
        raw.seek(start)

    def some(self, size: int) -> bytes:
        piece = self._source.read(min(size, self._left))
        if not piece and self._left:
            raise ArchiveError("the archive ends early")
        self._left -= len(piece)
        self._meter.packed += len(piece)
        return piece


class Inflated(Flow):
    """A compressed stream, read as far as it goes: what came before the damage is given (to `_STEP` bytes), then the damage is told."""

    def __init__(self, raw: BinaryIO, meter: Meter, kind: str = "gz", size: int = sys.maxsize, alone: bool = False) -> None:
        super().__init__(raw)
        self._meter, self._kind, self._size = meter, kind, size
        self._alone = alone  # what follows the stream is somebody else's
        self._packed = at_once(raw)
        self._make = machines(kind)
        self._machine = self._make()
        self._pending = b""
        self._given = self._streams = 0
        self._ratio, self._most = limits.limit(limits.RATIO, MAX_RATIO), limits.limit(limits.UNPACKED, MAX_MEMBER)
        self._fault: ArchiveError | None = None

    def some(self, size: int) -> bytes:
        piece = self._next(size)
        if not piece and self._fault is not None:
            raise self._fault
        if self._given + len(piece) > (end := min(self._size, self._most)):
            told = f"{self._most} bytes ({limits.UNPACKED} moves that)" if end == self._most else "the size that the archive tells"
            self._fault = ArchiveError(f"it grows beyond {told}")
            piece = piece[: end - self._given]
        self._given += len(piece)
        if self._given > RATIO_GRACE and self._given > self._ratio * self._meter.packed:
            why = f"it grows more than {self._ratio} times when unpacked: not a log ({limits.RATIO} moves that)"
            self._fault = ArchiveError(why)
        return piece

    def _next(self, size: int) -> bytes:
        """At most `size` bytes; empty at the end, and at a fault."""
        pieces: list[bytes] = []
        while size > 0 and (piece := self._step(min(size, _STEP))):
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def _step(self, size: int) -> bytes:
        while self._fault is None:
            at_end = False
            if not self._pending:
                try:
                    self._pending = self._packed(_PIECE)
                except ArchiveError as error:  # of the stream around this one
                    self._fault = error
                    return b""
                at_end = not self._pending
                if at_end and self._machine.eof:
                    return b""
            if self._alone and self._machine.eof:
                return b""
            if self._machine.eof and not self._another():
                continue
            try:
                piece = self._machine.decompress(self._pending, size)  # it may hold back output when all input is in
            except Exception as error:  # noqa: BLE001 - each library has an error of its own, all mean damage
                self._fault = ArchiveError(f"the compressed data is damaged: {error}")
                return b""
            self._pending = self._machine.unused_data if self._machine.eof else self._machine.unconsumed_tail
            if piece:
                return bytes(piece)
            if at_end and not self._machine.eof and not self._pending:
                self._fault = ArchiveError("the compressed data ends early")
        return b""

    def _another(self) -> bool:
        """Begins a further stream of the file; padding, and what follows data without a head, is passed over."""
        self._pending = b"" if self._kind == RAW else self._pending.lstrip(b"\0")
        if not self._pending:
            return False
        self._streams += 1
        if self._streams > MAX_STREAMS:
            self._fault = ArchiveError(f"it holds more than {MAX_STREAMS} compressed streams: the rest was not read")
            return False
        self._machine = self._make()
        return True


class Checked(Flow):
    """What was read is compared with what the archive tells about it, at the end."""

    def __init__(self, stream: BinaryIO, size: int, crc: int) -> None:
        super().__init__(stream)
        self._left, self._crc, self._sum = size, crc, 0

    def some(self, size: int) -> bytes:
        piece = at_once(self._source)(size)
        self._left -= len(piece)
        self._sum = zlib.crc32(piece, self._sum)
        if not piece and (self._left or self._sum != self._crc):
            raise ArchiveError("the data is damaged: it is not what its checksum tells")
        return piece


def buffered(raw: io.RawIOBase) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(raw, 1 << 18))


def at_once(stream: BinaryIO) -> Callable[[int], bytes]:
    """Reads what comes at once: a reader that waits for all it was asked for loses what came before a fault."""
    return cast("Callable[[int], bytes]", getattr(stream, "read1", stream.read))


def beginning(stream: BinaryIO, size: int) -> bytes:
    """The first bytes of a stream; those before a fault count, the fault is told to whoever reads on."""
    read = at_once(stream)
    pieces: list[bytes] = []
    while size > 0:
        try:
            piece = read(size)
        except OSError:
            if not pieces:
                raise
            break
        if not piece:
            break
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
