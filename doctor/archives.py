"""Logs inside .gz, .tar, .tar.gz, .tgz and .zip, streamed: never unpacked to disk, bounded in depth, number and size."""

from __future__ import annotations

import io
import zlib
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from doctor.harvest import Skipped
from doctor.source import Source, hints

if TYPE_CHECKING:
    import tarfile

MAX_MEMBERS = 50_000
MAX_MEMBER = 64 << 30
MAX_RATIO = 400  # a log compresses 10 to 60 times; what grows more is padding or a bomb
RATIO_GRACE = 64 << 20  # below this much output the ratio is not judged

_GZ, _ZIP = b"\x1f\x8b", b"PK\x03\x04"


class ArchiveError(OSError):
    """An archive or a compressed file ends early, is damaged, or grows beyond its bounds."""


def looks_like(name: str, head: bytes) -> bool:
    """By content, not by name: a rotated log may be called anything."""
    del name
    return head.startswith((_GZ, _ZIP)) or head[257:262] == b"ustar"


def members(name: str, head: bytes) -> tuple[list[Source], list[Skipped]]:
    """The logs in an archive, in the archive's order."""
    if head.startswith(_ZIP):
        return _zip(name)
    if head.startswith(_GZ):
        try:
            with _inflate(name) as stream:
                inner = stream.read(512)
        except OSError as error:
            return [], [Skipped(name, f"damaged gzip data: {error}")]
        if inner[257:262] == b"ustar":
            return _tar(name)
        shown = name.removesuffix(".gz")
        return [Source(name, lambda: _inflate(name), None, hints(shown))], []
    return _tar(name)


class Inflated(io.RawIOBase):
    """A gzip stream, read as far as it goes: what was inflated before the damage is given, then the damage is told."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._library: Any = zlib
        try:
            from isal import isal_zlib

            self._library = isal_zlib  # about three times as fast, where its wheel is there
        except ImportError:
            pass
        self._machine = self._library.decompressobj(31)
        self._pending = b""
        self._packed = self._given = 0
        self._fault: ArchiveError | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        piece = self._next(len(view))
        if not piece and self._fault is not None:
            raise self._fault
        self._given += len(piece)
        if self._given > MAX_MEMBER:
            raise ArchiveError(f"it grows beyond {MAX_MEMBER >> 30} GiB")
        if self._given > RATIO_GRACE and self._given > MAX_RATIO * self._packed:
            raise ArchiveError(f"it grows more than {MAX_RATIO} times when unpacked: not a log")
        view[: len(piece)] = piece
        return len(piece)

    def _next(self, size: int) -> bytes:
        """At most `size` bytes; empty at the end, and at a fault."""
        while self._fault is None:
            if not self._pending:
                self._pending = self._raw.read(1 << 18)
                self._packed += len(self._pending)
                if not self._pending:
                    if not self._machine.eof:
                        self._fault = ArchiveError("the compressed data ends early")
                    return b""
            if self._machine.eof:  # a further member, or padding
                self._pending = self._pending.lstrip(b"\0")
                if not self._pending:
                    continue
                self._machine = self._library.decompressobj(31)
            try:
                piece = self._machine.decompress(self._pending, size)
            except Exception as error:  # noqa: BLE001 - each library has an error of its own, all mean damage
                self._fault = ArchiveError(f"the compressed data is damaged: {error}")
                return b""
            self._pending = self._machine.unused_data if self._machine.eof else self._machine.unconsumed_tail
            if piece:
                return bytes(piece)
        return b""

    def close(self) -> None:
        self._raw.close()
        super().close()


def _inflate(name: str) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(Inflated(open(name, "rb")), 1 << 18))


class Guarded(io.RawIOBase):
    """A zip member that stops at its bounds and turns every kind of damage into one error."""

    def __init__(self, inner: BinaryIO, compressed: int) -> None:
        self._inner, self._compressed, self._read = inner, compressed, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        try:
            piece = self._inner.read(len(view))
        except EOFError as error:
            raise ArchiveError("the compressed data ends early") from error
        except (zlib.error, OSError) as error:
            raise ArchiveError(f"the compressed data is damaged: {error}") from error
        self._read += len(piece)
        self._judge()
        view[: len(piece)] = piece
        return len(piece)

    def _judge(self) -> None:
        if self._read > MAX_MEMBER:
            raise ArchiveError(f"it grows beyond {MAX_MEMBER >> 30} GiB")
        if self._read > RATIO_GRACE and self._read > MAX_RATIO * self._compressed:
            raise ArchiveError(f"it grows more than {MAX_RATIO} times when unpacked: not a log")

    def close(self) -> None:
        self._inner.close()
        super().close()


def _tar(name: str) -> tuple[list[Source], list[Skipped]]:
    """A tar's members. Each is opened by a walk of its own: simple, and tars of logs are read in parallel by file."""
    import tarfile

    sources: list[Source] = []
    skipped: list[Skipped] = []
    try:
        with _open_tar(name) as tar:
            for member in tar:
                shown = f"{name}!{member.name}"
                if len(sources) >= MAX_MEMBERS:
                    skipped.append(Skipped(name, f"more than {MAX_MEMBERS} members: the rest was not read"))
                    break
                if member.isdir():
                    continue
                if not member.isreg():
                    skipped.append(Skipped(shown, "a link or device inside an archive: not followed"))
                    continue
                sources.append(_tar_source(name, member, shown))
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        skipped.append(Skipped(name, f"damaged archive, read up to there: {error}"))
    return sources, skipped


