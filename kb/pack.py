"""The compiled form of one layer of knowledge: one file, read in pieces, never trusted blindly.

Layout: a JSON header in the first line (format, digest, stamp, sections with offset, length and checksum), then the
sections. `index` is what every scan needs; entries, codes, cards and variables are looked up one by one by offset.
"""

from __future__ import annotations

import json
import mmap
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

FORMAT = 23
HEADER_LIMIT = 65536


T = TypeVar("T")


class BrokenPackError(Exception):
    """The file is no pack, an old one, or damaged: build it again."""


class Header(NamedTuple):
    digest: str
    stamp: str
    version: str  # of the knowledge itself; empty for a user's folder
    sections: Mapping[str, tuple[int, int, int]]


class Pack:
    """An open pack. Small sections are decoded on first use; objects are decoded one at a time."""

    def __init__(self, data: bytes | mmap.mmap) -> None:
        end = data.find(b"\n", 0, HEADER_LIMIT)
        if end < 0:
            raise BrokenPackError("no header")
        try:
            raw = json.loads(data[:end])
            if raw["format"] != FORMAT:
                raise BrokenPackError("another format")
            sections = {k: (v[0], v[1], v[2]) for k, v in raw["sections"].items()}
            self.header = Header(raw["digest"], raw["stamp"], raw["version"], sections)
            if sum(length for _, length, _ in sections.values()) != len(data) - end - 1:
                raise BrokenPackError("cut off")
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise BrokenPackError("header not readable") from error
        self._data, self._base = data, end + 1
        self._decoded: dict[str, Any] = {}

    @classmethod
    def of_file(cls, path: Path) -> Pack:
        """A file is mapped: of ten megabytes a run reads a few pages. Packs are only ever replaced whole, never written into."""
        with open(path, "rb") as file:
            try:
                return cls(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            except ValueError as error:
                raise BrokenPackError("an empty file") from error

    @property
    def data(self) -> bytes:
        """The whole pack, as it is kept in a file."""
        return bytes(self._data)

    def _bytes(self, name: str) -> bytes:
        self._intact(name)
        offset, length, _ = self.header.sections[name]
        return self._data[self._base + offset : self._base + offset + length]

    def _intact(self, name: str) -> None:
        offset, length, crc = self.header.sections[name]
        with memoryview(self._data) as whole, whole[self._base + offset : self._base + offset + length] as piece:
            if len(piece) != length or zlib.crc32(piece) != crc:
                raise BrokenPackError(f"section {name} is damaged")

    def check(self) -> None:
        """Raises BrokenPackError when the index or any object is not what was written: a few milliseconds."""
        self.section("index")
        self._intact("blob")

    def section(self, name: str) -> Any:
        """A whole section as JSON."""
        if name not in self._decoded:
            try:
                self._decoded[name] = json.loads(self._bytes(name))
            except (ValueError, KeyError) as error:
                raise BrokenPackError(f"section {name} is not readable") from error
        return self._decoded[name]

    def item(self, at: list[int]) -> Any:
        """One object of the blob, by offset and length."""
        offset, _, _ = self.header.sections["blob"]
        start = self._base + offset + at[0]
        try:
            return json.loads(self._data[start : start + at[1]])
        except ValueError as error:
            raise BrokenPackError("an object is not readable") from error


class Writer:
    """Collects sections and objects, then makes the bytes of a pack."""

    def __init__(self) -> None:
        self._blob = bytearray()
        self._sections: dict[str, bytes] = {}

    def add(self, value: Any) -> tuple[int, int]:
        piece = _dump(value)
        at = (len(self._blob), len(piece))
        self._blob += piece
        return at

    def parts(self, at: tuple[int, int], values: Sequence[Any]) -> Iterator[tuple[int, int]]:
        """Where the members of a list of an object stand, in their order: they can be read alone, and need not be kept twice."""
        start, end = at[0], sum(at)
        for value in values:
            piece = _dump(value)
            start = self._blob.index(piece, start, end)
            yield start, len(piece)
            start += len(piece)

    def section(self, name: str, value: Any) -> None:
        self._sections[name] = _dump(value)

    def finish(self, digest: str, stamp: str, version: str = "") -> bytes:
        body, table = bytearray(), {}
        for name, piece in {**self._sections, "blob": bytes(self._blob)}.items():
            table[name] = (len(body), len(piece), zlib.crc32(piece))
            body += piece
        header = {"format": FORMAT, "digest": digest, "stamp": stamp, "version": version, "sections": table}
        return _dump(header) + b"\n" + bytes(body)


def _dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def write_atomically(path: Path, data: bytes) -> bool:
    """Puts the file in place in one step; False when the place cannot be written (a cache is a convenience)."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        import tempfile

        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        except BaseException:  # an interrupt leaves nothing behind either
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError:
        return False
    return True


def keep_newest(folder: Path, pattern: str, count: int, spared: Path | None = None) -> None:
    """Of the files of a cache, those written last, and the one that is spared: knowledge changes, and nobody else would ever tidy up."""
    try:
        found = sorted((path for path in folder.glob(pattern) if path != spared), key=lambda path: path.stat().st_mtime_ns)
        for path in found[:-count]:
            path.unlink(missing_ok=True)
    except OSError:  # another process tidies up as well
        return
