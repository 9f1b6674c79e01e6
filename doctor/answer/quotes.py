"""Quotations: what a log says, letter by letter, at a line of it.

The text of a report's evidence is made safe for screens: tabs are blanks there, controls are question marks, what stands in
front of a message is taken off. Who quotes a log to somebody who will look for the words in it takes them from the line
itself. A quotation keeps tabs; what would steer a terminal, or is no text, is left out and marked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from doctor.base.notation import clean
from doctor.read import again
from doctor.read.source import Source
from kb.invisible import STEERING

Json = dict[str, Any]
GAP = "[...]"  # something of the line is left out here
MAX_QUOTE = 4000
_HIDDEN = re.compile(f"(?:{STEERING.pattern}|\ufffd)+")
_PSEUDONYM_CUT = re.compile(r"<[a-z]{2,8}(?:-[\w-]{0,40})?$")


def cited(report: Json, sources: Iterable[Source]) -> Json:
    """The report with quotations out of the logs that it was made of, which are read once more at the lines that it names."""
    return with_quotes(report, again.rows(sources, again.places(report)))


def with_quotes(report: Json, rows: Mapping[tuple[str, int], str]) -> Json:
    """The report, each of its places with `quote`, and `exact`: whether that was taken from the log itself."""
    made: Json = _walk(report, rows)
    return made


def _walk(value: Any, rows: Mapping[tuple[str, int], str]) -> Any:
    if isinstance(value, dict):
        if "path" in value and "line" in value and "text" in value:
            return {**value, **_quoted(value, rows.get((value["path"], value["line"])))}
        return {k: _walk(v, rows) for k, v in value.items()}
    return [_walk(v, rows) for v in value] if isinstance(value, list) else value


def _quoted(one: Json, raw: str | None) -> Json:
    shown = row(one["text"])
    if raw is None:
        return {"quote": shown[:MAX_QUOTE], "exact": False}
    return {"quote": _HIDDEN.sub(GAP, span(raw, shown)), "exact": True}


def row(text: str) -> str:
    """The row of an evidence's text that stands at its line: an exception is shown with the frame that raised it."""
    rows = text.split("\n")
    if rows[0].startswith('  File "'):
        return next((one for one in rows if not one.startswith("  ")), rows[0])
    return rows[0]


def span(raw: str, shown: str) -> str:
    """The part of a line that a report shows, as it stands in the line; the whole line where it shows something else."""
    wanted = shown.strip()
    at = raw.find(wanted) if wanted else -1
    if at >= 0:
        return raw[at : at + len(wanted)]
    pieces = [clean(letter) for letter in raw]
    at = "".join(pieces).find(wanted) if wanted else -1
    if at < 0:
        return raw.strip()[:MAX_QUOTE]
    origin = [number for number, piece in enumerate(pieces) for _ in piece]
    return raw[origin[at] : origin[at + len(wanted) - 1] + 1]


def fitted(quote: str, matched: str, width: int) -> str:
    """At most so many letters of a quotation, what matched among them; what is left out is marked."""
    if len(quote) <= width:
        return quote
    at = quote.find(matched) if matched else -1
    begin = 0 if at < 0 or at + len(matched) <= width else max(0, at - width // 4)
    blank = quote.find(" ", begin, begin + 20)
    begin = blank + 1 if begin and blank >= 0 else begin
    piece = quote[begin : begin + width]
    end = begin + len(piece) < len(quote)
    piece = _PSEUDONYM_CUT.sub("", piece) if end else piece
    return f"{GAP if begin else ''}{piece}{GAP if end else ''}"
