"""Cuts a stream of lines into records.

What belongs together is decided line by line, so a cut never depends on how the stream was chunked, and memory holds
one record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from parsers.lazy import lazy
from parsers.line import read_line
from parsers.parsed import Line, Record, Row

LONGEST = 2000
"""Lines a record may have: a runaway (a dump of a tensor, a box that never closes) is cut, not collected."""

_GAP = lazy(r"\s*(?:> ?)?[+|]?[-=+]{8,}[+|]?\s*$|\s*$")


def _no(_: Line) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Format:
    """How records of a kind are recognised in a stream."""

    kind: str
    begins: Callable[[Line], bool]
    continues: Callable[[Sequence[Line], Line, int], bool]
    """(lines of the open record, next line, blank and rule lines in between) -> it belongs to the open record."""
    leads: Callable[[Line], bool] = _no
    """A rule line right before the beginning that is part of it (the upper border of a box)."""
    rows: Callable[[Sequence[str], int], tuple[Row, ...]] | None = None


def _text_begins(_: Line) -> bool:
    return True


def _text_continues(open_lines: Sequence[Line], line: Line, gap: int) -> bool:
    """Wrapped text: indented, without an identity of its own, directly below."""
    return gap == 0 and line.continuation and line.kind == "text" and bool(open_lines[0].text.strip())


TEXT = Format("text", _text_begins, _text_continues)
"""What no other format claims."""


def same_owner(one: Line, other: Line) -> bool:
    """Written by the same process, as far as the prefixes tell: their process ids, else their names."""
    if one.pid is not None and other.pid is not None:
        return one.pid == other.pid
    return one.worker == other.worker and (one.rank == other.rank or None in (one.rank, other.rank))


def runs(formats: Sequence[Format], lines: Iterable[str]) -> Iterator[Record]:
    """Records of the formats in the order of the lines, text between them; every line is in exactly one record."""
    open_format: Format | None = None
    open_lines: list[Line] = []
    gap: list[Line] = []
    start = number = 0
    for number, raw in enumerate(lines, 1):
        line = read_line(raw)
        if line.kind == "text" and _GAP.match(line.text[:400]):
            gap.append(line)
            if len(gap) >= LONGEST:
                if open_format is not None:
                    yield _record(open_format, open_lines, start)
                yield _record(TEXT, gap, number - len(gap) + 1)
                open_format, open_lines, gap = None, [], []
            continue
        if (
            open_format is not None
            and len(open_lines) + len(gap) < LONGEST
            and open_format.continues(open_lines, line, len(gap))
        ):
            open_lines += [*gap, line]
            gap = []
            continue
        if open_format is not None:
            # A rule right below closes what is open (the lower border); it is nobody else's.
            while gap and open_format.leads(gap[0]):
                open_lines.append(gap.pop(0))
            yield _record(open_format, open_lines, start)
        open_format = next((form for form in formats if form.begins(line)), TEXT)
        lead = len(gap)
        while lead and open_format.leads(gap[lead - 1]):
            lead -= 1
        if lead:
            yield _record(TEXT, gap[:lead], number - len(gap))
        open_lines = [*gap[lead:], line]
        start = number - len(open_lines) + 1
        gap = []
    if open_format is not None:
        while gap and open_format.leads(gap[0]):
            open_lines.append(gap.pop(0))
        yield _record(open_format, open_lines, start)
    if gap:
        yield _record(TEXT, gap, number - len(gap) + 1)


def _record(form: Format, lines: Sequence[Line], start: int) -> Record:
    texts = [line.text for line in lines]
    head = next((line for line in lines if not _GAP.match(line.text[:400])), None)
    found = form.rows(texts, start) if form.rows is not None else ()
    return Record(form.kind, start, start + len(lines) - 1, "\n".join(texts), head, found)


def begins_with(form: Format, lines: Iterable[str]) -> bool:
    """Whether the first line that says something opens a record of the format."""
    for raw in lines:
        line = read_line(raw)
        if line.kind != "text" or not _GAP.match(line.text[:400]):
            return form.begins(line)
    return False
