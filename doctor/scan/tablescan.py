"""Tables in a source (npu-smi, hccn_tool): parsed where one of their anchors stands, matched by their fields."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from doctor.read.encoding import decode
from doctor.scan.harvest import Hit, Place
from doctor.scan.plan import PLAIN, REGEX_TIMEOUT_S
from doctor.scan.window_lines import WindowLines
from doctor.scan.windows import Window
from kb.model import Signal
from parsers import tables
from parsers.parsed import Row

BEFORE = 16 << 10  # a table's head may stand this far above the first anchor
AFTER = 96 << 10

Cells = tuple[tuple[str, str], ...]
_COMPARE = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}


class TableScan:
    """The rows of the tables of one source; a table that runs out of a window is finished in the next one."""

    def __init__(self) -> None:
        self._open: tuple[int, bytes] | None = None  # first line and bytes of a table that goes on

    @property
    def unfinished(self) -> bool:
        return self._open is not None

    def rows(self, window: Window, marks: list[int], lines: WindowLines) -> Iterator[tuple[Cells, Place]]:
        """Every row of every table around the marks (positions of lines), with its place."""
        data, begin = window.data, 0
        if self._open is not None:
            first, head = self._open
            begin = _line_after(data, AFTER, window.limit)
            self._open = None
            yield from self._parse(first, head + data[:begin], lines)
        for low, high in _regions(data, [m for m in marks if m >= begin], begin):
            if high > window.limit and not window.last:
                self._open = (lines.number(low), data[low : window.limit])
                break
            yield from self._parse(lines.number(low), data[low:high], lines)

    def _parse(self, first: int, text: bytes, lines: WindowLines) -> Iterator[tuple[Cells, Place]]:
        texts = [decode(raw) for raw in text.split(b"\n")]
        for row in tables.rows(texts, first):
            at = row.line - first
            yield _located(row, texts[at] if 0 <= at < len(texts) else "", lines)


def _located(row: Row, text: str, lines: WindowLines) -> tuple[Cells, Place]:
    hints = lines.source.hints
    device = next((int(v) for k, v in row.cells if k in ("device", "npu") and v.isdecimal() and len(v) < 10), None)
    place = Place(
        lines.source.name, row.line, row.line, None, None, row.table, "table", hints.node, None, hints.rank, device, None, text.strip()
    )  # fmt: skip
    return (("table", row.table), *row.cells), place


def _line_after(data: bytes, at: int, limit: int) -> int:
    end = data.find(b"\n", min(at, limit))
    return min(end + 1, limit) if end >= 0 else limit


def _regions(data: bytes, marks: list[int], begin: int) -> list[tuple[int, int]]:
    """Stretches of whole lines around the marks, joined where they touch."""
    found: list[tuple[int, int]] = []
    for mark in marks:
        low = max(begin, data.rfind(b"\n", 0, max(0, mark - BEFORE)) + 1)
        high = data.find(b"\n", min(len(data), mark + AFTER))
        high = len(data) if high < 0 else high
        if found and low <= found[-1][1]:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return found


def hits_of(rows: Iterable[tuple[Mapping[str, str], Place]], asked: Mapping[str, Sequence[Signal]]) -> tuple[Hit, ...]:
    """The leaves that rows fulfil which were concluded, not read: each names its table, by which it is known who asks for it."""
    return tuple(
        Hit(signal.id, place, tuple((name, value) for name, value in cells.items() if name != "table"))
        for cells, place in rows
        for signal in asked[cells["table"]]
        if holds(signal, tuple(cells.items()))
    )


def holds(signal: Signal, row: Cells) -> bool:
    """Does a row fulfil all conditions of a `fields` leaf?"""
    cells = dict(row)
    if cells.get("table") != signal.table:
        return False
    return all(name in cells and condition(wanted, cells[name], signal.trusted) for name, wanted in signal.where)


def condition(wanted: str, value: str, trusted: bool = True) -> bool:
    """`OK`, `!= OK`, `>= 90`, `in Warning, Alarm`, `~ regex` against a cell; a user's regex may raise TimeoutError."""
    wanted = wanted.strip()
    for sign, compare in _COMPARE.items():
        if wanted.startswith(sign):
            try:
                return bool(compare(float(value), float(wanted[len(sign) :])))
            except ValueError:
                return False
    if wanted.startswith("!="):
        return value != wanted[2:].strip()
    if wanted.startswith("in "):
        return value in [w.strip() for w in wanted[3:].split(",")]
    if wanted.startswith("~"):
        pattern = wanted[1:].strip()
        if trusted and len(value) <= PLAIN:
            return re.search(pattern, value) is not None
        import regex

        return regex.search(pattern, value, timeout=REGEX_TIMEOUT_S) is not None
    return value == wanted
