"""What a screen draws: lines of spans, each a text and the name of a style. Plain data, so no text is ever markup.

Every text passes through `shown` before it reaches a screen: control characters, escapes and characters that reorder
are replaced, and what cannot be encoded (names of files in other encodings) is written as escapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import overload

from doctor.base.notation import clean
from doctor.render.layout import cells, wrap
from parsers.named import NamedTuple

MAX_SHOWN = 10_000  # characters of one line that are ever drawn


class Span(NamedTuple):
    """A piece of a line; `style` is a name of `views.STYLES`, or empty."""

    text: str
    style: str = ""


Line = tuple[Span, ...]
BLANK: Line = ()


# Severity for eyes that see no colours, and for lists that have no room for its word. All are one cell wide everywhere.
GLYPHS = {"fatal": "✖", "error": "✗", "warning": "!", "info": "i"}


class Row(NamedTuple):
    """A row of a list: what stands left and right; rows without a key are headings that the cursor passes over.

    `of`: the key of the row that this one goes on with.
    """

    key: str
    left: Line
    right: Line = BLANK
    of: str = ""


class RowsOf(Sequence[Row]):
    """Rows of which only those on screen are ever made: a list of thousands costs what a page of it costs."""

    def __init__(self, keys: Sequence[str], make: Callable[[str], Row]) -> None:
        self.keys, self._make = keys, make

    def __len__(self) -> int:
        return len(self.keys)

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> list[Row]: ...
    def __getitem__(self, at: int | slice) -> Row | list[Row]:
        return self._make(self.keys[at]) if isinstance(at, int) else [self._make(key) for key in self.keys[at]]


def shown(text: str) -> str:
    """A text that can be drawn on one line whatever it holds."""
    if len(text) > MAX_SHOWN:
        text = text[:MAX_SHOWN]
    if text.isascii() and text.isprintable():
        return text
    text = clean(text.replace("\n", " "))
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def plain(line: Line) -> str:
    return "".join(span.text for span in line)


def width(line: Line) -> int:
    return sum(cells(span.text) for span in line)


def between(left: Iterable[Span], right: Iterable[Span], room: int) -> Line:
    """Left and right parts with the room between them; the left one gives way when there is none."""
    head, tail = tuple(left), tuple(right)
    if not tail:
        return cut(head, room)
    free = room - width(tail) - 1
    if width(head) > free:
        head = cut(head, max(0, free))
    return (*head, Span(" " * max(1, room - width(head) - width(tail))), *tail)


def cut(line: Line, room: int) -> Line:
    """The line in at most that many cells, with dots where something is left out: behind a word when one ends nearby."""
    if width(line) <= room:
        return line
    kept: list[Span] = []
    left = max(0, room - 2)
    for span in line:
        w = cells(span.text)
        if w <= left:
            kept.append(span)
            left -= w
            continue
        text = ""
        for c in span.text:
            if cells(text + c) > left:
                break
            text += c
        kept.append(Span(_whole_words(text, span.text) + ".." if room >= 2 else "", span.style))
        break
    return tuple(kept)


LONGEST_WORD = 16  # characters that are given up for the end of a word


_LEADS_ON = " ·/(（:：,，;；"  # what stands before more, and alone says nothing


def _whole_words(head: str, text: str) -> str:
    """The beginning of a text without the piece of a word that it ends in; a name that is longer is cut anywhere."""
    if text[len(head) : len(head) + 1] in ("", " "):
        return head.rstrip(_LEADS_ON)
    end = head.rfind(" ")
    piece = head[end + 1 :]
    return head[:end].rstrip(_LEADS_ON) if end > 0 and len(piece) <= LONGEST_WORD and piece.isascii() else head


def folded(text: str, room: int, style: str = "", indent: int = 0) -> list[Line]:
    """A text as lines of at most `room` cells, indented."""
    found: list[Line] = []
    pad = (Span(" " * indent),) if indent else ()
    for paragraph in text.split("\n"):
        found += [(*pad, Span(row, style)) for row in wrap(shown(paragraph), max(8, room - indent))]
    return found


def tail(text: str, room: int) -> str:
    """The end of a text in at most that many cells: of a path it names the file."""
    if cells(text) <= room:
        return text
    while text and cells(text) > room - 2:
        text = text[1:]
    return f"..{text}"
