"""Is what is new only another wording, or another value, of what is usual? Asked of what is new alone."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set

from doctor.baseline.severity import severe_words
from doctor.baseline.words import spoken, tokens
from parsers.named import NamedTuple

MAX_ASKED = 1500  # new shapes that are compared with the usual ones, the gravest first
MAX_CANDIDATES = 2000  # usual shapes that one new one is compared with
LIKE = 72.0  # how near a shape must be to be looked at
REWORDED = 90.0  # and to be told as the same in other words
VALUES = 3  # different values that make a place in a line one where values stand
_DRAWN = re.compile(r"#|[a-z][A-Z]")  # stands in identifiers
# So many words with which lines of free text begin alike: how many such lines, and of how many lengths, make them free text.
_BEGINNINGS = ((1, 10, 5), (2, 6, 4))


class Near(NamedTuple):
    """What is usual and near. `value`: only a value differs that is another one again and again."""

    number: int
    shape: str
    value: bool


class Neighbours:
    """The usual shapes, to be asked for what is near."""

    def __init__(self, usual: Iterable[tuple[int, str]], new: Iterable[str] = ()) -> None:
        self._numbers: list[int] = []
        self._texts: list[str] = []
        self._alike: dict[int | str, list[int]] = defaultdict(list)  # by the number of their words, and by the first one
        after: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
        for number, text in usual:
            self._numbers.append(number)
            self._texts.append(text)
            _hear(after, text)
            words = tokens(text)
            self._alike[len(words)].append(len(self._texts) - 1)
            self._alike[next((word for word in words if word[0].isalpha()), "")].append(len(self._texts) - 1)
        self._begun = frozenset(after)
        for text in new:
            _hear(after, text)
        self._free = frozenset(beginning for beginning, ways in after.items() if _is_free(len(beginning), ways))

    def _candidates(self, words: Sequence[str]) -> Iterable[int]:
        """All usual shapes; of very many those as long, or with the same first word."""
        if len(self._texts) <= MAX_CANDIDATES:
            return range(len(self._texts))
        first = next((word for word in words if word[0].isalpha()), "")
        return dict.fromkeys((*self._alike[len(words)][:MAX_CANDIDATES], *self._alike[first][:MAX_CANDIDATES]))

    def family(self, shape: str) -> tuple[str, ...]:
        """The words with which lines begin that go on in many ways, as prompts and previews do; empty where it does not begin so."""
        words = spoken(shape)
        return next((words[:n] for n, _, _ in _BEGINNINGS if words[:n] in self._free), ())

    def of(self, shape: str) -> Near | None:
        """The nearest usual shape, when there is one, and what of the two differs is not grave."""
        words = tokens(shape)
        family = self.family(shape)
        if family in self._begun and not severe_words(shape):
            return Near(-1, " ".join(family), True)
        from rapidfuzz import process
        from rapidfuzz.fuzz import ratio

        asked = self._candidates(words)
        found = process.extract(shape, {at: self._texts[at] for at in asked}, scorer=ratio, score_cutoff=LIKE, limit=12)
        if not found:
            return None
        alike = [(tokens(text), at) for text, _, at in found]
        same = [(other, at) for other, at in alike if len(other) == len(words) and _apart(words, other) <= max(2, len(words) // 4)]
        for other, at in same:
            places = {n for n, (a, b) in enumerate(zip(words, other, strict=True)) if a != b}
            if severe_words(" ".join(words[n] for n in places)):
                continue
            if all(_varies(words[n], {row[n] for row, _ in same} - {words[n]}) for n in places):
                return Near(self._numbers[at], self._texts[at], True)
        text, score, at = found[0]
        theirs = set(tokens(text))
        if score >= REWORDED and not severe_words(" ".join(w for w in words if w not in theirs)):
            return Near(self._numbers[at], text, False)
        return None


def _varies(word: str, others: Set[str]) -> bool:
    """Is this a place where values stand: several different ones, or identifiers?"""
    return len(others) >= VALUES or (_DRAWN.search(word) is not None and any("#" in other for other in others))


def _hear(after: dict[tuple[str, ...], list[tuple[str, int]]], text: str) -> None:
    """How a line goes on after its beginning, and how long it is."""
    words = spoken(text)
    for n, _, _ in _BEGINNINGS:
        if len(words) > n:
            after[words[:n]].append((words[n], len(words)))


def _is_free(length: int, ways: Sequence[tuple[str, int]]) -> bool:
    needed, lengths = next((needed, lengths) for n, needed, lengths in _BEGINNINGS if n == length)
    return len({word for word, _ in ways}) >= needed and len({number for _, number in ways}) >= lengths


def _apart(words: Sequence[str], other: Sequence[str]) -> int:
    return sum(a != b for a, b in zip(words, other, strict=True))
