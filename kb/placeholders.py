"""Fills `{name}`, `{name|default}` and `{name.all}` in knowledge texts. Nothing is evaluated, no attribute is looked up."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

# `${HOME}` belongs to the shell; `{0..7}` and `{print $1}` are no names.
_SLOT = re.compile(r"\{\{|\}\}|(?<!\$)\{([A-Za-z_]\w*)(\.all)?(?:\|([^{}]*))?\}")


def names(text: str) -> tuple[tuple[str, str | None], ...]:
    """The placeholders of a text, each with its default (None: it has none)."""
    return tuple((m[1], m[3]) for m in _SLOT.finditer(text) if m[1])


# An empty default leaves neither two blanks nor empty brackets behind.
_NOTHING = "\0"
_AROUND_NOTHING = re.compile(r" ?\(\0(?:(?:, | / )\0)*\)|（\0）| ?\0")


def to_fill_in(name: str) -> str:
    """How a text says that its reader must put something in: a word in capitals, which no command takes for a value."""
    return {"device": "NPU_ID", "npu": "NPU_ID", "card": "NPU_ID", "path": "FILE"}.get(name, name.upper())


# What stands at the end and only introduces a slot: `: {what}`, ` ({what})`.
_TAIL = re.compile(r"(?:\s*[:：]\s*|\s*[(（])\{([A-Za-z_]\w*)(?:\.all)?\}\s*[)）]?(?=\s*[.。]?\s*$)")


def unbound(text: str) -> str:
    """The text outside any diagnosis: defaults, words to fill in, and no introduction to what is not there."""
    return fill(_TAIL.sub("", text), {}, {})


def fill(
    text: str,
    captures: Mapping[str, str],
    every: Mapping[str, tuple[str, ...]],
    joiner: str = ", ",
    quote: Callable[[str, str], str] = lambda value, _before: value,
) -> str:
    """The text with its slots filled; a name that nothing binds and that has no default is shown as a word to fill in: NAME.

    `quote` gets a value and the text before its slot, which tells what it stands in.
    """

    def one(match: re.Match[str]) -> str:
        name, plural, default = match[1], match[2], match[3]
        if not name:
            return match[0][0]
        if plural and every.get(name):
            return joiner.join(quote(v, text[: match.start()]) for v in every[name])
        value = captures.get(name)
        none = value == "-" and default is not None  # so tables and verdicts say it
        if value is not None and value != "" and not none:
            return quote(value, text[: match.start()])
        if default == "":
            return _NOTHING
        return default if default is not None else to_fill_in(name)

    filled = _SLOT.sub(one, text)
    return _AROUND_NOTHING.sub("", filled) if _NOTHING in filled else filled
