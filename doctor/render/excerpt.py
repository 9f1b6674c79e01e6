"""One line of evidence: centred on what matched, with a mark beneath it."""

from __future__ import annotations

from typing import NamedTuple

from doctor.base import notation
from doctor.render.document import Evidence
from doctor.render.layout import cells, cut
from parsers.traceback_forms import FRAME

DOTS = "..."


class Excerpt(NamedTuple):
    """A part of a line; where in it (in cells) what matched stands, and how wide that is: 0 when it is not known."""

    text: str
    at: int
    size: int


def excerpt(one: Evidence, width: int) -> Excerpt:
    """The row that matched, in at most `width` cells."""
    rows = one.text.split("\n")
    row = next((r for r in rows if one.matched and one.matched in r), rows[-1] if FRAME.match(rows[0]) else rows[0])
    if not one.matched or one.matched not in row:
        return Excerpt(cut(notation.brief(row), width), 0, 0)
    short = notation.brief(row)
    row = short if one.matched in short else row
    at = row.index(one.matched)
    before, match, after = row[:at], one.matched, row[at + len(one.matched) :]
    if cells(row) > width:
        match = _head(match, width - 2 * len(DOTS))
        room = width - cells(match)
        after = after if match == one.matched else one.matched[len(match) :] + after
        left = min(cells(before), max(room // 2, room - cells(after)))
        before = before if cells(before) <= left else DOTS + _tail(before, left - len(DOTS))
        left = room - cells(before)
        after = after if cells(after) <= left else _head(after, left - len(DOTS)) + DOTS
    return Excerpt(before + match + after, cells(before), cells(match))


def _head(text: str, width: int) -> str:
    used = 0
    for number, c in enumerate(text):
        used += cells(c)
        if used > width:
            return text[:number]
    return text


def _tail(text: str, width: int) -> str:
    return _head(text[::-1], max(0, width))[::-1]
