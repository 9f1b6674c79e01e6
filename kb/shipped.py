"""The knowledge as it is shipped: the header of a pack, and behind it the rest, compressed. What it unpacks to is kept in the cache.

A wheel is a twentieth smaller so. Whoever has no place for a cache pays for the unpacking at every start, about 0.15 s. LZMA and not
zstd: it takes 60 KB less, as much as fifty entries, and is unpacked once. In the objects of entries bzip2 finds more still.
"""

from __future__ import annotations

import zlib
from pathlib import Path

from kb.pack import ENTRIES, HEADER_LIMIT, BrokenPackError, Header, Pack, header, keep_newest, write_atomically

MAGIC = b"\xfd7zXZ\x00"  # with which xz begins
_LITERALS = 4  # bits of the letter before by which a letter is foretold; of positions none: this is text
MAX_SIZE = 128_000_000
_MEMORY = 256 << 20  # bytes that unpacking may take
_KEPT = 3  # programs that are in use


def packed(data: bytes) -> bytes:
    """A pack as it is shipped: entries stand behind the rest."""
    import bz2
    import lzma

    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": _LITERALS, "lp": 0, "pb": 0, "nice_len": 273}]
    end = data.index(b"\n") + 1
    at, length, _ = header(data[:end]).sections[ENTRIES]
    before, entries, after = data[end : end + at], data[end + at : end + at + length], data[end + at + length :]
    return data[:end] + lzma.compress(before + after, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC32, filters=filters) + bz2.compress(entries, 9)


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
        data = head[:end] + _unpacked(head[end:] + file.read(MAX_SIZE), header(head[:end]))
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


def _unpacked(data: bytes, head: Header) -> bytes:
    """What follows the header of a pack."""
    try:
        import bz2  # once for each program that is installed
        import lzma
    except ImportError as error:
        raise BrokenPackError(
            "this Python was built without lzma or bz2: take another one, or build it where their headers are (xz-devel and bzip2-devel, liblzma-dev and libbz2-dev)"
        ) from error
    rest, entries = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_MEMORY), bz2.BZ2Decompressor()
    try:
        around = rest.decompress(data, max_length=MAX_SIZE)
        within = entries.decompress(rest.unused_data, max_length=MAX_SIZE) if rest.eof else b""
    except (lzma.LZMAError, MemoryError, OSError) as error:
        raise BrokenPackError(str(error)) from error
    if not rest.eof or not entries.eof:
        raise BrokenPackError("cut off, or larger than knowledge is")
    at = head.sections[ENTRIES][0]
    return around[:at] + within + around[at:]
