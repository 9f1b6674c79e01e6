"""The lines of a log around the places that matter, with its beginning and its end."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from doctor.read.again import MAX_ROW, PIECE
from doctor.scan.harvest import Harvest

TAIL = 1 << 16  # bytes at the end of a log in which its last lines are looked for
Spans = list[tuple[int, int]]


def places(harvest: Harvest) -> dict[str, set[int]]:
    """Where something stands that a conclusion may rest on."""
    found: dict[str, set[int]] = {}
    for place in (*(h.place for h in harvest.hits), *(h.place for h in harvest.facts), *(c.first for c in harvest.clusters)):
        found.setdefault(place.path, set()).update((place.line, place.end_line))
    return found


def spans(numbers: Iterable[int], around: int) -> Spans:
    """
    >>> spans([3, 9, 10, 30], 2)
    [(1, 5), (7, 12), (28, 32)]
    """
    return joined([(max(1, number - around), number + around) for number in numbers])


def cut(stream: BinaryIO, wanted: Spans, edge: int) -> Iterator[tuple[int, bytes]]:
    """The lines in these spans, the first ones and the last ones of the log, in order, each with its number."""
    wanted = joined([(1, edge), *wanted])
    ends = [last for _, last in wanted]
    number, carry, tail, told = 1, b"", b"", 0
    while piece := stream.read(PIECE):
        data = carry + piece
        end = data.rfind(b"\n") + 1
        whole, carry = data[:end], data[end:][:MAX_ROW]
        behind = number + whole.count(b"\n")
        at = bisect_left(ends, number)
        if at < len(wanted) and wanted[at][0] < behind:
            for line, raw in enumerate(whole.split(b"\n")[:-1], number):
                while at < len(wanted) and wanted[at][1] < line:
                    at += 1
                if at < len(wanted) and wanted[at][0] <= line:
                    told = line
                    yield line, raw[:MAX_ROW]
        tail, number = (tail + whole)[-TAIL:], behind
    rows = [*tail.split(b"\n")[:-1], *([carry] if carry else [])]
    first = number + bool(carry) - len(rows)
    for line, raw in list(enumerate(rows, first))[1 if len(tail) == TAIL else 0 :][-edge:]:
        if line > told:
            yield line, raw[:MAX_ROW]


def joined(given: Spans) -> Spans:
    """The same lines in spans that do not touch."""
    made: Spans = []
    for first, last in sorted(given):
        if made and first <= made[-1][1] + 1:
            made[-1] = (made[-1][0], max(made[-1][1], last))
        else:
            made.append((first, last))
    return made
