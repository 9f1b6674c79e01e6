"""Text in columns: widths as terminals count them (Chinese characters are two wide), wrapping, colours, plain encodings."""

from __future__ import annotations

import os
import stat
import sys
import unicodedata
from typing import NamedTuple, TextIO


class Style(NamedTuple):
    """How to write: width in cells, colours or none, whether the output can carry more than ASCII marks."""

    width: int = 80
    colour: bool = False
    unicode: bool = True

    @property
    def dot(self) -> str:
        """What stands between two facts on a line."""
        return "·" if self.unicode else "|"


def style_of(stream: TextIO, asked: str = "auto") -> Style:
    """What this stream can show: NO_COLOR, TERM=dumb, COLUMNS and the encoding are honoured."""
    encoding = (getattr(stream, "encoding", None) or "ascii").lower()
    tty = stream.isatty()
    env = os.environ
    colour = tty and "NO_COLOR" not in env and env.get("TERM") != "dumb"
    if env.get("FORCE_COLOR") or env.get("CLICOLOR_FORCE", "0") != "0":
        colour = "NO_COLOR" not in env
    if asked in ("always", "never"):
        colour = asked == "always"
    width = 100
    if env.get("COLUMNS", "").isdigit():
        width = int(env["COLUMNS"])
    elif tty or _is_pipe(stream):  # what goes through `head` or `less` ends on the terminal that errors go to
        try:
            width = os.get_terminal_size((stream if tty else sys.stderr).fileno()).columns
        except (OSError, ValueError, AttributeError):
            width = 80 if tty else width
    return Style(max(40, min(width, 120)), colour, encoding.startswith(("utf", "gb")))


def _is_pipe(stream: TextIO) -> bool:
    try:
        return stat.S_ISFIFO(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):
        return False


def prepare(stream: TextIO) -> None:
    """A stream that cannot encode a character shows an escape instead of ending the program."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def cells(text: str) -> int:
    """The width of a text in terminal cells."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def cut(text: str, width: int) -> str:
    """The text in at most `width` cells, with dots where something is left out."""
    if cells(text) <= width:
        return text
    kept, used = [], 0
    for c in text:
        w = cells(c)
        if used + w > width - 3:
            break
        kept.append(c)
        used += w
    return "".join(kept) + "..."


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most `width` cells, broken at blanks or between Chinese characters; words longer than a line are cut."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line, used = "", 0
        for piece in _pieces(paragraph):
            w = cells(piece)
            if used + w > width and line.strip():
                lines.append(line.rstrip())
                line, used = "", 0
                piece = piece.lstrip()
                w = cells(piece)
            while w > width:
                head = piece[: max(1, width // (2 if not piece.isascii() else 1))]
                lines.append(head)
                piece = piece[len(head) :]
                w = cells(piece)
            line += piece
            used += w
        lines.append(line.rstrip())
    return lines or [""]


_CLOSING = "，。；：！？、）》」』”’"


def _pieces(text: str) -> list[str]:
    """Words with the blanks before them; each wide character for itself, closing punctuation kept with what it closes."""
    found: list[str] = []
    word = ""
    for c in text:
        if c in _CLOSING and (word or found):
            if word:
                word += c
            else:
                found[-1] += c
        elif not c.isascii() and cells(c) == 2:
            if word:
                found.append(word)
            found.append(c)
            word = ""
        elif c == " " and word.strip():
            found.append(word)
            word = c
        else:
            word += c
    return [*found, word] if word else found


_COLOURS = {
    "fatal": "1;31",
    "error": "31",
    "warning": "33",
    "info": "36",
    "bold": "1",
    "dim": "2",
    "good": "32",
    "code": "36",
    "label": "2",
}


def paint(text: str, name: str, style: Style) -> str:
    return f"\x1b[{_COLOURS[name]}m{text}\x1b[0m" if style.colour and text else text
