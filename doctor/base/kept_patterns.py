"""Where compiled patterns are kept from one run to the next: a file of each interpreter in the cache."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kb.in_use import cache_folder
from kb.pack import keep_newest, write_atomically
from parsers import patterns

_KEPT = 4  # interpreters that are in use


@contextmanager
def kept() -> Iterator[None]:
    """What is compiled meanwhile, the next run has at hand. A cache is a convenience: without a place for it nothing is lost but time."""
    folder, told = cache_folder(), patterns.interpreter()
    place = folder / f"patterns-{zlib.crc32(told.encode()):08x}.bin" if folder is not None and told else None
    if place is not None:
        patterns.remember(_read(place))
    try:
        yield
    finally:
        data = patterns.remembered() if place is not None else None
        if place is not None and data is not None:
            write_atomically(place, data)
            keep_newest(place.parent, "patterns-*.bin", _KEPT)


def _read(place: Path) -> bytes:
    try:
        return place.read_bytes()
    except OSError:
        return b""
