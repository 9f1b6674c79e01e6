"""Finds entries, codes, variables and cards by words, however they are typed: parts of messages, codes, Chinese, pinyin, typos.

One index for `explain`, `kb search` and the interface. In this order: the very code, codes that begin like it, the very
variable, words of titles, words of the rest. Each typed word is looked for by itself, exactly, as a beginning, as a part,
and then by likeness; who has more of the words, and the rarer ones, comes first.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from math import log

from doctor.lookup.pinyin import Titles
from kb import spelling
from kb.knowledge import Brief, Knowledge
from kb.model import Text
from parsers.named import NamedTuple

_WORD = re.compile(r"[a-z0-9_]+(?:-[a-z0-9_]+)*|[\u4e00-\u9fff]+")
_PARTED = re.compile("[_-]")
_SUFFIX = re.compile(r"\.(?:so|py|sh|cc|cpp|h)\b")  # of a file name: as a word it would find `so` and `show`
_FIELDS = {"id": 10.0, "title": 10.0, "named": 8.0, "kind": 5.0, "words": 4.0}
_DULL = frozenset("a an and at be by do does for from has have how in is it my no not of on or the this to was what when why with error errors failed fails failure fail 的 了 是".split())  # noqa: SIM905
_SAME = {"oom": ("out-of-memory",), "hang": ("stuck",), "hung": ("stuck",), "oob": ("range",), "mismatch": ("match",)}
PREFIX, PART, LIKE = 0.75, 0.45, 0.6  # of a word's weight: it begins so, it holds it, it is spelt like it
MAX_NEAR = 24  # similar vocabulary words taken for one typed word
MAX_PARTS = 400
EXACT, BEGINS = 1000.0, 500.0
PHRASE_TITLE, PHRASE_WORDS = 20.0, 12.0  # the whole of what was typed stands there
NAMED = 60.0  # it is a name that the card has by itself
PINYIN = 9.0
FEW = 3  # entries that a word may name and still mean one of them
EARLY = 12  # characters of a title in which stands what it is about


class Found(NamedTuple):
    kind: str  # entry | code | variable | card
    id: str
    title: Text
    score: float


class _Item(NamedTuple):
    kind: str
    id: str
    title: Text
    prior: float  # between 0 and 1: how likely somebody means it, other things being equal
    told: str  # its title in both languages, lower case
    words: str  # the rest of it, lower case
    names: frozenset[str] = frozenset()  # what a card is called as well, without blanks


class Index:
    """Built once, searched at every key press."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._items: list[_Item] = []
        self._postings: dict[str, dict[int, float]] = {}
        self._pinyin: Titles | None = None
        for brief in knowledge.catalog():
            about = f"{brief.kind} {brief.domain} {brief.component} {brief.slug.replace('-', ' ')}"
            self._add("entry", brief.code, brief.title, _prior(brief), brief.code, about, brief.words)
        for name in knowledge.variables():
            row = knowledge.variable(name) or {}
            self._add("variable", name, _text(row.get("purpose")), 0.3, name, "", str(row.get("component", "")))
        for code in knowledge.cards():
            row = knowledge.card(code) or {}
            block = str((row.get("code_block") or {}).get("text", ""))
            words = " ".join([*map(str, (row.get("text") or {}).values()), block])
            names = tuple(map(str, row.get("keywords") or ()))
            self._add("card", code, _text(row.get("title")), 0.4, code, "", words, names)
        self._vocabulary = sorted(self._postings)
        self._by_size: dict[int, list[str]] = {}
        for known in self._vocabulary:
            self._by_size.setdefault(len(known), []).append(known)
        self._all = "\n" + "\n".join(self._vocabulary) + "\n"
        self._codes_sorted: list[tuple[str, str, Text]] = []

    def _add(self, kind: str, name: str, title: Text, prior: float, ids: str, about: str, words: str, names: tuple[str, ...] = ()) -> None:
        number = len(self._items)
        called = " ".join(names)
        plain = frozenset(j for one in names if len(j := _joined(one)) > 2)  # 显存 and 溢出 are what failed, no names of a card
        item = _Item(kind, name, title, prior, f"{title.en}\n{title.zh}".lower(), f"{words}\n{called}\n{ids}".lower(), plain)
        self._items.append(item)
        weights: dict[str, float] = {}  # a word once, with the weight of the best field that has it
        for field, text in (("words", item.words), ("kind", about), ("named", called), ("title", item.told), ("id", ids)):
            if kind == "variable" and field == "title":
                field = "words"  # what a variable is for names what failed, too
            weights.update(dict.fromkeys(_terms(text, field in ("title", "named")), _FIELDS[field]))
        for token, weight in weights.items():
            posting = self._postings.get(token)
            if posting is None:
                self._postings[token] = {number: weight}
            else:
                posting[number] = weight

    def search(self, typed: str, limit: int = 50) -> list[Found]:
        """The best first; codes of the tables come in when a code was typed."""
        words = _asked(typed)
        codes = self._codes(typed)
        if not words:
            return codes
        scores = self._scores(typed, words)
        ranked = sorted(scores.items(), key=lambda pair: (-pair[1], self._items[pair[0]].id))[:limit]
        found = [Found(i.kind, i.id, i.title, round(s, 3)) for n, s in ranked for i in (self._items[n],)]
        exact = [c for c in codes if c.score >= EXACT]
        known = [f for f in found if f.score >= EXACT / 2]
        rest = [f for f in found if f.score < EXACT / 2]
        others = [c for c in codes if c.score < EXACT]
        about = [f for f in rest if exact and self._tells(f, words)]
        return [*known, *about, *exact, *others, *(f for f in rest if f not in about)][:limit]

    def meant(self, typed: str) -> tuple[Found, ...]:
        """The entries that a word of a message plainly names: few have it in their titles, or no other has it at all. Else the card called so."""
        word = " ".join(typed.lower().split())
        if len(word) < 4:
            return ()
        entries = [n for n, item in enumerate(self._items) if item.kind == "entry"]
        titles = [n for n in entries if _stands(word, self._items[n].told)]
        called = [n for n, item in enumerate(self._items) if _joined(typed) in item.names]
        found = titles or called or [n for n in entries if _stands(word, self._items[n].words)]
        if not 0 < len(found) <= FEW:
            return ()
        ranked = [one for one in self.search(typed) if any(self._items[n].id == one.id for n in found)]
        return tuple(ranked)

    def _tells(self, found: Found, words: list[str]) -> bool:
        """Does an entry speak of the very code that was typed?"""
        number = next(n for n, item in enumerate(self._items) if item.id == found.id and item.kind == found.kind)
        return found.kind == "entry" and any(number in self._postings.get(word, ()) for word in words)

    def _scores(self, typed: str, words: list[str]) -> dict[int, float]:
        scores: dict[int, float] = {}
        shares: dict[int, float] = {}
        total = 0.0
        for word in words:
            near = self._near(word)
            rare = (0.15 if word in _DULL else 1.0) * log(2 + len(self._items) / (1 + len(near)))
            total += rare
            for number, weight in near.items():
                scores[number] = scores.get(number, 0.0) + weight * rare
                shares[number] = shares.get(number, 0.0) + rare
        phrase = " ".join(typed.lower().split())
        joined = _joined(typed)
        name = typed.strip().upper()
        like_variable = "_" in typed
        for number, score in scores.items():
            item = self._items[number]
            made = score * (shares[number] / total) ** 2
            if len(words) > 1 or phrase[:1] >= "\u4e00":
                made += PHRASE_TITLE if phrase in item.told else PHRASE_WORDS if len(words) > 1 and phrase in item.words else 0.0
            early = words[0] in _SAME or any(-1 < title.find(words[0]) <= EARLY for title in item.told.split("\n"))
            made *= 0.6 + 0.4 * item.prior + (0.03 if early else 0.0)
            if item.kind == "variable":
                made *= 2.0 if like_variable else 0.5
            scores[number] = made + (NAMED if joined in item.names else 0.0)
        for number, item in enumerate(self._items):
            if item.id in (name, f"CARD-{name}"):
                scores[number] = EXACT + (item.id == name)
            elif len(name) > 1 and item.id.startswith(name) and (item.kind == "entry" or like_variable):
                scores[number] = BEGINS + (item.kind == "entry") - _number(item.id) / 1e5
        return scores

    def _near(self, word: str) -> dict[int, float]:
        """Items for one typed word: the word itself, words that begin with it or hold it, pinyin; else words like it."""
        found: dict[int, float] = {}

        def take(known: str, factor: float) -> None:
            for number, weight in self._postings[known].items():
                if weight * factor > found.get(number, 0.0):
                    found[number] = weight * factor

        if word in self._postings:
            take(word, 1.0)
        for same in _SAME.get(word, ()):  # a fault under the name that people give it
            for number, weight in self._postings.get(same, {}).items():
                found[number] = max(found.get(number, 0.0), min(2.4 * weight, 1.2 * _FIELDS["title"]))
        for known in self._beginning(word):
            take(known, PREFIX + 0.2 * len(word) / len(known))
        if word[0] >= "\u4e00":
            self._chinese(word, found)
        elif len(word) > 2:
            for known in self._holding(word):
                take(known, PART * (0.5 + 0.5 * len(word) / len(known)))
        if self._pinyin is None:
            self._pinyin = Titles()
            for number, item in enumerate(self._items):
                self._pinyin.add(number, item.title.zh)
        for read in self._pinyin.read(word):
            weight = PINYIN * (0.5 + 0.25 * read.typed + 0.2 * read.usual + (0.05 if read.at <= EARLY else 0.0))
            found[read.item] = max(found.get(read.item, 0.0), weight)
        if len(word) >= 4 and word.isascii() and not any(weight >= 4.0 for weight in found.values()):
            for known, likeness in self._like(word):
                take(known, LIKE * likeness)
        if not found and ("_" in word or "-" in word):
            parts = [self._near(p) for p in _PARTED.split(word) if p]
            for number in set.intersection(*map(set, parts)) if parts else ():
                found[number] = sum(p[number] for p in parts) / len(parts)
        return found

    def _chinese(self, word: str, found: dict[int, float]) -> None:
        """A run of characters: where it stands in one piece; else as far as its pairs do."""
        for number, item in enumerate(self._items):
            at = item.told.find(word)
            if at >= 0 and item.kind != "variable":
                found[number] = max(found.get(number, 0.0), 10.0)
            elif word in item.words:
                found[number] = max(found.get(number, 0.0), 4.0)
        if len(word) > 2:
            pairs = [self._postings.get(word[at : at + 2], {}) for at in range(len(word) - 1)]
            for number in {n for pair in pairs for n in pair}:
                share = sum(pair.get(number, 0.0) for pair in pairs) / len(pairs)
                found[number] = max(found.get(number, 0.0), 0.9 * share)

    def _beginning(self, word: str) -> Iterator[str]:
        at = bisect_left(self._vocabulary, word)
        for known in self._vocabulary[at : at + MAX_PARTS]:
            if not known.startswith(word):
                return
            if known != word:
                yield known

    def _holding(self, word: str) -> Iterator[str]:
        """Words of the vocabulary that hold it further in."""
        at, count = self._all.find(word), 0
        while at >= 0 and count < MAX_PARTS:
            begin, end = self._all.rfind("\n", 0, at) + 1, self._all.find("\n", at)
            if begin != at:
                yield self._all[begin:end]
            count += 1
            at = self._all.find(word, end)

    def _like(self, word: str) -> Iterator[tuple[str, float]]:
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        most = 1 if len(word) < 6 else 2 if len(word) < 10 else 3
        vocabulary = [w for size in range(len(word) - most, len(word) + most + 1) for w in self._by_size.get(size, ())]
        near = process.extract(word, vocabulary, scorer=OSA.distance, limit=MAX_NEAR, score_cutoff=most)
        for known, distance, _ in near:
            if known[:1] == word[:1] or distance == 1:
                yield known, 1.0 - distance / (len(word) + 1)

    def _codes(self, typed: str) -> list[Found]:
        text = typed.strip()
        if not re.search(r"\d", text) or len(text) > 40 or len(text) < 2:
            return []
        wanted = set(spelling.candidates(text))
        rows = self._knowledge.decode(text)
        found = [
            Found("code", row["code"], _text(row["meaning"]), EXACT if spelling.key(row["code"]) in wanted else 5.0)
            for row in rows[:8]
        ]
        return found or list(self._codes_beginning(text.upper()))

    def _codes_beginning(self, text: str) -> Iterator[Found]:
        """Codes of the tables that begin like what was typed."""
        if len(text) < 3:
            return
        if not self._codes_sorted:
            rows = self._knowledge.all_codes()
            self._codes_sorted = sorted((str(r["code"]).upper(), str(r["code"]), _text(r["meaning"])) for r in rows)
        at = bisect_left(self._codes_sorted, (text,))
        for known, code, meaning in self._codes_sorted[at : at + 8]:
            if not known.startswith(text):
                return
            yield Found("code", code, meaning, 6.0)


