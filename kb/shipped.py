"""The knowledge as it is shipped: the header of a pack, and behind it the rest, compressed. What it unpacks to is kept in the cache.

A wheel is a twentieth smaller so. Whoever has no place for a cache pays for the unpacking at every start.
"""

from __future__ import annotations

import zlib
from pathlib import Path

from kb.pack import HEADER_LIMIT, BrokenPackError, Pack, keep_newest, write_atomically

MAGIC = b"\x28\xb5\x2f\xfd"  # with which zstd begins
MAX_SIZE = 128_000_000
_KEPT = 3  # programs that are in use


def packed(data: bytes) -> bytes:
    """A pack as it is shipped."""
    import zstandard

    end = data.index(b"\n") + 1
    return data[:end] + zstandard.ZstdCompressor(level=22).compress(data[end:])


def opened(path: Path, cache: Path | None) -> Pack:
    """The pack of a file, be it compressed or not, checked."""
    with open(path, "rb") as file:
        head = file.read(HEADER_LIMIT)
        end = head.find(b"\n") + 1
        if not head.startswith(MAGIC, end):
            pack = Pack.of_file(path)
            pack.check()
            return pack
        place = cache / f"shipped-{zlib.crc32(head[:end]):08x}.pack" if cache is not None else None
        if place is not None and (kept := _kept(place, head[:end])) is not None:
            return kept
        data = head[:end] + _unpacked(head[end:] + file.read(MAX_SIZE))
    pack = Pack(data)
    pack.check()
    if place is not None and write_atomically(place, data):
        keep_newest(place.parent, "shipped-*.pack", _KEPT)
    return pack


def _kept(place: Path, head: bytes) -> Pack | None:
    """What was unpacked before, when it is that."""
    try:
        pack = Pack.of_file(place)
        pack.check()
    except (BrokenPackError, OSError):
        return None
    return pack if pack.begins(head) else None


def _unpacked(data: bytes) -> bytes:
    try:
        import zstandard  # once for each program that is installed
    except ImportError as error:
        raise BrokenPackError("the package zstandard is missing") from error
    try:
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=MAX_SIZE)
    except (zstandard.ZstdError, MemoryError) as error:
        raise BrokenPackError(str(error)) from error
