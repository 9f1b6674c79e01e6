"""Text as the scan reads it, UTF-8 with line feeds, from streams that are written in another way: UTF-16 and 32, carriage returns.

Line breaks stay where they are, so line numbers are those of the file; offsets are not, so ranges cannot be cut.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import BinaryIO, cast

from doctor.read.content import HEAD, archive, cr_only, encoding
from doctor.read.inflate import ArchiveError, Flow, Inflated, Meter, at_once, buffered

RETURNS = "carriage returns"
LOOKED_AT = 64 << 10  # a line feed in so much, and carriage returns are no line ends


def written(head: bytes, more: Callable[[], bytes]) -> str:
    """How a text is written that begins so: an encoding, RETURNS, or "" for what needs nothing done. `more`: what follows the beginning."""
    name = encoding(head)
    if name:
        return name
    return RETURNS if cr_only(head) and (len(head) < HEAD or cr_only(head + more())) else ""


def plain(stream: BinaryIO, how: str) -> BinaryIO:
    """The stream as plain text; `how` is what `written` said."""
    return buffered(_Plain(stream, how)) if how else stream


class _Plain(Flow):
    def __init__(self, stream: BinaryIO, how: str) -> None:
        super().__init__(stream)
        self._read = at_once(stream)
        self._decoder = None if how == RETURNS else codecs.getincrementaldecoder(how)("replace")
        self._begun = self._over = False
        self._pending = b""

    def some(self, size: int) -> bytes:
        while not self._pending and not self._over:
            piece = self._read(size)
            self._over = not piece
            self._pending = self._told(piece)
        given, self._pending = self._pending[:size], self._pending[size:]
        return given

    def _told(self, piece: bytes) -> bytes:
        if self._decoder is None:
            return piece.replace(b"\r", b"\n")
        text = self._decoder.decode(piece, final=not piece)
        if text and not self._begun:
            self._begun, text = True, text.removeprefix("\ufeff")
        return text.encode("utf-8", "replace")

    def changed(self) -> str:
        """What happened to the file meanwhile."""
        return str(getattr(self._source, "changed", str)())


class Unknown(Flow):
    """A stream of which nothing is known before it comes, a pipe: compressed, in another encoding, or plain. What came before a fault is given."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__(stream)
        self._raw = at_once(stream)
        self._told: Callable[[int], bytes] | None = None
        self._head = b""
        self._fault: BaseException | None = None
        self.meter = Meter()

    def some(self, size: int) -> bytes:
        if self._told is None:
            self._told = self._look()
        return self._told(size)

    def _look(self) -> Callable[[int], bytes]:
        pieces = bytearray()
        while len(pieces) < HEAD:
            try:
                piece = self._raw(HEAD - len(pieces))
            except (OSError, KeyboardInterrupt) as fault:
                self._fault = fault
                break
            if not piece:
                break
            pieces += piece
        self._head = head = bytes(pieces)
        kind = archive(head)
        if kind in ("zip", "tar"):
            raise ArchiveError(f"a {kind} cannot be read from a pipe: give the file itself")
        rest = cast(BinaryIO, _Rest(self))
        if kind:
            return at_once(buffered(Unknown(buffered(Inflated(rest, self.meter, kind)))))
        return at_once(plain(rest, written(head, bytes)))

    def more(self, size: int) -> bytes:
        """The bytes as they came: first those that were looked at."""
        given, self._head = self._head[:size], self._head[size:]
        if not given and self._fault is not None:
            fault, self._fault = self._fault, None
            raise fault
        given = given or self._raw(size)
        self.meter.packed += len(given)
        return given


class _Rest:
    """What `Unknown` reads, as a stream."""

    def __init__(self, whole: Unknown) -> None:
        self.read = self.read1 = whole.more
        self.close = whole.close
