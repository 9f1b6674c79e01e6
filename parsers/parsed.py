"""What parsing gives: `Line` (one physical line, peeled) and `Row` (of a table).

Times are naive ISO text: logs carry the local time of the host without a zone, and text of one width compares like
the time itself.
"""

from __future__ import annotations

from parsers.named import NamedTuple

_DAYS_BEFORE = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)


class Line(NamedTuple):
    """One physical line. `text` is what signatures are matched on: launcher prefixes are gone, a plog head stays.

    A field is None when the line does not print it; nothing is guessed from neighbours here.
    """

    kind: str
    """plog | message | traceback | launcher | kernel | shell | text"""
    text: str
    level: str | None = None
    """debug | info | event | trace | warning | error | fatal"""
    module: str | None = None
    time: str | None = None
    pid: int | None = None
    rank: int | None = None
    worker: str | None = None
    device: int | None = None
    source: str | None = None


class Row(NamedTuple):
    """A row of a parsed table; `cells` are names and values as text, in the order of the table's columns."""

    table: str
    """npu-smi.chip | npu-smi.process | npu-smi.summary | key-value"""
    line: int
    cells: tuple[tuple[str, str], ...]

    def get(self, name: str) -> str | None:
        for key, value in self.cells:
            if key == name:
                return value
        return None


def seconds(time: str) -> float:
    """ISO text to seconds of a naive calendar: differences are right, the origin means nothing.

    >>> seconds("2026-03-01T00:00:00.500000") - seconds("2026-02-28T23:59:59.000000")
    1.5
    """
    year, month = int(time[:4]), int(time[5:7])
    leaps_of = year if month > 2 else year - 1
    days = (
        year * 365
        + leaps_of // 4
        - leaps_of // 100
        + leaps_of // 400
        + _DAYS_BEFORE[(month - 1) % 12]
        + int(time[8:10])
    )
    return days * 86400.0 + int(time[11:13]) * 3600 + int(time[14:16]) * 60 + float(time[17:] or 0)
