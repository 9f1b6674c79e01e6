"""New shapes that are one thing said of several: alike but for a word, or behind one beginning that ends in a colon."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from doctor.baseline.compare import NEW, Difference
from doctor.baseline.severity import STRONG, severe_words
from doctor.baseline.words import tokens
from parsers.named import NamedTuple

MAX_SHAPES = 5000  # new shapes among which kin are looked for; of further ones each stands for itself
MAX_WORDS = 40
_FEWEST = 4  # words of a line of which one may be another
_BEGINNING = 60  # characters before a colon


class Kin(NamedTuple):
    """What is said of new shapes that belong together. `voices` and `peers` are sets of numbers, as bits."""

    voices: int
    peers: int
    times: int
    since: float | None  # of the first of them


def kin(differences: Sequence[Difference]) -> Mapping[str, Kin]:
    """Of each new shape what is said of it and its kin, by the shape."""
    new = [one for one in differences if one.kind == NEW]
    heads = list(range(len(new)))
    of_key: dict[object, int] = {}
    for at, one in enumerate(new[:MAX_SHAPES]):
        for key in _keys(one):
            heads[_head(heads, at)] = _head(heads, of_key.setdefault(key, at))
    families: dict[int, list[Difference]] = defaultdict(list)
    for at, one in enumerate(new):
        families[_head(heads, at)].append(one)
    return {one.shape: told for family in families.values() for told in (_told(family),) for one in family}


def alone(one: Difference) -> Kin:
    """What is said of a difference that has no kin."""
    seen = one.seen
    return Kin(one.voices, one.peers, seen.times if seen else 0, seen.since if seen else None)


def _head(heads: list[int], at: int) -> int:
    while heads[at] != at:
        heads[at] = heads[heads[at]]
        at = heads[at]
    return at


def _keys(one: Difference) -> Iterator[object]:
    """The line with a gap for each of its words that is no grave one; its beginning, where nothing is wrong."""
    words = tokens(one.shape)
    if _FEWEST <= len(words) <= MAX_WORDS:
        before, after = [0], [0]
        for word in words:
            before.append(hash((before[-1], word)))
        for word in reversed(words):
            after.append(hash((after[-1], word)))
        yield from ((len(words), n, before[n], after[len(words) - n - 1]) for n, word in enumerate(words) if not severe_words(word))
    beginning, colon, _ = one.shape.partition(": ")
    if colon and one.severity < STRONG and 0 < len(beginning) < _BEGINNING:
        yield beginning


def _told(family: Sequence[Difference]) -> Kin:
    told = [alone(one) for one in family]
    voices = peers = 0
    for one in told:
        voices, peers = voices | one.voices, peers | one.peers
    return Kin(voices, peers, sum(one.times for one in told), min((one.since for one in told if one.since is not None), default=None))
