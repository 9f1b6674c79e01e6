"""The entries nearest to a text that no entry matched: a hint where to read, never a diagnosis."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate
from typing import Any

from kb.knowledge import Brief, Knowledge
from parsers.lazy import lazy

_WORD = lazy(r"[A-Za-z_]{4,}|[\u4e00-\u9fff]{2,}|[A-Z]+\d{3,}|\d{5,6}")
_WORD_OF_LOWER = lazy(r"[a-z_]{4,}|[\u4e00-\u9fff]{2,}|[a-z]+\d{3,}|\d{5,6}")
MOST, FLOOR = 3, 0.34  # how many are told, and how much of the words they share at least
TOLD = 3  # words of what is shared, and of what is not
_DULL = frozenset(
    "error failed fail with from this that file line call python none true false warning info device process runtime".split()  # noqa: SIM905
)


def nearest(text: str, knowledge: Knowledge) -> list[dict[str, Any]]:
    """A few entries that share rare words with the text, with a likeness between 0 and 1, and with what they do and do not share."""
    words = {w.lower() for w in _WORD.findall(text[:2000])} - _DULL
    if not words:
        return []
    everything, whole = _everything(knowledge), max(1, sum(map(len, words)))
    scored = []
    for number, parts in _holding(words, everything).items():
        if sum(map(len, parts)) / whole < FLOOR:  # taking texts apart is what costs: only where it can be enough
            continue
        shared = parts & _words_of(everything.told(number))
        if shared:
            scored.append((sum(map(len, shared)) / whole, everything.briefs[number], shared))
    scored.sort(key=lambda pair: (-pair[0], pair[1].code))
    best = [one for one in scored[: MOST * 4] if one[0] >= FLOOR]
    if not best:
        return []
    from rapidfuzz import fuzz  # only when there is something to rank

    ranked = sorted(best, key=lambda pair: -(pair[0] + fuzz.token_set_ratio(text[:400], pair[1].title.en) / 200))
    return [
        {"id": b.code, "title": b.title.json(), "score": round(min(w, 1.0), 2), "shares": sorted(shared, key=lambda word: (-len(word), word))[:TOLD], "lacks": _lacks(b, words)}
        for w, b, shared in ranked[:MOST]
    ]


def _lacks(brief: Brief, words: set[str]) -> list[str]:
    """What the entry is about, and the text does not speak of."""
    told = (w.lower() for w in _WORD.findall(brief.title.en))
    return [w for w in dict.fromkeys(told) if w not in words and w not in _DULL][:TOLD]


class _Everything:
    """The texts of all entries in one, a line each, and where each ends."""

    def __init__(self, briefs: tuple[Brief, ...]) -> None:
        texts = [f"{brief.title.en} {brief.title.zh} {brief.words}".lower().replace("\n", " ") for brief in briefs]
        self.briefs, self.text = briefs, "\n".join(texts)
        self.ends = tuple(accumulate(map(len, texts), lambda end, size: end + 1 + size))

    def told(self, number: int) -> str:
        return self.text[self.ends[number - 1] + 1 if number else 0 : self.ends[number]]


@lru_cache(maxsize=2)
def _everything(knowledge: Knowledge) -> _Everything:
    return _Everything(knowledge.catalog())


def _holding(words: Iterable[str], everything: _Everything) -> dict[int, set[str]]:
    """The entries, by their number, in whose texts some of the words stand, be it as parts of others."""
    held: dict[int, set[str]] = {}
    for word in words:
        for number in _places(word, everything):
            held.setdefault(number, set()).add(word)
    return held


@lru_cache(maxsize=2_000)  # the lines of a log share most of their words
def _places(word: str, everything: _Everything) -> tuple[int, ...]:
    found = []
    at = everything.text.find(word)
    while at >= 0:
        found.append(bisect_right(everything.ends, at))
        at = everything.text.find(word, everything.ends[found[-1]])
    return tuple(found)


@lru_cache(maxsize=2_000)
def _words_of(text: str) -> frozenset[str]:
    return frozenset(_WORD_OF_LOWER.findall(text))
