"""The alternatives of a regular expression, and for each a word without which it cannot match: looking for that is far cheaper than trying it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from parsers.lazy import lazy
from parsers.named import NamedTuple
from parsers.patterns import compiled

# An escape, a class of characters, a quantifier, how a group begins, or any other character.
_PIECE = lazy(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d*,?\d*\}\??|[?*+]\??|\(\?<?[=!:]|.", re.DOTALL)
_HELD_TOGETHER = lazy(r"\(\?[a-zA-Z(]|\\[1-9]")  # by flags, names or references: nothing is taken apart
_LINE_BEGINS = r"(?:^|\n)"


class Alternative(NamedTuple):
    """One of them."""

    word: bytes
    pattern: re.Pattern[bytes]
    begins_line: bool  # the pattern is what follows the beginning of a line

    def holds(self, text: bytes, start: int, end: int) -> bool:
        """Does it match anywhere in [start, end)?"""
        if text.find(self.word, start, end) < 0:
            return False
        if not self.begins_line:
            return self.pattern.search(text, start, end) is not None
        if start == 0 and self.pattern.match(text, 0, end) is not None:
            return True
        at = text.find(b"\n", start, end)
        while at >= 0:
            if self.pattern.match(text, at + 1, end) is not None:
                return True
            at = text.find(b"\n", at + 1, end)
        return False


@lru_cache(maxsize=1 << 10)
def alternatives(pattern: str) -> tuple[Alternative, ...]:
    """Together they hold where the pattern matches."""
    if _HELD_TOGETHER.search(pattern):
        return (Alternative(b"", compiled(pattern.encode()), False),)
    made = []
    for part in _parts(pattern):
        rest = part.removeprefix(_LINE_BEGINS)
        word = max(_words(rest), key=len)
        made.append(Alternative(word.encode(), compiled(rest.encode()), rest != part))
    return tuple(made)


def _parts(pattern: str) -> list[str]:
    """What stands between the outermost bars."""
    parts, depth = [""], 0
    for piece in _PIECE.findall(pattern):
        depth += piece.startswith("(") - (piece == ")")
        if piece == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def _words(alternative: str) -> Iterator[str]:
    """The runs of plain characters outside of groups, each of which stands in whatever matches."""
    run, depth = "", 0
    for piece in _PIECE.findall(alternative):
        depth += piece.startswith("(")
        if not depth and (plain := _plain(piece)):
            run += plain
            continue
        yield run[:-1] if piece[0] in "?*{" else run  # the character before these may be absent
        run = ""
        depth -= piece == ")"
    yield run


def _plain(piece: str) -> str:
    """The character that a piece stands for, if it stands for a certain one."""
    if len(piece) == 1:
        return "" if piece in ".^$|()[]{}?*+\\" else piece
    return piece[1] if piece[0] == "\\" and not piece[1].isalnum() else ""
