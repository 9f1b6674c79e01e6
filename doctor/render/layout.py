"""Text in columns: widths as terminals count them (Chinese characters are two wide), wrapping, colours, plain encodings."""

from __future__ import annotations

import os
import stat
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TextIO

from parsers.lazy import lazy
from parsers.named import NamedTuple

SMALL, LARGE = 24, 44  # rows of a small terminal, and as many as are read at a glance
UNSEEN = 40  # rows where no screen is known: a file, another program


class Style(NamedTuple):
    """How to write: width in cells, colours or none, whether the output can carry more than ASCII marks."""

    width: int = 80
    colour: bool = False
    unicode: bool = True
    links: bool = False  # OSC 8: paths and references can be clicked
    rich: bool = False  # 256 colours: shades that read on light and on dark
    rows: int = SMALL  # of the screen that it ends on

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
    columns, lines = _size(stream.fileno()) or (80, SMALL) if tty else (_is_pipe(stream) and _behind()) or (100, UNSEEN)
    width, rows = (int(env[name]) if env.get(name, "").isdigit() else found for name, found in (("COLUMNS", columns), ("LINES", lines)))
    links = tty and colour and clickable(env)
    rich = "256" in env.get("TERM", "") or env.get("COLORTERM", "") != ""
    return Style(max(40, min(width, 120)), colour, encoding.startswith(("utf", "gb")), links, rich, max(SMALL, min(rows, LARGE)))


_CLICKABLE = ("kitty", "alacritty", "foot", "ghostty", "wezterm", "contour")
_CLICKABLE_PROGRAMS = ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio", "Tabby")


def clickable(env: Mapping[str, str]) -> bool:
    """Does the terminal know OSC 8? Only those that are known to; FORCE_HYPERLINK=1 or 0 decides."""
    if env.get("FORCE_HYPERLINK"):
        return env["FORCE_HYPERLINK"] != "0"
    if env.get("TMUX") or env.get("TERM", "").startswith(("screen", "tmux")):
        return False  # whether it hands links on, and to what, cannot be told
    vte = env.get("VTE_VERSION", "")
    return (
        env.get("TERM_PROGRAM", "") in _CLICKABLE_PROGRAMS
        or any(name in env.get("TERM", "") for name in _CLICKABLE)
        or bool(env.get("KONSOLE_VERSION") or env.get("WT_SESSION") or env.get("KITTY_WINDOW_ID"))
        or (vte.isdigit() and int(vte) >= 5000)
    )


def linked(text: str, target: str, style: Style) -> str:
    """The text as a link: to a page, or to a file of this machine that is there."""
    if not style.links or not text:
        return text
    if not target.startswith(("https://", "http://")):
        if not os.path.isfile(target):
            return text
        from pathlib import Path
        from socket import gethostname

        target = Path(target).resolve().as_uri().replace("file://", f"file://{gethostname()}", 1)
    return f"\x1b]8;;{target}\x1b\\{text}\x1b]8;;\x1b\\"


def _size(handle: int) -> tuple[int, int] | None:
    """Columns and lines of a terminal, where it tells them."""
    try:
        found = os.get_terminal_size(handle)
    except (OSError, ValueError):
        return None
    return (found.columns, found.lines or SMALL) if found.columns else None


def _behind() -> tuple[int, int] | None:
    """How large the terminal behind a pipe is: what goes through `head` or `less` ends on the one that errors go to, or on the one of the session."""
    try:
        if found := _size(sys.stderr.fileno()):
            return found
        handle = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except (OSError, ValueError, AttributeError):
        return None
    try:
        return _size(handle)
    finally:
        os.close(handle)


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


_DRAWN = lazy(r"\x1b(?:\[[\d;]*m|\]8;[^\x1b]*\x1b\\)")


def rows_of(text: str, width: int) -> int:
    """How many rows of a terminal a text takes: what is to be pasted is never broken, so the terminal does it."""
    return sum(max(1, -(-cells(_DRAWN.sub("", row)) // width)) for row in text.rstrip("\n").split("\n"))


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


_RESET = "\x1b[0m"


def dotted(row: str, width: int) -> str:
    """The row with dots at its end, within the width."""
    tail = _RESET if row.endswith(_RESET) else ""
    row = row.removesuffix(_RESET)
    while cells(_DRAWN.sub("", row)) > width - 4:
        row = row[:-1]
    return f"{row.rstrip(' .,;，。；')} ...{tail}"


ORPHAN = 8  # cells: what is shorter than this is no line of its own
HELD = "\u00a0"  # a blank at which no line is broken; it is drawn as a blank


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most `width` cells, broken at blanks or between Chinese characters; words longer than a line are cut.

    A last line of a few characters gets company from the one above it.
    """
    lines: list[str] = []
    for paragraph in text.split("\n"):
        pieces = _pieces(paragraph)
        rows = _filled(pieces, width)
        if len(rows) > 1 and cells(rows[-1]) < ORPHAN:
            narrower = (_filled(pieces, width - n) for n in range(2, min(3 * ORPHAN, width // 2), 2))
            rows = next((made for made in narrower if len(made) == len(rows) and cells(made[-1]) >= ORPHAN), rows)
        lines += (row.replace(HELD, " ") for row in rows)
    return lines or [""]


def _filled(pieces: Sequence[str], width: int) -> list[str]:
    lines: list[str] = []
    line, used = "", 0
    for piece in pieces:
        w = cells(piece)
        if used + w > width and line.strip():
            lines.append(line.rstrip())
            line, used = "", 0
            piece = piece.lstrip(" ")
            w = cells(piece)
        while w > width:
            head = piece[: max(1, width // (2 if not piece.isascii() else 1))]
            lines.append(head)
            piece = piece[len(head) :]
            w = cells(piece)
        line += piece
        used += w
    return [*lines, line.rstrip()]


_CLOSING = "，。；：！？、）》」』”’"
_OPENING = "（《「『“‘"


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
            if found and found[-1] in _OPENING:
                found[-1] += c
            else:
                found.append(c)
            word = ""
        elif c == " " and word.strip():
            found.append(word)
            word = c
        else:
            if not word and found and found[-1] in _OPENING:
                word = found.pop()
            word += c
    return [*found, word] if word else found


# Shades of the 256 colours that stand out from black as from white; where there are only 16, those that do so most often.
SHADES = {"fatal": 160, "error": 160, "warning": 130, "info": 30, "dim": 243, "good": 28, "code": 30, "label": 63}
_PLAIN = {"fatal": "31", "error": "31", "warning": "35", "info": "36", "dim": "2", "good": "32", "code": "36", "label": "34"}
_BOLD = ("fatal", "error", "warning", "label")


def paint(text: str, name: str, style: Style) -> str:
    """The text in the colours of its role; a role is never told by colour alone."""
    if not style.colour or not text:
        return text
    if name == "bold":
        return f"\x1b[1m{text}\x1b[0m"
    shade = f"38;5;{SHADES[name]}" if style.rich else _PLAIN[name]
    return f"\x1b[{'1;' if name in _BOLD else ''}{shade}m{text}\x1b[0m"
