"""Chinese titles found by what a keyboard without an input method types: `xiancun`, `xianc` and `xc` are 显存."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path

from parsers.named import NamedTuple

LONGEST = 24  # letters of a typed word that are taken for pinyin
_RUN = re.compile(r"[\u4e00-\u9fff]{2,}")


class Read(NamedTuple):
    """A title in which the typed letters can be read: how much of the syllables was typed, how usual the word is."""

    item: int
    typed: float
    usual: float
    at: int  # where in the title it stands


def common() -> Iterator[str]:
    """The 3 755 characters of level one of GB 2312, which stand there in the order of their readings."""
    for row in range(0xB0, 0xD8):
        yield from bytes(byte for cell in range(0xA1, 0xFF if row < 0xD7 else 0xFA) for byte in (row, cell)).decode("gb2312")


@cache
def readings() -> dict[str, tuple[str, ...]]:
    """Every character of the table with its syllables: of each line the next so many of the common ones, and some others."""
    found: dict[str, list[str]] = defaultdict(list)
    following = common()
    for line in (Path(__file__).parent / "pinyin.txt").read_text(encoding="utf-8").splitlines():
        syllable, count, *others = line.split(" ")
        for character in (*islice(following, int(count)), *"".join(others)):
            found[character].append(syllable)
    return {character: tuple(told) for character, told in found.items()}


class Titles:
    """Titles by the letters with which their characters begin."""

    def __init__(self) -> None:
        self._begin: dict[str, list[tuple[int, str, int, int]]] = defaultdict(list)

    def add(self, item: int, title: str) -> None:
        known = readings()
        for match in _RUN.finditer(title):
            run = match[0]
            for at in range(len(run) - 1):
                for letter in {syllable[0] for syllable in known.get(run[at], ())}:
                    self._begin[letter].append((item, run, at, match.start() + at))

    def read(self, typed: str) -> list[Read]:
        """The titles in which the letters can be read as whole syllables, as their beginnings, or as first letters."""
        if len(typed) < 2 or len(typed) > LONGEST or not typed.isascii() or not typed.isalpha():
            return []
        found: dict[tuple[int, str], tuple[float, int]] = {}
        for item, run, at, place in self._begin.get(typed[0], ()):
            end, letters = _end(typed, 0, run, at, 0)
            if end - at >= 2:
                found.setdefault((item, run[at:end]), (len(typed) / letters, place))
        often = Counter(word for _, word in found)
        most = max(often.values(), default=1)
        best: dict[int, Read] = {}
        for (item, word), (share, place) in found.items():
            read = Read(item, share, often[word] / most, place)
            if item not in best or (read.usual, read.typed) > (best[item].usual, best[item].typed):
                best[item] = read
        return list(best.values())


def _end(typed: str, used: int, run: str, at: int, letters: int) -> tuple[int, int]:
    """Where in the run the typed letters end, and how many letters its syllables have; -1 when they cannot be read."""
    if used == len(typed):
        return at, letters
    best = (-1, 1)
    for syllable in readings().get(run[at], ()) if at < len(run) else ():
        rest = typed[used:]
        taken = len(syllable) if rest.startswith(syllable) else len(rest) if syllable.startswith(rest) else 0
        for step in {taken, 1} if syllable[0] == rest[0] else ():
            found = _end(typed, used + step, run, at + 1, letters + len(syllable)) if step else (-1, 1)
            if found[0] > 0 and (best[0] < 0 or found[1] < best[1]):
                best = found
    return best
