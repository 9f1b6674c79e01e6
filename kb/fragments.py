"""For each anchor a short piece that is rare in ordinary logs: what the scanner looks for first.

An automaton is fast while it finds nothing, so "MemCopySync:drvMemcpy failed" is looked for by a piece with `drvM`, not
by `failed`. What is ordinary is learnt from `background.txt`, a sample of healthy logs that ships with the knowledge.

A layer's signals are assigned together: anchors share pieces wherever they can, because half as many literals make an
automaton that is half as fast again, and one find a line is cheaper than four. Which pieces error lines are full of
(`failed,`, ` informa`) is learnt from the samples of the entries.

An automaton sorts its literals into eight places, by length and last letters, and confirms whatever passes a place. Of
more than eight letters it sees the last eight; a handful of four, five or seven letters take a place each away from the
thousands of eight. So there are pieces of eight letters, of six for numbers and words that have no more, and of five for
lettered codes.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

from kb import anchors
from kb.model import ROW_FORMS, Signal

LENGTH, SHORT = 8, 6
COMMON = 10  # a piece found more often than this in the sample is a weak one
_HEALTHY_COST, _ERROR_COST, _LETTER_COST, _WORD_COST = 10.0, 0.3, 6 / 1000, 60.0
_REFUSAL_COST = 3.0
_SHORT_COST, _ODD_COST = 20.0, 10.0
WASTED = 12  # lines of the samples
_CODE = re.compile(r"E[A-Z0-9]\d{4}")


@lru_cache(maxsize=1)
def _background() -> bytes:
    path = Path(__file__).resolve().parent / "background.txt"
    return path.read_bytes() if path.is_file() else b""


@lru_cache(maxsize=1)
def _text() -> str:
    return _background().decode("utf-8", "replace")


@lru_cache(maxsize=200_000)
def count(piece: str) -> int:
    """How often a piece stands in ordinary logs."""
    return _background().count(piece.encode())


@lru_cache(maxsize=1)
def _pairs() -> Counter[tuple[int, int]]:
    """How often each two bytes stand side by side in ordinary logs: read once for the thousands of pairs that are asked for."""
    return Counter(pairwise(_background()))


@lru_cache(maxsize=100_000)
def _letter(pair: str) -> int:
    raw = pair.encode()
    once = len(raw) == 2 and raw[0] != raw[1]  # of `aaa` two pairs are counted, and one `aa`
    return min(_pairs()[raw[0], raw[1]] if once else _background().count(raw), 1000)


def _letters(piece: str) -> int:
    """How usual the letters of a piece are, pair by pair: what an automaton rejects early costs least."""
    return sum(_letter(piece[i : i + 2]) for i in range(len(piece) - 1))


def _pieces(anchor: str) -> Iterable[str]:
    """What an anchor can be looked for by: eight letters of it, or six, because an automaton keeps each length apart.

    Of codes like `E10006` the first five letters do: four hundred of them are found by ninety.
    """
    if _CODE.fullmatch(anchor):
        return (anchor[:-1],)
    if len(anchor) < LENGTH:
        return (anchor, anchor[:SHORT])
    return (anchor[i : i + LENGTH] for i in range(max(1, len(anchor) - LENGTH + 1)))


def _options(signal: Signal) -> list[tuple[str, ...]]:
    """The sets of anchors that a signal can be looked for by."""
    found = signal.options or (anchors.options(signal.pattern, signal.lines) if signal.form == "regex" else ())
    return [*found] or [signal.anchors]


def assign(signal: Signal) -> Signal:
    """The signal with the anchors that are rarest in ordinary logs, and their fragments."""
    return assign_all([signal])[0]


def assign_all(signals: Sequence[Signal], errors: str = "") -> list[Signal]:
    """The signals with their anchors and fragments, chosen together; `errors` is text as error lines have it."""
    found = [[] if s.form in ROW_FORMS else _options(s) for s in signals]
    words = {anchor for options in found for option in options for anchor in option}
    healthy, failing = _counts(_text(), words), _counts(errors, words)
    cost = {p: _cost(p, healthy[p], failing[p]) for p in healthy}
    best: list[tuple[str, ...]] = []
    for options in found:
        # An error line with the anchor of a pattern that it does not match costs more than a find: the pattern is tried.
        price = {
            o: sum(_short(a) + min(cost[p] + _REFUSAL_COST * failing[p] for p in _pieces(a)) for a in o)
            for o in options
        }
        best.append(min(options, key=lambda o: (price[o], -anchors.weight(o)), default=()))
    chosen = _cover({anchor for option in best for anchor in option}, cost)
    _lengthen(chosen, cost, failing, errors)
    return [
        s if s.form in ROW_FORMS else s._replace(anchors=option, fragments=tuple(chosen[a] for a in option), options=())
        for s, option in zip(signals, best, strict=True)
    ]


def _cost(piece: str, healthy: int, failing: int) -> float:
    """What looking for a piece costs: the finds that mean nothing, and what the automaton makes of its letters."""
    found = _HEALTHY_COST * healthy + _ERROR_COST * failing
    odd = len(piece) not in (LENGTH, SHORT, SHORT - 1)
    return 1 + found + _LETTER_COST * _letters(piece) + _WORD_COST * _is_word(piece) + _ODD_COST * odd


def _short(anchor: str) -> float:
    """An automaton confirms what looks like one of its literals by their last eight bytes: fewer letters confirm far more.

    What ends with digits is looked for beside so little else that this costs nothing.
    """
    if len(anchor) >= LENGTH or anchor[-1:].isdigit():
        return 0.0
    return _SHORT_COST + _WORD_COST * anchor.islower()


def _is_word(piece: str) -> bool:
    """`" window "` is in nobody's sample, but somebody will write it; `MoeDistr` nobody writes by chance."""
    word = piece.strip()
    return word.isalpha() and word[1:].islower()


