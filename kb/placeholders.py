"""Fills `{name}`, `{name|default}` and `{name.all}` in knowledge texts. Nothing is evaluated, no attribute is looked up."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

# `${HOME}` belongs to the shell; `{0..7}` and `{print $1}` are no names.
_SLOT = re.compile(r"\{\{|\}\}|(?<!\$)\{([A-Za-z_]\w*)(\.all)?(?:\|([^{}]*))?\}")


def names(text: str) -> tuple[tuple[str, str | None], ...]:
    """The placeholders of a text, each with its default (None: it has none)."""
    return tuple((m[1], m[3]) for m in _SLOT.finditer(text) if m[1])


def fill(
    text: str,
    captures: Mapping[str, str],
    every: Mapping[str, tuple[str, ...]],
    joiner: str = ", ",
    quote: Callable[[str, str], str] = lambda value, _before: value,
) -> str:
    """The text with its slots filled; a name that nothing binds and that has no default stays visible as `<name>`.

    `quote` gets a value and the text before its slot, which tells what it stands in.
    """

    def one(match: re.Match[str]) -> str:
        name, plural, default = match[1], match[2], match[3]
        if not name:
            return match[0][0]
        if plural and every.get(name):
            return joiner.join(quote(v, text[: match.start()]) for v in every[name])
        value = captures.get(name)
        if value is not None and value != "":
            return quote(value, text[: match.start()])
        return default if default is not None else f"<{name}>"

    return _SLOT.sub(one, text)
