"""What a source tells of the situation: chip, versions, frameworks, what was being done. Looked for where a source begins,
and in the lines that something was found in: it is printed there, or it is not worth a search through gigabytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from doctor.base.notation import clean
from doctor.scan.finder import Finder, best
from kb.model import SITUATION, Signal

HEAD = 1 << 17  # bytes at the beginning of a range that are looked at
SMALL = 1 << 14  # bytes of a text in which each word is looked for by itself
REACH = 1 << 10  # bytes around a word in which a form is tried: a match is shorter by far
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
    places = _Places(text, tuple(forms))
    for form in forms:
        parts = places.of(form)
        if parts:
            fact, constant = _name(form)
            values = [constant] if constant else []
            for value in _values(form, text, parts, bool(constant)):
                if not constant and value not in values and len(values) < MAX_VALUES:
                    values.append(value)
                key = (fact, constant or value)
                if key[1] in values:
                    found[key] = found.get(key, 0) + 1
    return tuple(sorted(Said(fact, value, path, times) for (fact, value), times in found.items()))


class _Places:
    """Which parts of a text a form is tried on: a text of some size is searched once for the words of all forms."""

    def __init__(self, text: bytes, forms: tuple[Signal, ...]) -> None:
        self._text = text
        self._found: dict[bytes, list[int]] | None = None
        if len(text) > SMALL:
            words, find = _finder(forms)
            self._found = {}
            for end, number in find(text):
                self._found.setdefault(words[number], []).append(end)

    def of(self, form: Signal) -> list[tuple[int, int]]:
        """Stretches (start, end); none when no word stands there near which the form is tried."""
        if self._found is None:
            return [(0, len(self._text))] if any(word in self._text for word in _near(form)) else []
        if not any(word in self._found for word in _near(form)):
            return []
        if not _inside(form):
            return [(0, len(self._text))]
        parts: list[tuple[int, int]] = []
        for end in sorted(end for word in _inside(form) for end in self._found.get(word, ())):
            if parts and end - REACH <= parts[-1][1]:
                parts[-1] = (parts[-1][0], end + REACH)
            else:
                parts.append((max(0, end - REACH), end + REACH))
        return parts


@lru_cache(maxsize=4)
def _finder(forms: tuple[Signal, ...]) -> tuple[tuple[bytes, ...], Finder]:
    """All words of all forms, and what finds them in one pass."""
    words = tuple(sorted({word for form in forms for word in (*_near(form), *_inside(form))}))
    return words, best(words, HEAD, "", "ahocorasick_rs")


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
def _inside(form: Signal) -> tuple[bytes, ...]:
    return tuple(word.encode() for word in form.fragments)


@lru_cache(maxsize=1 << 10)
def _name(form: Signal) -> tuple[str, str]:
    fact, _, constant = form.id.removeprefix(SITUATION).rpartition("/")[0].partition("=")
    return fact, constant


@lru_cache(maxsize=1 << 10)
def _pattern(form: Signal) -> re.Pattern[bytes]:
    return re.compile(form.pattern.encode())


def _values(form: Signal, text: bytes, parts: Sequence[tuple[int, int]], constant: bool) -> Iterator[str]:
    matches = (match for part in parts for match in _pattern(form).finditer(text, *part))
    for match in islice(matches, MAX_MATCHES):
        yield "" if constant else clean(match["v"].decode("utf-8", "replace").rstrip(".,-+"))
        if constant:
            return
