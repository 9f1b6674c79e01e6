"""One line of evidence: centred on what matched, with a mark beneath it; in two rows where one does not hold it."""

from __future__ import annotations

from doctor.base import notation
from doctor.render.document import Document, Evidence
from doctor.render.layout import cells, cut, wrap
from parsers.lazy import lazy
from parsers.named import NamedTuple
from parsers.traceback_forms import EXCEPTION, FRAME

DOTS = "..."


class Excerpt(NamedTuple):
    """A part of a line; where in it (in cells) what matched stands, and how wide that is: 0 when it is not known."""

    text: str
    at: int
    size: int


def excerpt(one: Evidence, width: int) -> Excerpt:
    """The row that matched, in at most `width` cells."""
    row = _row(one)
    if not one.matched or one.matched not in row:
        return Excerpt(cut(row, width), 0, 0)
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


def passage(one: Evidence, width: int, most: int = 2) -> tuple[str, ...]:
    """A few rows of what matched, of the whole line where that is not known, where a single row is too narrow for it; else nothing.

    Its middle goes where even they do not hold it: what failed stands at one of the ends. A mark beneath would mark all of it.
    """
    row = _row(one)
    match = one.matched if one.matched and one.matched in row else row
    if cells(match) <= width - (2 * len(DOTS) if match != row else 0):
        return ()
    room = most * width - ORPHAN
    if cells(row) > room:
        row = cut(row, room) if match == row else _without_middle(match, room - len(DOTS)) + (DOTS if not row.endswith(match) else "")
    rows = wrap(row.strip(), width)
    if len(rows) > most:  # words as long as rows
        head = _head(row, width)
        rows = [head, cut(row[len(head) :], width)]
    return tuple(rows)


ORPHAN = 16  # cells that rows broken at blanks leave empty


def _row(one: Evidence) -> str:
    """The row of the evidence that matched, without what only tells when and where it was printed."""
    rows = one.text.split("\n")
    row = next((r for r in rows if one.matched and one.matched in r), rows[-1] if FRAME.match(rows[0]) else rows[0])
    short = notation.brief(row)
    return short if not one.matched or one.matched not in row or one.matched in short else row


def _without_middle(text: str, width: int) -> str:
    if cells(text) <= width:
        return text
    head = _head(text, (width - len(DOTS)) // 2)
    return head + DOTS + _tail(text, width - cells(head) - len(DOTS))


def _head(text: str, width: int) -> str:
    used = 0
    for number, c in enumerate(text):
        used += cells(c)
        if used > width:
            return text[:number]
    return text


def _tail(text: str, width: int) -> str:
    return _head(text[::-1], max(0, width))[::-1]


def foremost(document: Document) -> Evidence | None:
    """The evidence to show alone: an exception with the place that raised it, else one alone, else the first that took part in the decision.

    A frame of a stack says less than the line it led to, and a setting less than the failure that rests on it.
    """
    found = [e for e in document.evidence if e.matched] or list(document.evidence)
    ranked = (
        [e for e in found if "\n" in e.text and FRAME.match(e.text)],
        [e for e in found if EXCEPTION.match(_BY_PYTEST.sub("", e.text))],
        [e for e in found if ("\n" in e.text or not FRAME.match(e.text)) and not _COURSE.match(e.text)],
        [e for e in found if "\n" in e.text or not FRAME.match(e.text)],
        found,
    )
    told = next((rows[0] for rows in ranked if rows), None)
    if told is not None and _HEADER.match(told.text):  # what is said stands beneath it
        beneath = [e for e in document.evidence if e.path == told.path and 0 < e.line - told.line <= _BENEATH and not (_HEADER.match(e.text) or FRAME.match(e.text))]
        return min(beneath, key=lambda e: (_OF_PIPELINE.search(e.text) is not None, e.line), default=told)
    if told is not None and _SOURCE.match(told.text):  # what came of that line, though it only adds to the decision
        return next((e for e in document.evidence if EXCEPTION.match(e.text)), told)
    return told


_HEADER = lazy(r"(?:E {2,8})?(?:[\w.]{1,120}(?:Error|Exception)|\[\w{3,60}\] encounters error):[ \t]*(?:\n|\Z)|/{3}-{3,}\[")
_OF_PIPELINE = lazy(r"error: (?:Failed to )?run Bi[Ss]heng")  # that it stopped, not at what
_BENEATH = 12  # lines from a header to what it is the header of
_SOURCE = lazy(r" {4}(?=\S)[^\n]*\Z")  # a line of a program, beneath its place
_COURSE = lazy(r"\W{0,2}(?:INFO|DEBUG)\b")  # what a program tells of its own course
_BY_PYTEST = lazy(r"^E {2,8}(?=\S)")  # pytest marks the lines of an exception
