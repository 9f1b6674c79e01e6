"""Fills `{name}`, `{name|default}`, `{name.all}` and `[[ on device {name}]]` in knowledge texts. Nothing is evaluated, no attribute is looked up."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from parsers.lazy import lazy

# `${HOME}` belongs to the shell; `{0..7}` and `{print $1}` are no names.
_SLOT = lazy(r"\{\{|\}\}|(?<!\$)\{([A-Za-z_]\w*)(\.all)?(?:\|([^{}]*))?\}")


# What is only said when every slot in it is filled: a reader is never shown a sentence around a hole.
_OPTIONAL = lazy(r"\[\[((?:(?!\]\]).)*)\]\]", re.DOTALL)
# What a log's words leave in a capture that names nothing; -1, printed as if it had no sign, is no rank and no device.
_NOTHING_SAID = frozenset({"", "-", "?", "{}", "()", "[]", "None", "none", "null", "NULL", "nil", "N/A", "unknown", "(unknown)", "<unknown>", "the", "a", "an", "is", "was", "for", "to", "of", "Wait", "and", "4294967295"})


def optional(text: str, filled: Callable[[str], bool]) -> str:
    """The text with its optional parts kept where all their names are filled, left out where one is not."""
    if "[[" not in text:
        return text

    def kept(part: re.Match[str]) -> str:
        inside = names(part[1])
        if not inside:  # a test of the shell, a list in code
            return part[0]
        return part[1] if all(filled(name) for name, _ in inside) else ""

    return _OPTIONAL.sub(kept, text)


def told(value: str | None) -> bool:
    """Does a capture name anything?"""
    return value is not None and value.strip(" .,:;'\"") not in _NOTHING_SAID


def names(text: str) -> tuple[tuple[str, str | None], ...]:
    """The placeholders of a text, each with its default (None: it has none)."""
    return tuple((m[1], m[3]) for m in _SLOT.finditer(text) if m[1])


# An empty default leaves neither two blanks nor empty brackets behind.
_NOTHING = "\0"
_AROUND_NOTHING = lazy(r" ?\(\0(?:(?:, | / )\0)*\)|（\0）| ?\0")


def to_fill_in(name: str) -> str:
    """How a text says that its reader must put something in: a word in capitals, which no command takes for a value."""
    return {"device": "NPU_ID", "npu": "NPU_ID", "card": "NPU_ID", "path": "FILE"}.get(name, name.upper())


# What stands at the end and only introduces a slot: `: {what}`, ` ({what})`.
_TAIL = lazy(r"(?<!\s)\s{0,9}(?:[:：]\s{0,9}|[(（])\{([A-Za-z_]\w{0,59})(?:\.all)?\}\s{0,9}[)）]?(?=\s{0,9}[.。]?\s{0,9}$)")


def unbound(text: str) -> str:
    """The text outside any diagnosis: defaults, words to fill in, and no introduction to what is not there."""
    return fill(_TAIL.sub("", optional(text, lambda _: False)), {}, {})


_WIDE = "，。：；、（）！？"
_NO_BLANK = lazy(rf"(?<=[\u4e00-\u9fff]) +(?=[\u4e00-\u9fff])|(?<=[{_WIDE}]) +(?=\S)|(?<=\S) +(?=[{_WIDE}])")


def closed(text: str) -> str:
    """Chinese without the blanks that stand around what is Latin: a slot may be filled with Chinese, and a sentence may be folded."""
    return _NO_BLANK.sub("", text)


# In code a slot always has a default: `{name}` alone belongs to the language. What a log said is put in where it is one plain word of it.
_CODE_SLOT = lazy(r"(?<![$\w])\{([A-Za-z_]\w*)\|([^{}\n]*)\}")
_CODE_WORD = lazy(r"[\w./@+:,-]{1,200}")
_OPEN_SLOT = lazy(r"(?<![$\w{])\{([A-Za-z_]\w*)(?:\.all)?\}(?!\})")
OWN_BRACES = frozenset({"python", "cpp", "cmake", "go", "dockerfile"})  # languages that write `{name}` themselves


def fill_code(text: str, captures: Mapping[str, str]) -> str:
    """A piece of code with its slots filled: what is no plain word would be read by another language than it was written in."""

    def one(match: re.Match[str]) -> str:
        value = captures.get(match[1])
        return value if value is not None and told(value) and _CODE_WORD.fullmatch(value) else match[2]

    return _CODE_SLOT.sub(one, text)


def open_slots(text: str, lang: str) -> tuple[str, ...]:
    """Slots of a piece of code that nothing can fill, and that its language does not know."""
    return () if lang in OWN_BRACES else tuple(match[1] for match in _OPEN_SLOT.finditer(text))


_SOURCE = "[FUNC:"
_STOP = lazy(r"。|\.(?:\s|$)")  # a sentence that ends in what the log says ends once


_BYTES = 8  # digits: who prints more of them counts single bytes
_UNITS = {" GiB": 1 << 30, " MiB": 1 << 20, " GB": 10**9, " MB": 10**6}


def _in_unit(value: str, after: str) -> str:
    """A number of bytes in the unit that a text writes after it: some releases print bytes, some gibibytes.

    >>> _in_unit("44507467776", " GiB"), _in_unit("44507467776", " byt")
    ('41.5', '44507467776')
    """
    size = next((size for unit, size in _UNITS.items() if after.startswith(unit)), 1)
    return value if size == 1 else f"{int(value) / size:.1f}"


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
    text = optional(text, lambda name: told(captures.get(name)))

    def one(match: re.Match[str]) -> str:
        name, plural, default = match[1], match[2], match[3]
        if not name:
            return match[0][0]
        if plural and every.get(name):
            return joiner.join(quote(v, text[: match.start()]) for v in every[name])
        value = captures.get(name)
        if value is not None and _SOURCE in value:
            value = value.partition(_SOURCE)[0].rstrip()  # where CANN's own code said it is no part of what it said
        none = default is not None and not told(value)  # so tables and verdicts say it
        if value is not None and value != "" and not none:
            if value.endswith(".") and not value.endswith("...") and _STOP.match(text, match.end()):
                value = value.rstrip(".")
            if len(value) > _BYTES and value.isdecimal():
                value = _in_unit(value, text[match.end() : match.end() + 4])
            return quote(value, text[: match.start()])
        if default == "":
            return _NOTHING
        return default if default is not None else to_fill_in(name)

    filled = _SLOT.sub(one, text)
    return _AROUND_NOTHING.sub("", filled) if _NOTHING in filled else filled