def _counts(text: str, words: Iterable[str]) -> dict[str, int]:
    """How often each piece of the words stands in a text."""
    pieces = {p for word in words for p in _pieces(word)}
    if len(pieces) < 200:
        return {p: text.count(p) for p in pieces}
    found = dict.fromkeys(pieces, 0)
    for size in {len(p) for p in pieces}:
        for i in range(len(text) - size + 1):
            piece = text[i : i + size]
            if piece in found:
                found[piece] += 1
    return found


def _cover(words: set[str], cost: dict[str, float]) -> dict[str, str]:
    """Few cheap pieces, one in every word: always the piece that serves the most words for its cost (greedy set cover)."""
    serves: dict[str, set[str]] = {}
    for word in words:
        for piece in _pieces(word):
            serves.setdefault(piece, set()).add(word)
    queue = [(cost[p] / len(w), p) for p, w in serves.items()]
    heapq.heapify(queue)
    chosen: dict[str, str] = {}
    while queue:
        _, piece = heapq.heappop(queue)
        left = [w for w in serves[piece] if w not in chosen]
        if not left:
            continue
        price = cost[piece] / len(left)
        if queue and price > queue[0][0]:
            heapq.heappush(queue, (price, piece))
            continue
        for word in left:
            chosen[word] = piece
    return chosen


def _lengthen(chosen: dict[str, str], cost: dict[str, float], failing: dict[str, int], errors: str) -> None:
    """Where the beginning of an anchor up to its fragment stands in many error lines that go on otherwise, a later one is taken."""
    used = set(chosen.values())
    lines = errors.split("\n")

    @cache
    def around(piece: str) -> str:
        return "\n".join(line for line in lines if piece in line)

    for anchor, piece in sorted(chosen.items()):  # the same knowledge gives the same fragments
        if failing[piece] <= WASTED:  # what begins with it stands in no more lines
            continue
        at = anchor.find(piece)
        stands = cache(around(piece).count)
        if stands(anchor[: at + len(piece)]) - stands(anchor) <= WASTED:
            continue
        later = {p: anchor[: anchor.find(p) + len(p)] for p in _pieces(anchor) if anchor.find(p) >= at}
        wasted = {p: stands(text) - stands(anchor) for p, text in later.items()}
        chosen[anchor] = min(later, key=lambda p: ((0 if p in used else cost[p]) + _REFUSAL_COST * wasted[p], p))
        used.add(chosen[anchor])


def weak(signal: Signal) -> int:
    """How often the rarest pieces of what a signal is told by stand in the sample: above COMMON the scanner stumbles over it."""
    return sum(min(map(count, _pieces(anchor))) for anchor in signal.anchors)
