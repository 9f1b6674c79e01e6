"""A captured value as a part of a shell command: whatever it is, it stays a word."""

from __future__ import annotations

import re
import shlex

from doctor.base.shell import word
from parsers.lazy import lazy

# What takes its argument as a further command, and what takes it as a program of another language.
_SHELLS = lazy(r"\b(?:(?:ba|da|z|k)?sh|su|ssh|eval|watch|xargs)\b[^;|&]*$")
# What takes a negative number for what it is: a code to explain, a pattern to look for.
_EXPLAIN = lazy(r"\bnpu-doctor explain $")
_PATTERN = lazy(r"\bgrep (?:-[a-zA-EG-Z0-9]+ )*['\"]?$")
_NEGATIVE = lazy(r"-\d+")
# What follows `-m pip` is no Python: a requirement such as 'peft>=0.18' keeps its signs.
_PROGRAMS = lazy(r"\b(?:python[\d.]*(?![\d.]| -m pip )|perl|node|sed|awk|gawk)\b[^;|&]*$")

# A path that somebody wrote with a variable in front: in single quotes it would name nothing, in double ones it is one word whatever it holds.
_OF_A_VARIABLE = lazy(r"\$(?:\w{1,60}|\{\w{1,60}\})(?:/[\w.+@-]{1,100}){1,30}/?")


def quoted(value: str, before: str) -> str:
    """A value as a part of a shell command, in quotes of its own or inside of those that are open already."""
    value = value.replace("\n", " ")
    kind, opened = _open_quote(before)
    if value.startswith("-") and (not kind or opened == len(before) - 1):  # never an option by accident
        value = _no_option(value, before)
    if not kind:
        return f'"{value}"' if _OF_A_VARIABLE.fullmatch(value) else word(value)
    if _PROGRAMS.search(before[:opened]):  # only a name is harmless in every language
        value = re.sub(r"[^\w.]", "_", value)
    elif _SHELLS.search(before[:opened]):
        value = shlex.quote(value)
    if kind == "'":
        return value.replace("'", "'\"'\"'")
    return re.sub(r'([\\"$`])', r"\\\1", value)


def _no_option(value: str, before: str) -> str:
    """A value with a minus in front, so that it stays what it is: most are files."""
    if _NEGATIVE.fullmatch(value):
        if _EXPLAIN.search(before):
            return value
        if _PATTERN.search(before):
            return f"[-]{value[1:]}"
    return "./" + value


def _open_quote(before: str) -> tuple[str, int]:
    """The quote that is open at the end of a part of a command, and where it was opened; empty when none is."""
    kind, opened, escaped = "", -1, False
    for at, c in enumerate(before):
        if escaped:
            escaped = False
        elif c == "\\" and kind != "'":
            escaped = True
        elif kind:
            kind = "" if c == kind else kind
        elif c in "'\"":
            kind, opened = c, at
    return kind, opened
