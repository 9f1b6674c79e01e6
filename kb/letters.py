"""How texts are written in a pack: what a language says most often is one letter of its own there.

Text is ASCII, and bytes above it stand for the words and signs that are worth it; signs that are met less often take two bytes.
Texts are what stands between the quotes of JSON: a sign for which no letter is left is written as JSON escapes it. Deflate, which
packs a wheel, finds repeated stretches by itself, but pays for each of them; a wheel is smaller by some fifty thousand bytes so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, product

from parsers.lazy import lazy

SINGLES = tuple(map(chr, range(0x80, 0xF0)))
LEADS, TRAILS = tuple(map(chr, range(0xF0, 0x100))), tuple(map(chr, range(0x20, 0x100)))
SEVERAL = 3  # times: what is told less often is not worth its place in the list
_TOLD = lazy(r"[A-Za-z_]{2,}|[^\x00-\x7f]")
_PAIR = lazy("[\xf0-\xff].")
Letters = tuple[Sequence[str], str]
"""What the single letters stand for, in their order, and what the pairs stand for."""


def letters_of(texts: Iterable[str]) -> Letters:
    """The letters that make these texts shortest."""
    counted = Counter(told for text in texts for told in _TOLD.findall(text))
    often = sorted((told for told, times in counted.items() if times >= SEVERAL), key=lambda told: (-_saved(told, counted[told]), told))
    singles = often[: len(SINGLES)]
    rest = sorted(set(counted).difference(singles), key=lambda told: (-counted[told], told))
    return singles, "".join(islice((told for told in rest if told > "\xff" and len(told) == 1), len(LEADS) * len(TRAILS)))


def _two() -> Iterator[str]:
    """The pairs, in the order in which they are given."""
    return map("".join, product(LEADS, TRAILS))


def _saved(told: str, times: int) -> int:
    """Bytes, if this is a single letter."""
    return times * (len(told) - 1 if told.isascii() else 1)


def written(letters: Letters) -> Callable[[str], bytes]:
    """Writes a text by these letters."""
    singles, pairs = letters
    letter = {**dict(zip(pairs, _two(), strict=False)), **dict(zip(singles, SINGLES, strict=False))}

    def write(text: str) -> bytes:
        return _TOLD.sub(lambda found: letter.get(found[0]) or _spelled(found[0]), text).encode("latin-1")

    return write


def _spelled(told: str) -> str:
    if told.isascii():
        return told
    two = told.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{two[at : at + 4]}" for at in range(0, len(two), 4))


def reader(letters: Letters) -> Callable[[bytes], str]:
    """Reads what was written by these letters."""
    singles, pairs = letters
    single = dict(zip(map(ord, SINGLES), singles, strict=False))
    pair = dict(zip(_two(), pairs, strict=False))

    def read(text: bytes) -> str:
        return _PAIR.sub(lambda found: pair[found[0]], text.decode("latin-1")).translate(single)

    return read