def _open_tar(name: str) -> tarfile.TarFile:
    import tarfile

    with open(name, "rb") as file:
        packed = file.read(2) == _GZ
    if packed:
        return tarfile.open(fileobj=_inflate(name), mode="r|")
    return tarfile.open(name, mode="r:")


def _tar_source(name: str, member: tarfile.TarInfo, shown: str) -> Source:
    def reopen() -> BinaryIO:
        tar = _open_tar(name)
        for one in tar:
            if one.name == member.name and one.isreg():
                stream = tar.extractfile(one)
                if stream is not None:
                    return _inner(cast(BinaryIO, stream), one.name)
        raise ArchiveError("the member is gone")

    return Source(shown, reopen, member.size, hints(shown))


def _inner(stream: BinaryIO, name: str) -> BinaryIO:
    """A member that is itself compressed (rotated logs in a bundle) is inflated once more; deeper nesting is not."""
    if name.endswith((".gz", ".tgz")) and not name.endswith((".tar.gz", ".tgz")):
        return cast(BinaryIO, io.BufferedReader(Inflated(stream), 1 << 18))
    return stream


def _zip(name: str) -> tuple[list[Source], list[Skipped]]:
    import zipfile

    sources: list[Source] = []
    skipped: list[Skipped] = []
    try:
        with zipfile.ZipFile(name) as archive:
            for info in archive.infolist()[:MAX_MEMBERS]:
                shown = f"{name}!{info.filename}"
                if info.is_dir():
                    continue
                if info.flag_bits & 1:
                    skipped.append(Skipped(shown, "encrypted"))
                    continue
                sources.append(_zip_source(name, info.filename, info.compress_size, shown, info.file_size))
            if len(archive.infolist()) > MAX_MEMBERS:
                skipped.append(Skipped(name, f"more than {MAX_MEMBERS} members: the rest was not read"))
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError) as error:
        skipped.append(Skipped(name, f"damaged archive: {error}"))
    return sources, skipped


def _zip_source(name: str, member: str, packed: int, shown: str, size: int) -> Source:
    def reopen() -> BinaryIO:
        import zipfile

        stream = zipfile.ZipFile(name).open(member)
        return _inner(cast(BinaryIO, io.BufferedReader(Guarded(cast(BinaryIO, stream), packed), 1 << 16)), member)

    return Source(shown, reopen, size, hints(shown))
