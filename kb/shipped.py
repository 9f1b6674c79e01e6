"""The knowledge as it is shipped: the header of a pack, and behind it the rest, compressed. What it unpacks to is kept in the cache.

A wheel is a sixteenth smaller so. Whoever has no place for a cache pays for the unpacking at every start, about 0.2 s. LZMA and not
zstd: it takes 60 KB less, as much as fifty entries, and is unpacked once. In the objects of entries bzip2 finds more still. Sections,
which every start reads, are plain in a pack; here they are written in the letters of its objects, whose words they say again.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path

from kb.letters import Letters, lettered, reader, spelled_out, written
from kb.pack import (
    ENTRIES,
    HEADER_LIMIT,
    LANGUAGES,
    OBJECTS,
    SHELVES,
    BrokenPackError,
    Header,
    Pack,
    header,
    keep_newest,
    steps_of,
    write_atomically,
)
from kb.shelves import NEXT

MAGIC = b"\xfd7zXZ\x00"  # with which xz begins
MAX_SIZE = 128_000_000
LETTERS, STEPS = "letters", "steps"
_LITERALS = 4  # bits of the letter before by which a letter is foretold; of positions none: this is text
_MEMORY = 256 << 20  # bytes that unpacking may take
_KEPT = 3  # programs that are in use
_AS_THEY_ARE = (LETTERS, *(name for name in (*SHELVES, *LANGUAGES) if name != ENTRIES))


def packed(data: bytes) -> bytes:
    """A pack as it is shipped."""
    import bz2
    import lzma

    end = data.index(b"\n") + 1
    head = header(data[:end])
    sections = {name: data[end + at : end + at + length] for name, (at, length, _) in head.sections.items()}
    write = written(_letters(sections[LETTERS]))
    told = (write(sections[name].decode()) for name in _plain(head))
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": _LITERALS, "lp": 0, "pb": 0, "nice_len": 273}]
    around = NEXT.join((b"".join(sections[name] for name in _AS_THEY_ARE), *told))
    made = data[:end] + lzma.compress(around, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC32, filters=filters) + bz2.compress(sections[ENTRIES], 9)
    if _unpacked(made[end:], head) != data[end:]:
        raise ValueError("a section is not what it was after it is unpacked")
    return made


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
    around, entries = _decompressed(data)
    sections, at = {ENTRIES: entries}, 0
    for name in _AS_THEY_ARE:
        length = head.sections[name][1]
        sections[name] = around[at : at + length]
        at += length
    try:
        read = reader(_letters(sections[LETTERS]))
        _, *told = around[at:].split(NEXT)
        sections.update((name, spelled_out(read(one)).encode()) for name, one in zip(_plain(head), told, strict=True))
        sections[STEPS] = steps_of({name: sections[name].split(NEXT) if sections[name] else [] for name in (*SHELVES, *LANGUAGES)})
    except (ValueError, KeyError, TypeError) as error:
        raise BrokenPackError(str(error)) from error
    return b"".join(sections[name] for name in head.sections)


def _decompressed(data: bytes) -> tuple[bytes, bytes]:
    """All but the entries, and these."""
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
    return around, within


def _plain(head: Header) -> Iterator[str]:
    """The sections that are written in letters when they are shipped; where shelves are entered is not shipped at all."""
    return (name for name in head.sections if name not in (STEPS, ENTRIES, *_AS_THEY_ARE))


def _letters(section: bytes) -> Letters:
    return lettered(json.loads(section)[OBJECTS])
