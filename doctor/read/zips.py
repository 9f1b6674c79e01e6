"""Zip archives: by the table at their end, and where that is missing (a copy that was cut off) member by member from the beginning."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, cast

from doctor.base import limits
from doctor.read.content import ZIP
from doctor.read.inflate import MAX_RATIO, RAW, ArchiveError, Checked, Inflated, Meter, Slice, buffered
from doctor.read.source import Skipped
from parsers.named import NamedTuple

MAX_DIRECTORY = 16 << 20  # bytes of a zip's table of contents
ZIP_GRACE = 1 << 30  # the members of a zip may together grow to this whatever their ratio

_STORED, _DEFLATED = 0, 8
_ENCRYPTED, _SIZES_BEHIND = 1, 8
_LOCAL = struct.Struct("<4s5H3I2H")  # a member's own header


class Entry(NamedTuple):
    """A member that can be read; `size` is None when only reading tells it."""

    shown: str
    size: int | None
    opener: Callable[[], tuple[BinaryIO, Meter]]


class _Place(NamedTuple):
    at: int  # where the local header stands
    packed: int
    size: int
    method: int
    crc: int


class _Bounded:
    """A file that gives no more at once than a table of contents may have."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.tell, self.close, self.seekable = file.tell, file.close, file.seekable

    def seek(self, at: int, whence: int = 0) -> int:
        return self._file.seek(at, whence)

    def read(self, size: int = -1) -> bytes:
        if size <= MAX_DIRECTORY:
            data = self._file.read(size if size >= 0 else MAX_DIRECTORY + 1)
            if len(data) <= MAX_DIRECTORY:
                return data
        raise ArchiveError(f"its table of contents is larger than {MAX_DIRECTORY >> 20} MiB")


def entries(name: str) -> Iterator[Entry | Skipped]:
    """The members in the archive's order, and what of it cannot be read."""
    import zipfile

    with open(name, "rb") as file:
        total = os.fstat(file.fileno()).st_size
        try:
            bounded: Any = _Bounded(file)
            infos = zipfile.ZipFile(bounded).infolist()
        except ArchiveError as error:
            yield Skipped(name, f"damaged archive: {error}")
            return
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OverflowError, struct.error, OSError) as error:
            yield from _without_table(name, file, total, str(error))
            return
        grown = packed = 0
        ratio = limits.limit(limits.RATIO, MAX_RATIO)
        for info in infos:
            if info.filename.endswith("/"):
                continue
            shown = f"{name}!{info.filename}"
            grown, packed = grown + info.file_size, packed + info.compress_size
            if packed > total or (grown > ZIP_GRACE and grown > ratio * total):
                yield Skipped(name, f"its members overlap or grow more than {ratio} times: the rest was not read ({limits.RATIO} moves that)")
                return
            if why := _unread(info.flag_bits, info.compress_type):
                yield Skipped(shown, why)
                continue
            yield Entry(shown, info.file_size, _opener(name, _Place(info.header_offset, info.compress_size, info.file_size, info.compress_type, info.CRC)))


def _unread(flags: int, method: int) -> str:
    if flags & _ENCRYPTED:
        return "encrypted"
    return "" if method in (_STORED, _DEFLATED) else f"a kind of compression that is not read ({method})"


def _opener(name: str, place: _Place) -> Callable[[], tuple[BinaryIO, Meter]]:
    def opened() -> tuple[BinaryIO, Meter]:
        meter = Meter()
        file = cast(BinaryIO, open(name, "rb", buffering=0))
        try:
            file.seek(place.at)
            head = file.read(30)
            if len(head) < 30 or not head.startswith(ZIP):
                raise ArchiveError("the header of the member is damaged")
            begin = place.at + 30 + int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
            raw = buffered(Slice(file, begin, place.packed, meter))
        except BaseException:
            file.close()
            raise
        plain = raw if place.method == _STORED else buffered(Inflated(raw, meter, kind=RAW, size=place.size))
        return buffered(Checked(plain, place.size, place.crc)), meter

    return opened


# Without a table


def _without_table(name: str, file: BinaryIO, total: int, fault: str) -> Iterator[Entry | Skipped]:
    """Each member is found behind the one before it; one whose header does not tell its size is read to find its end."""
    at, found = 0, False
    while (head := _local(file, at)) is not None:
        head_at = at
        flags, method, crc, packed, size, shown, begin = head
        shown = f"{name}!{shown}"
        at = begin + packed
        if flags & _SIZES_BEHIND and not packed:
            if method != _DEFLATED:
                break
            yield Entry(shown, None, _to_its_end(name, begin, total - begin))
            at = _end_of(file, begin, total)
        elif why := _unread(flags, method):
            yield Skipped(shown, why)
        elif at <= total:
            yield Entry(shown, size, _opener(name, _Place(head_at, packed, size, method, crc)))
        else:
            yield Entry(shown, None, _to_its_end(name, begin, total - begin, method))
        found = True
        if at >= total:
            break
    yield Skipped(name, f"damaged archive: {fault}{'; its members were read one after the other, as far as they go' if found else ''}")


def _local(file: BinaryIO, at: int) -> tuple[int, int, int, int, int, str, int] | None:
    """Flags, method, checksum, packed size, size, name of the member whose header stands there, and where its data begins."""
    file.seek(at)
    raw = file.read(_LOCAL.size)
    if len(raw) < _LOCAL.size or not raw.startswith(ZIP):
        return None
    _, _, flags, method, _, _, crc, packed, size, named, more = _LOCAL.unpack(raw)
    written = file.read(named)
    if len(written) < named or size == 0xFFFFFFFF:
        return None
    shown = written.decode("utf-8" if flags & 0x800 else "cp437", "replace")
    return flags, method, crc, packed, size, shown, at + _LOCAL.size + named + more


def _to_its_end(name: str, begin: int, size: int, method: int = _DEFLATED) -> Callable[[], tuple[BinaryIO, Meter]]:
    """A member whose data ends by itself, or with the file."""

    def opened() -> tuple[BinaryIO, Meter]:
        meter = Meter()
        raw = buffered(Slice(cast(BinaryIO, open(name, "rb", buffering=0)), begin, size, meter))
        return (raw if method == _STORED else buffered(Inflated(raw, meter, kind=RAW, alone=True))), meter

    return opened


def _end_of(file: BinaryIO, begin: int, total: int) -> int:
    """Where the next header stands behind data that must be read to find its end; the file's end when it is damaged."""
    file.seek(begin)
    machine, grown = zlib.decompressobj(-15), 0
    pending = b""
    while not machine.eof:
        pending = pending or file.read(1 << 16)
        if not pending:
            return total
        try:
            grown += len(machine.decompress(pending, 1 << 18))
        except zlib.error:
            return total
        if grown > ZIP_GRACE:
            return total
        pending = machine.unconsumed_tail
    at = file.tell() - len(machine.unused_data)
    file.seek(at)
    behind = file.read(28).find(ZIP)  # a description of 12 to 24 bytes stands between
    return at + behind if behind >= 0 else total
