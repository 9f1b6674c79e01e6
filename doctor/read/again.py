"""Lines of sources by their numbers, read once more: what is quoted is taken from the log itself."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Mapping
from typing import BinaryIO

from doctor.base.notation import clean
from doctor.read.source import Source

PIECE = 1 << 20
MAX_ROW = 16 << 10  # bytes of a line that are kept
MAX_ROWS = 5000
Rows = dict[tuple[str, int], str]


def rows(sources: Iterable[Source], wanted: Iterable[tuple[str, int]]) -> Rows:
    """The lines that are there, by path as reports write it and by number. What cannot be read again gives none."""
    numbers: dict[str, set[int]] = {}
    for path, line in sorted(set(wanted))[:MAX_ROWS]:
        numbers.setdefault(path, set()).add(line)
    found: Rows = {}
    for source in sources:
        name = clean(source.name)
        if name not in numbers or source.once:
            continue
        try:
            with source.open() as stream:
                for line, raw in picked(stream, numbers[name]):
                    found.setdefault((name, line), exact(raw))
        except (OSError, EOFError, ValueError):
            continue  # the scan has told it already
    return found


def picked(stream: BinaryIO, wanted: set[int]) -> Iterator[tuple[int, bytes]]:
    """The lines of these numbers, in order; nothing behind the last of them is read."""
    last, number, carry = max(wanted, default=0), 1, b""
    while number <= last:
        piece = stream.read(PIECE)
        if not piece:
            if carry and number in wanted:
                yield number, carry[:MAX_ROW]
            return
        data = carry + piece
        end = data.rfind(b"\n") + 1
        whole, carry = data[:end], data[end:][:MAX_ROW]  # of a line without end its beginning is enough
        breaks = whole.count(b"\n")
        here = [line for line in wanted if number <= line < number + breaks]
        if here:
            split = whole.split(b"\n")
            yield from ((line, split[line - number][:MAX_ROW]) for line in sorted(here))
        number += breaks


def exact(raw: bytes) -> str:
    """The bytes as text, nothing put right: what is written back in the log's own encoding is what stands there."""
    raw = raw.rstrip(b"\r\n")
    for encoding in ("utf-8", "gb18030"):
        try:
            return codecs.getincrementaldecoder(encoding)().decode(raw)
        except UnicodeDecodeError:
            continue
    return raw.decode("utf-8", "replace")


def places(report: Mapping[str, object]) -> Iterator[tuple[str, int]]:
    """Every place of a log that a report names."""
    stack: list[object] = [report.get("findings"), report.get("unexplained"), report.get("decisive")]
    while stack:
        one = stack.pop()
        if isinstance(one, dict):
            path, line = one.get("path"), one.get("line")
            if isinstance(path, str) and isinstance(line, int):
                yield path, line
            stack += one.values()
        elif isinstance(one, list):
            stack += one
