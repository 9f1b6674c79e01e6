"""Tar archives, read forwards: from a file, or from a stream that cannot go back.

The standard library's reader takes headers of any length into memory and follows them by recursion, which a hostile
archive can overdo; this one reads what archives of logs need (ustar, GNU and POSIX long names) and names what it does
not read.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import BinaryIO

from doctor.read.inflate import ArchiveError, at_once
from parsers.named import NamedTuple

BLOCK = 512
MAX_HEADER = 1 << 20  # bytes of a long name or of extended attributes
MAX_HEADERS = 64  # of them before one member
_SIZE_LIMIT = 1 << 62


class Member(NamedTuple):
    """`unread`: why its content is no log that could be read; empty for a plain file. `at`: where its content begins."""

    name: str
    size: int
    unread: str
    folder: bool
    at: int


class Tar:
    """The members of a tar, one after the other; the content of the current one can be read until the next is asked for."""

    def __init__(self, stream: BinaryIO, *, seekable: bool) -> None:
        self._stream, self._seekable = stream, seekable
        self._some = at_once(stream)
        self._at = 0
        self._next = 0  # where the next header stands
        self._end = 0  # of the current member's content

    def next(self) -> Member | None:
        """The next member; None at the end of the archive."""
        name: str | None = None
        size: int | None = None
        sparse = False
        for _ in range(MAX_HEADERS):
            head = self._header()
            if head is None:
                return None
            kind, told = head[156:157], _number(head[124:136])
            begin = self._at
            if kind in (b"L", b"K", b"x", b"X", b"g"):
                self._goes_on(begin, told)
                if told > MAX_HEADER:
                    raise ArchiveError(f"a header of {told} bytes: not an archive of logs")
                data = self.read(told)
                if len(data) < told:
                    raise ArchiveError("the archive ends early")
                if kind == b"L":
                    name = _text(data)
                elif kind in (b"x", b"X"):
                    said = _attributes(data)
                    name, sparse = said.get("path", name), sparse or any(k.startswith("GNU.sparse") for k in said)
                    if "size" in said:
                        size = _decimal(said["size"])
                continue
            told = told if size is None else size
            if kind == b"S":  # further maps of holes stand between header and content
                more = head[482:483] != b"\0"
                while more:
                    more = self._block()[504:505] != b"\0"
                sparse = True
            if kind in b"123456" and kind:
                told = 0
            self._goes_on(self._at, told)
            folder = kind == b"5"
            unread = "" if kind in (b"0", b"\0", b"7", b"5") else "a link or device inside an archive: not followed"
            if sparse:
                unread = "a file with holes inside an archive: not read"
            return Member(name if name is not None else _name(head), told, unread, folder, self._at)
        raise ArchiveError(f"more than {MAX_HEADERS} headers before one member")

    def read(self, size: int) -> bytes:
        """Up to so many further bytes of the current member."""
        return self._take(self._stream.read, size)

    def some(self, size: int) -> bytes:
        """As many as come without waiting for a fault further on; empty at the end of the member."""
        return self._take(self._some, size)

    def _take(self, read: Callable[[int], bytes], size: int) -> bytes:
        size = min(size, self._end - self._at)
        data = read(size) if size > 0 else b""
        self._at += len(data)
        return data

    @property
    def left(self) -> int:
        """Bytes of the current member that were not read yet."""
        return self._end - self._at

    def close(self) -> None:
        self._stream.close()

    def _goes_on(self, begin: int, size: int) -> None:
        if size < 0 or size > _SIZE_LIMIT:
            raise ArchiveError("damaged header: a size that cannot be")
        self._end = begin + size
        self._next = self._end + -size % BLOCK

    def _header(self) -> bytes | None:
        """The next block that is a header; None at the end: two empty blocks, or nothing more."""
        self._skip(self._next - self._at)
        for _ in range(2):
            head = self._stream.read(BLOCK)
            self._at += len(head)
            if not head:
                return None
            if len(head) < BLOCK:
                raise ArchiveError("the archive ends early")
            if head.count(0) < BLOCK:
                if not _sums_up(head):
                    raise ArchiveError("damaged header: its sum is wrong")
                return head
        return None

    def _block(self) -> bytes:
        block = self._stream.read(BLOCK)
        self._at += len(block)
        if len(block) < BLOCK:
            raise ArchiveError("the archive ends early")
        return block

    def _skip(self, size: int) -> None:
        if size and self._seekable:
            self._stream.seek(size, io.SEEK_CUR)
            self._at += size
            return
        while size > 0:
            piece = self._stream.read(min(size, 1 << 18))
            if not piece:
                raise ArchiveError("the archive ends early")
            size -= len(piece)
            self._at += len(piece)


class Content(io.RawIOBase):
    """The content of a tar's current member as a stream; `done` is called when it is closed."""

    def __init__(self, tar: Tar, done: object = None) -> None:
        self._tar, self._done = tar, done

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        piece = self._tar.some(len(view))
        if not piece and self._tar.left and len(view):
            raise ArchiveError("the archive ends early")
        view[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        if not self.closed and callable(self._done):
            self._done()
        super().close()


def _sums_up(head: bytes) -> bool:
    """The sum of a header, over signed or unsigned bytes: both were written."""
    told = _number(head[148:156])
    rest = head[:148] + b" " * 8 + head[156:]
    plain = sum(rest)
    return told in (plain, plain - 256 * sum(byte > 127 for byte in rest))


def _number(field: bytes) -> int:
    """An octal number with blanks or NUL around it, or a binary one."""
    if field[:1] in (b"\x80", b"\xff"):
        return int.from_bytes(field[1:], "big") if field[:1] == b"\x80" else -1
    digits = field.split(b"\0", 1)[0].strip()
    if not all(byte in b"01234567" for byte in digits):
        return -1
    return int(digits, 8) if digits else 0


def _decimal(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else -1


def _text(data: bytes) -> str:
    return data.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")


def _name(head: bytes) -> str:
    name, prefix = _text(head[:100]), _text(head[345:500]) if head[257:263] == b"ustar\0" else ""
    return f"{prefix}/{name}" if prefix else name


def _attributes(data: bytes) -> dict[str, str]:
    """The records of an extended header, `LENGTH KEY=VALUE` and a line feed each; those that do not add up end it."""
    found: dict[str, str] = {}
    at = 0
    while at < len(data):
        blank = data.find(b" ", at, at + 20)
        length = data[at:blank] if blank > 0 else b""
        if not length.isdigit() or int(length) <= blank - at or at + int(length) > len(data):
            break
        key, _, value = data[blank + 1 : at + int(length) - 1].partition(b"=")
        if key in (b"path", b"size") or key.startswith(b"GNU.sparse"):
            found[key.decode("ascii", "replace")] = value.decode("utf-8", "surrogateescape")
        at += int(length)
    return found
