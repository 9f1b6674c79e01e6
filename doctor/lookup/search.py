"""Finds entries, codes, variables and cards by words, however they are typed: parts of messages, codes, Chinese, typos.

Narrow first, rank few: words are looked up in a vocabulary (exactly, as a part, then by likeness), the postings of all
words are intersected, and only what is left is ranked.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from kb import spelling
from kb.knowledge import Knowledge
from kb.model import Text

_WORD = re.compile(r"[a-z0-9_]+|[\u4e00-\u9fff]+")
_SUFFIX = re.compile(r"\.(?:so|py|sh|cc|cpp|h)\b")  # of a file name: as a word it would find `so` and `show`
_WEIGHTS = {"id": 6.0, "title": 3.0, "words": 1.0}
VARIABLE = 0.33  # an entry that says what failed comes before the variables that it names, unless one was typed out
MAX_NEAR = 24  # similar vocabulary words taken for one typed word


class Found(NamedTuple):
    kind: str  # entry | code | variable | card
    id: str
    title: Text
    score: float


class Index:
    """Built once, searched at every key press."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self.items: list[tuple[str, str, Text]] = []
        self._postings: dict[str, dict[int, float]] = {}
        for brief in knowledge.catalog():
            kind_words = f"{brief.kind} {brief.domain} {brief.component} {brief.slug}"
            self._add("entry", brief.code, brief.title, f"{brief.code} {brief.slug}", f"{brief.words} {kind_words}")
        for name in knowledge.variables():
            row = knowledge.variable(name) or {}
            self._add(
                "variable",
                name,
                _text(row.get("purpose")),
                name.replace("_", " ") + " " + name,
                str(row.get("component", "")),
            )
        for code in knowledge.cards():
            row = knowledge.card(code) or {}
            words = " ".join([*map(str, row.get("keywords") or ()), *map(str, (row.get("text") or {}).values())])
            self._add("card", code, _text(row.get("title")), code, words)
        self._vocabulary = list(self._postings)

    def _add(self, kind: str, name: str, title: Text, ids: str, words: str) -> None:
        number = len(self.items)
        self.items.append((kind, name, title))
        weights: dict[str, float] = {}  # a word once, with the weight of the best field that has it
        for field, text in (("words", words), ("title", f"{title.en} {title.zh}"), ("id", ids)):
            weights.update(dict.fromkeys(_tokens(text), _WEIGHTS[field]))
        for token, weight in weights.items():
            posting = self._postings.get(token)
            if posting is None:
                self._postings[token] = {number: weight}
            else:
                posting[number] = weight

    def search(self, typed: str, limit: int = 50) -> list[Found]:
        """The best items first; codes of the tables come in when a code was typed."""
        tokens = _tokens(typed)
        codes = self._codes(typed)
        if not tokens:
            return codes
        scores: dict[int, float] | None = None
        for token in tokens:
            near = self._near(token)
            scores = near if scores is None else {n: s + near[n] for n, s in scores.items() if n in near}
        name = typed.strip().upper()
        weighed = {
            n: score * (VARIABLE if self.items[n][0] == "variable" and self.items[n][1] != name else 1.0)
            for n, score in (scores or {}).items()
        }
        ranked = sorted(weighed.items(), key=lambda pair: (-pair[1], self.items[pair[0]][1]))
        items = [Found(*self.items[n], score=round(s, 3)) for n, s in ranked[:limit]]
        exact = [c for c in codes if c.score >= 9]
        return (
            [*exact, *items, *(c for c in codes if c.score < 9)]
            if not exact or not items
            else [*items[:8], *exact, *items[8:]]
        )[:limit]

    def _near(self, token: str) -> dict[int, float]:
        """Items for one typed word: the word itself, words that begin with it or hold it, else words like it."""
        found: dict[int, float] = {}

        def take(word: str, factor: float) -> None:
            for number, weight in self._postings[word].items():
                found[number] = max(found.get(number, 0.0), weight * factor)

        if token in self._postings:
            take(token, 2.0)
        parts = [w for w in self._vocabulary if token in w and w != token] if len(token) > 1 else []
        for word in parts[:400]:
            take(word, (1.4 if word.startswith(token) else 1.0) * (0.5 + 0.5 * len(token) / len(word)))
        if not found and len(token) >= 4:
            from rapidfuzz import fuzz, process

            for word, likeness, _ in process.extract(
                token, self._vocabulary, scorer=fuzz.ratio, limit=MAX_NEAR, score_cutoff=72
            ):
                take(word, likeness / 140)
        return found

    def _codes(self, typed: str) -> list[Found]:
        text = typed.strip()
        if not re.search(r"\d", text) or len(text) > 40 or len(text) < 2:
            return []
        wanted = set(spelling.candidates(text))
        rows = self._knowledge.decode(text)
        return [
            Found("code", row["code"], _text(row["meaning"]), 9.5 if spelling.key(row["code"]) in wanted else 5.0)
            for row in rows[:8]
        ]


def _text(value: object) -> Text:
    if isinstance(value, dict):
        return Text(str(value.get("en", "")), str(value.get("zh", "")))
    return Text("", "")


def _tokens(text: str) -> list[str]:
    """Words in lower case; Chinese runs by pairs of characters, so that a part of a phrase finds it."""
    found: list[str] = []
    for match in _WORD.findall(_SUFFIX.sub(" ", text.lower())):
        if match[0] < "\u4e00":
            found.append(match)
            if "_" in match:
                found += [p for p in match.split("_") if p]
        elif len(match) <= 2:
            found.append(match)
        else:
            found += map("".join, pairwise(match))
    return found


def search(knowledge: Knowledge, typed: str, limit: int = 30) -> list[Found]:
    """One search without keeping the index."""
    return Index(knowledge).search(typed, limit)
