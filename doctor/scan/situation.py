"""What a source tells of the situation: chip, versions, frameworks, what was being done. Looked for where a source begins,
and in the lines that something was found in: it is printed there, or it is not worth a search through gigabytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from doctor.base.notation import clean
from kb.model import SITUATION, Signal

HEAD = 1 << 17  # bytes at the beginning of a range that are looked at
TAIL = 1 << 14  # and at its end, where one window holds it all
MAX_VALUES = 6  # different values of one fact that one text tells
MAX_MATCHES = 200  # of one form in one text
# A program that tries one platform after the other names those that are not there.
_PROBING = re.compile(rb"[^\n]*(?:(?:platform|plugin)\b[^\n]{0,60} is not available|No CUDA runtime is found)[^\n]*")


class Said(NamedTuple):
    """A fact of the situation, how often it was told, and the first source (by name) that tells it."""

    fact: str
    value: str
    path: str
    times: int


def said(text: bytes, path: str, forms: Sequence[Signal]) -> tuple[Said, ...]:
    """Everything that a text tells, in a stable order."""
    found: dict[tuple[str, str], int] = {}
    if b" not available" in text or b"No CUDA runtime" in text:
        text = _PROBING.sub(b"", text)
    for form in forms:
        if any(word in text for word in _near(form)):
            fact, constant = _name(form)
            values = [constant] if constant else []
            matches = _values(form, text, bool(constant))
            for value in matches:
                if not constant and value not in values and len(values) < MAX_VALUES:
                    values.append(value)
                key = (fact, constant or value)
                if key[1] in values:
                    found[key] = found.get(key, 0) + 1
    return tuple(sorted(Said(fact, value, path, times) for (fact, value), times in found.items()))


def joined(parts: Iterable[Said]) -> tuple[Said, ...]:
    """The same from several sources: free of order."""
    known: dict[tuple[str, str], Said] = {}
    for one in parts:
        other = known.get(one[:2])
        known[one[:2]] = one if other is None else Said(*one[:2], min(one.path, other.path), one.times + other.times)
    return tuple(known[key] for key in sorted(known))


@lru_cache(maxsize=1 << 10)
def _near(form: Signal) -> tuple[bytes, ...]:
    return tuple(word.encode() for word in form.anchors)


@lru_cache(maxsize=1 << 10)
def _name(form: Signal) -> tuple[str, str]:
    fact, _, constant = form.id.removeprefix(SITUATION).rpartition("/")[0].partition("=")
    return fact, constant


@lru_cache(maxsize=1 << 10)
def _pattern(form: Signal) -> re.Pattern[bytes]:
    return re.compile(form.pattern.encode())


def _values(form: Signal, text: bytes, constant: bool) -> Iterator[str]:
    for number, match in enumerate(_pattern(form).finditer(text)):
        if number >= MAX_MATCHES:
            return
        yield "" if constant else clean(match["v"].decode("utf-8", "replace").rstrip(".,-+"))
        if constant:
            return
