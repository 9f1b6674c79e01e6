"""The entries nearest to a text that no entry matched: a hint where to read, never a diagnosis."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from kb.knowledge import Brief, Knowledge
from parsers.lazy import lazy

_WORD = lazy(r"[A-Za-z_]{4,}|[\u4e00-\u9fff]{2,}|[A-Z]+\d{3,}|\d{5,6}")
_WORD_OF_LOWER = lazy(r"[a-z_]{4,}|[\u4e00-\u9fff]{2,}|[a-z]+\d{3,}|\d{5,6}")
TOLD = 3  # words of what is shared, and of what is not
_DULL = frozenset(
    "error failed fail with from this that file line call python none true false warning info device process runtime".split()  # noqa: SIM905
)


def nearest(text: str, knowledge: Knowledge, limit: int = 3, floor: float = 0.34) -> list[dict[str, Any]]:
    """Up to `limit` entries that share rare words with the text, with a likeness between 0 and 1, and with what they do and do not share."""
    words = {w.lower() for w in _WORD.findall(text[:2000])} - _DULL
    if not words:
        return []
    scored = []
    for brief in knowledge.catalog():
        told = _text_of(brief)
        shared = {w for w in words if w in told}
        shared &= (
            _words_of(told) if shared else shared
        )  # taking texts apart is what costs: only where a word stands at all
        if shared:
            weight = sum(len(w) for w in shared) / max(1, sum(len(w) for w in words))
            scored.append((weight, brief, shared))
    scored.sort(key=lambda pair: (-pair[0], pair[1].code))
    best = [one for one in scored[: limit * 4] if one[0] >= floor]
    if not best:
        return []
    from rapidfuzz import fuzz  # only when there is something to rank

    ranked = sorted(best, key=lambda pair: -(pair[0] + fuzz.token_set_ratio(text[:400], pair[1].title.en) / 200))
    return [
        {"id": b.code, "title": b.title.json(), "score": round(min(w, 1.0), 2), "shares": _longest(shared), "lacks": _lacks(b, words)}
        for w, b, shared in ranked[:limit]
    ]


def _longest(words: Iterable[str]) -> list[str]:
    return sorted(words, key=lambda word: (-len(word), word))[:TOLD]


def _lacks(brief: Brief, words: set[str]) -> list[str]:
    """What the entry is about, and the text does not speak of."""
    told = (w.lower() for w in _WORD.findall(brief.title.en))
    return [w for w in dict.fromkeys(told) if w not in words and w not in _DULL][:TOLD]


@lru_cache(maxsize=20_000)
def _text_of(brief: Brief) -> str:
    return f"{brief.title.en} {brief.title.zh} {brief.words}".lower()


@lru_cache(maxsize=2_000)
def _words_of(text: str) -> frozenset[str]:
    return frozenset(_WORD_OF_LOWER.findall(text))
