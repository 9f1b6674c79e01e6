"""What a source tells of the situation: chip, versions, frameworks, what was being done. Looked for where a source begins,
and in the lines that something was found in: it is printed there, or it is not worth a search through gigabytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import count, islice

from doctor.base.notation import clean
from doctor.scan.alternatives import alternatives
from doctor.scan.finder import Finder, best
from kb.model import SITUATION, Signal
from parsers.lazy import lazy
from parsers.named import NamedTuple
from parsers.patterns import compiled

HEAD = 1 << 17  # bytes at the beginning of a range that are looked at
SMALL = 1 << 14  # bytes of a text in which each word is looked for by itself
FEW = 20  # small texts, after which their words are looked for in one pass as well
_ASKED = count()
REACH = 1 << 10  # bytes around a word in which a form is tried: a match is shorter by far
TAIL = 1 << 14  # and at its end, where one window holds it all
MAX_VALUES = 16  # different values of one fact that one text tells
MAX_MATCHES = 200  # of one form in one text
# A program that tries one platform after the other names those that are not there.
_PROBING = lazy(rb"[^\n]*(?:(?:platform|plugin)\b[^\n]{0,60} is not available|No CUDA runtime is found)[^\n]*")


Part = tuple[int, int]


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
    for form, parts in _tried(text, forms):
        fact, constant = _name(form)
        values = [constant] if constant else []
        for value in _values(form, text, parts, bool(constant)):
            if not constant and value not in values and len(values) < MAX_VALUES:
                values.append(value)
            key = (fact, constant or value)
            if key[1] in values:
                found[key] = found.get(key, 0) + 1
    return tuple(sorted(Said(fact, value, path, times) for (fact, value), times in found.items()))


def _tried(text: bytes, forms: Sequence[Signal]) -> Iterator[tuple[Signal, list[Part]]]:
    """The forms near whose words something stands in a text, each with the parts of the text that it is tried on."""
    if len(text) <= SMALL and next(_ASKED) < FEW:
        yield from ((form, [(0, len(text))]) for form in forms if any(word in text for word in _near(form)))
        return
    index = _index(forms)
    places: dict[int, list[int]] = {}
    for end, number in index.find(text):
        places.setdefault(number, []).append(end)
    for at in sorted({at for number in places for at in index.near[number]}):
        if index.inside[at]:
            yield forms[at], _around([end for number in index.inside[at] for end in places.get(number, ())])
        else:
            yield forms[at], [(0, len(text))]


def _around(ends: list[int]) -> list[Part]:
    """The stretches around some places, joined where they touch."""
    parts: list[Part] = []
    for end in sorted(ends):
        if parts and end - REACH <= parts[-1][1]:
            parts[-1] = (parts[-1][0], end + REACH)
        else:
            parts.append((max(0, end - REACH), end + REACH))
    return parts


class _Index:
    """All words of some forms, what finds them in one pass, and which forms they belong to."""

    def __init__(self, forms: Sequence[Signal]) -> None:
        near, inside = [_near(form) for form in forms], [_inside(form) for form in forms]
        words = sorted({word for told in (*near, *inside) for word in told})
        number = {word: n for n, word in enumerate(words)}
        self.find: Finder = best(words, HEAD, "", "ahocorasick_rs")
        self.near: tuple[list[int], ...] = tuple([] for _ in words)
        for at, told in enumerate(near):
            for word in set(told):
                self.near[number[word]].append(at)
        self.inside = tuple(tuple(number[word] for word in told) for told in inside)


_KNOWN: list[tuple[Sequence[Signal], _Index]] = []


def prepare(forms: Sequence[Signal]) -> None:
    """For those who are forked: they need not make it each."""
    _index(forms)


def _index(forms: Sequence[Signal]) -> _Index:
    """Made once for a plan, not for each of its thousands of files."""
    for known, index in _KNOWN:
        if known is forms:
            return index
    _KNOWN[:] = [(forms, _Index(forms)), *_KNOWN[:3]]
    return _KNOWN[0][1]


def joined(parts: Iterable[Said]) -> tuple[Said, ...]:
    """The same from several sources: free of order."""
    known: dict[tuple[str, str], Said] = {}
    for one in parts:
        other = known.get(one[:2])
        known[one[:2]] = one if other is None else Said(*one[:2], min(one.path or other.path, other.path or one.path), one.times + other.times)
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
    return compiled(form.pattern.encode())


def _values(form: Signal, text: bytes, parts: Sequence[Part], constant: bool) -> Iterator[str]:
    if constant:
        if any(way.holds(text, *part) for part in parts for way in alternatives(form.pattern)):
            yield ""
        return
    matches = (match for part in parts for match in _pattern(form).finditer(text, *part))
    for match in islice(matches, MAX_MATCHES):
        yield clean(_one_line(match["v"]).decode("utf-8", "replace").rstrip(".,-+"))


_LINE_ENDS = lazy(rb"[ \t]*\\\r?\n(?:> (?=[ \t]*[-\w\"'$]))?[ \t]*|[ \t]*\r?\n[ \t]*(?:- )?")  # `> `: a shell that asks for more
_REMARKS = lazy(rb"\r?\n[ \t]*#[^\n]*|(?<=[\s,(])#[^\n\"']*")  # of Python


def _one_line(value: bytes) -> bytes:
    """A value that runs over several lines, as a shell, a list or a call has them, in one."""
    if value.startswith(b"LLM("):
        value = _REMARKS.sub(b"", value)
    return _LINE_ENDS.sub(b" ", value) if b"\n" in value else value