def _stands(word: str, text: str) -> bool:
    """Does it stand there as a word, not within another one?"""
    at = text.find(word)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(word) : at + len(word) + 1]
        if not (before.isascii() and (before.isalnum() or before == "_")) and not (after.isascii() and (after.isalnum() or after == "_")):
            return True
        at = text.find(word, at + 1)
    return False


def _prior(brief: Brief) -> float:
    """Stable before drafts, NPU faults before other machines', the first entries of a domain before its odd ones."""
    made = {"cause": 1.0, "ambiguous": 0.9, "symptom": 0.95, "wrapper": 0.85}.get(brief.role, 0.4)
    made -= 0.3 if brief.kind in ("not-npu", "noise") else 0.0
    made -= 0.15 if brief.status != "stable" else 0.0
    return max(0.0, made - _number(brief.code) / 5000)


def _number(code: str) -> int:
    digits = code[3:]
    return int(digits) if digits.isdigit() and len(digits) < 6 else 0


def _joined(text: str) -> str:
    """As it is compared with names: blanks between words say nothing, and Chinese has none."""
    return "".join(text.lower().split())


def _text(value: object) -> Text:
    if isinstance(value, Mapping):
        return Text(str(value.get("en", "")), str(value.get("zh", "")))
    return Text("", "")


def _asked(typed: str) -> list[str]:
    """The words of what was typed, each once."""
    return list(dict.fromkeys(_WORD.findall(_SUFFIX.sub(" ", typed.lower()))))


def _terms(text: str, chinese: bool) -> list[str]:
    """Words in lower case, with their parts; Chinese runs of titles by pairs, so that a part of a phrase finds them."""
    found: list[str] = []
    for match in _WORD.findall(_SUFFIX.sub(" ", text.lower())):
        if match[0] < "\u4e00":
            found.append(match)
            if "_" in match or "-" in match:
                found += _PARTED.split(match)
        elif chinese:
            found += [match[at : at + 2] for at in range(max(1, len(match) - 1))]
    return [term for term in found if term]


def search(knowledge: Knowledge, typed: str, limit: int = 30) -> list[Found]:
    """One search without keeping the index."""
    return Index(knowledge).search(typed, limit)
