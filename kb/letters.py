"""How texts are written in a pack: what a language says most often is one letter of its own there.

Text is ASCII, and bytes above it stand for the words and signs that are worth it: most of one byte for what is told most often, of
two bytes for what is told several times. Texts are what stands between the quotes of JSON: a sign for which no letter is left is
written as JSON escapes it. Deflate, which packs a wheel, finds repeated stretches by itself, but pays more for each of them than
two letters are: a wheel is smaller by more than a hundred thousand bytes so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice, product

from parsers.lazy import lazy

SINGLES = tuple(map(chr, range(0x80, 0xF0)))
LEADS, TRAILS = tuple(map(chr, range(0xF0, 0x100))), tuple(map(chr, range(0x20, 0x100)))
SEVERAL = 3  # times: what is told less often is not worth its place in the list
COUPLES = 600  # of two Chinese signs: a language without blanks tells its words so
ALIKE = 4  # leads of two letters
ENOUGH = 10_000_000  # characters of texts by which letters are chosen: what a user adds may be more, and says the same words
_TOLD = lazy(r" ?[A-Za-z_]{2,}|[\u4e00-\u9fff]+|[^\x00-\x7f]")
_COUPLE = lazy(r"(?=([\u4e00-\u9fff]{2}))")
_LETTER = lazy("(?s:[\x00-\x7f]+|[\x80-\xef]|[\xf0-\xff].)")
_ESCAPED = lazy(r"((?:\\u(?!00[0-7])[0-9a-f]{4})+)|\\.")
_FIRST, _LAST = "\u4e00", "\u9fff"
Letters = tuple[Sequence[str], Sequence[str]]
"""What the single letters stand for, in their order, and what the pairs stand for."""


def letters_of(texts: Iterable[str], blanks: bool = True) -> Letters:
    """The letters that make these texts shortest. `blanks`: most words stand behind one, which is a part of their letter then."""
    some = list(_enough(texts))
    couples = frozenset(told for told, times in Counter(found for text in some for found in _COUPLE.findall(text)).most_common(COUPLES) if times >= SEVERAL)
    counted = Counter(told for text in some for whole in _TOLD.findall(text) for told in _pieces(whole if blanks else whole.lstrip(" "), couples))
    counted.update(dict.fromkeys(chain.from_iterable(couples), 0))  # each of the two may stand alone in what is written later
    often = sorted((told for told, times in counted.items() if times >= SEVERAL), key=lambda told: (-_saved(told, counted[told], 1), told))
    singles = often[: len(SINGLES)]
    given = frozenset(singles)
    signs = sorted((told for told in counted if len(told) == 1 and told > "\xff" and told not in given), key=lambda told: (-counted[told], told))
    words = sorted((told for told in often[len(SINGLES) :] if _saved(told, counted[told], 2) > len(told)), key=lambda told: (-_saved(told, counted[told], 2), told))
    room = len(LEADS) * len(TRAILS)
    kept = {*islice(signs, room), *islice(words, max(0, room - len(signs)))}
    ranked = sorted(kept, key=lambda told: (-counted[told], told))
    row = ALIKE * len(TRAILS)  # those of some leads are as frequent as each other: told by their spelling they are a shorter list
    return singles, [told for at in range(0, len(ranked), row) for told in sorted(ranked[at : at + row])]


def letters_row(letters: Letters) -> Sequence[str]:
    """Letters as they are kept: a line for each."""
    return list(map("\n".join, letters))


def lettered(row: Sequence[str]) -> Letters:
    """The inverse of `letters_row`."""
    singles, pairs = (told.split("\n") if told else [] for told in row)
    return singles, pairs


def _enough(texts: Iterable[str]) -> Iterator[str]:
    left = ENOUGH
    for text in texts:
        if left <= 0:
            return
        left -= len(text)
        yield text


def _two() -> Iterator[str]:
    """The pairs, in the order in which they are given."""
    return map("".join, product(LEADS, TRAILS))


def _saved(told: str, times: int, letters: int) -> int:
    """Bytes, if this is so many letters."""
    return times * ((len(told) if told.isascii() else 2 * len(told)) - letters)


def _pieces(whole: str, couples: frozenset[str]) -> Iterator[str]:
    """A word, a sign, or a stretch of Chinese as signs and the couples that are known."""
    if not _FIRST <= whole[0] <= _LAST:
        yield whole
        return
    at, end = 0, len(whole)
    while at < end:
        piece = whole[at : at + 2]
        if piece not in couples:
            piece = whole[at]
        yield piece
        at += len(piece)


def written(letters: Letters) -> Callable[[str], bytes]:
    """Writes a text by these letters."""
    singles, pairs = letters
    letter = {**dict(zip(pairs, _two(), strict=False)), **dict(zip(singles, SINGLES, strict=False))}
    couples = frozenset(told for told in letter if len(told) == 2 and told > "\xff")
    longest = max(map(len, letter), default=1)

    @lru_cache(maxsize=1 << 16)  # words are said again and again
    def one(told: str) -> str:
        """A word for which there is no letter is written in the longest known pieces, from its beginning on."""
        made, at = [], 0
        while at < len(told):
            end = next((end for end in range(min(len(told), at + longest), at, -1) if told[at:end] in letter), at + 1)
            piece = told[at:end]
            made.append(letter.get(piece) or _spelled(piece))
            at = end
        return "".join(made)

    def write(text: str) -> bytes:
        return _TOLD.sub(lambda found: "".join(map(one, _pieces(found[0], couples))), text).encode("latin-1")

    return write


def _spelled(told: str) -> str:
    if told.isascii():
        return told
    two = told.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{two[at : at + 4]}" for at in range(0, len(two), 4))


def spelled_out(text: str) -> str:
    """What was read, with the signs for which there was no letter instead of how JSON escapes them."""
    return _ESCAPED.sub(lambda found: bytes.fromhex(found[1].replace("\\u", "")).decode("utf-16-be") if found[1] else found[0], text)


def reader(letters: Letters) -> Callable[[bytes], str]:
    """Reads what was written by these letters. No line of Python is run for a letter: thousands are read at each start."""
    singles, pairs = letters
    told = {**dict(zip(SINGLES, singles, strict=False)), **dict(zip(_two(), pairs, strict=False))}.get

    def read(text: bytes) -> str:
        found = _LETTER.findall(text.decode("latin-1"))
        return "".join(map(told, found, found))

    return read
