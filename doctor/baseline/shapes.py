"""Shapes of all lines of a run, told apart in blocks: most lines are only looked up, by what is left of them without digits.

A line is read where nothing is known of it. What is known of a line without digits decides; of a line with hexadecimal
words what is left without the letters of those, too; where a number decides, that number stands in the key.
"""

from __future__ import annotations

from collections import Counter

from doctor.baseline.masks import COUNTED, DECIDING_BYTES, HEX_WORD, LONGEST, Masks
from doctor.baseline.severity import may_be_severe
from doctor.baseline.words import spoken
from doctor.read.encoding import decode

MAX_SHAPES = 50_000  # shapes of one comparison; further ones are counted together
FIRST_SHAPES = 4000  # new shapes that a run may have at once,
LINES_A_SHAPE = 16  # and one more for so many lines: where hardly a line is like another, the rest is only asked whether it is grave
MAX_KEYS = 100_000  # lines without digits that are remembered, of each way to look them up
MAX_WAYS = 300  # shapes that begin with the same two words; further ones, of prompts and the like, have one shape together
BEGINNING = 2
MAX_LENGTHS = 16  # different lengths of such beginnings that are looked up
SEEN = 300  # characters of a line with free text in which a word of trouble is one of the program's
FREE = "<text>"
LONGEST_KEY = 1000  # bytes of one
BLANK, FURTHER = 0, 1  # numbers of lines without a text, and of those that came when there were enough shapes

_DIGITS = b"0123456789"
_HEX = _DIGITS + b"abcdefABCDEF"
_RETURNS = bytes.maketrans(b"\r", b"\n")
_SPACED = bytes(byte if byte > 127 or chr(byte).isalnum() else 10 if byte in b"\r\n" else 32 for byte in range(256))
Words = tuple[tuple[int, bool], ...]
Key = bytes | tuple[bytes, ...]


class Shapes:
    """Every shape has a number, for all runs that are compared with each other."""

    def __init__(self, most: int = MAX_SHAPES) -> None:
        self.texts: list[str] = ["", ""]
        self._most = most
        self._ways: Counter[str] = Counter()  # by their first words: how many shapes
        self._numbers: dict[str, int] = {"": BLANK}
        self.listen(Masks())

    def listen(self, masks: Masks) -> None:
        """From now on lines are of another run: its names are its own."""
        self._masks = masks
        self._plain: dict[bytes, int] = {b"": BLANK}
        self._other: dict[Key, int] = {}
        self._deciding: dict[bytes, Words] = {}
        self._first: dict[str, int] = {}
        self._heard = self._made = 0  # lines and new shapes of this run
        self._free: dict[int, dict[bytes, int]] = {}  # by its length: a beginning behind which free text stands

    def of(self, block: bytes) -> list[int]:
        """The number of each line of a block; a carriage return ends a line as well."""
        keys = block.translate(_RETURNS, _DIGITS).split(b"\n")
        found = list(map(self._plain.get, keys))
        self._heard += len(keys)
        if None not in found:
            return found  # type: ignore[return-value]
        bares, spaced = block.translate(_RETURNS, _HEX).split(b"\n"), block.translate(_SPACED).split(b"\n")
        known, deciding, raws = self._other.get, self._deciding, None
        for at, number in enumerate(found):
            if number is not None:
                continue
            key = keys[at] if keys[at] in deciding else bares[at]
            words = deciding.get(key)
            number = known(key if words is None else (key, *_decides(spaced[at], words)))
            if number is None:
                raws = raws or lines(block)
                number = self._read(keys[at], bares[at], raws[at])
                known, deciding = self._other.get, self._deciding
            found[at] = number
        return found  # type: ignore[return-value]

    def _read(self, key: bytes, bare: bytes, raw: bytes) -> int:
        """A line of which nothing is known; what is learnt of it is remembered by what may differ in lines of its shape."""
        text = decode(raw[: 4 * LONGEST])
        for length, beginnings in self._free.items():
            if (number := beginnings.get(bare[:length])) is not None and not may_be_severe(text[:SEEN]):
                return number
        if self._made >= FIRST_SHAPES + self._heard // LINES_A_SHAPE and not may_be_severe(text):
            return FURTHER
        number, free = self._number(text)
        if free:
            self._is_free(free, text, number)
            return number
        if len(key) > LONGEST_KEY:
            return number
        words, hexed = _deciding_words(raw), HEX_WORD.search(text) is not None
        name = bare if hexed else key
        if words:
            if len(self._deciding) >= MAX_KEYS:
                self._deciding.clear()
            self._deciding[name] = words
            self._remember((name, *_decides(raw.translate(_SPACED), words)), number)
        elif hexed:
            self._remember(name, number)
        else:
            if len(self._plain) >= MAX_KEYS:
                self._plain.clear()
                self._plain[b""] = BLANK
            self._plain[key] = number
        return number

    def _is_free(self, beginning: str, text: str, number: int) -> None:
        """From now on lines that begin in this way are not read any more, unless one says that something is wrong."""
        last = beginning.split()[-1]
        end = text.find(last) + len(last)
        if end >= len(last):
            bare = text[:end].encode("utf-8", "replace").translate(None, _HEX)
            if len(self._free) < MAX_LENGTHS or len(bare) in self._free:
                self._free.setdefault(len(bare), {})[bare] = number

    def _remember(self, key: Key, number: int) -> None:
        if len(self._other) >= MAX_KEYS:
            self._other.clear()
        self._other[key] = number

    def _number(self, text: str) -> tuple[int, str]:
        """The number of a line's shape, and the words behind which free text stands in it."""
        first = self._masks.first(text)
        number = self._first.get(first)
        if number is not None:
            return number, ""
        beginning = _beginning(first)
        severe = may_be_severe(first)
        if not severe and self._ways[beginning] >= MAX_WAYS:
            return self._new(f"{beginning} {FREE}", self._most), beginning
        full = len(self.texts) >= self._most
        if full and not severe:
            return FURTHER, ""
        number = self._new(self._masks.shape(text), self._most + self._most // 10)  # what is wrong finds room where much was said
        if len(self._first) >= MAX_KEYS:
            self._first.clear()
        self._first[first] = number
        return number, ""

    def _new(self, shape: str, most: int) -> int:
        number = self._numbers.get(shape)
        if number is None:
            if len(self.texts) >= most:
                return FURTHER
            number = self._numbers[shape] = len(self.texts)
            self._made += 1
            self.texts.append(shape)
            self._count(shape)
        return number

    def _count(self, shape: str) -> None:
        beginning = _beginning(shape)
        self._ways[beginning] += MAX_WAYS if shape.endswith(FREE) else 1

    def known(self, shape: str) -> int:
        """The number of a shape that was told elsewhere, in a file."""
        return self._new(shape, 2 * MAX_SHAPES)


def _beginning(shape: str) -> str:
    return " ".join(spoken(shape)[:BEGINNING])


def lines(block: bytes) -> list[bytes]:
    """The lines of a block, as `Shapes.of` numbers them."""
    return block.translate(_RETURNS).split(b"\n")


def _deciding_words(raw: bytes) -> Words:
    """Which words of a line are numbers that decide, and which of them are counts."""
    found = []
    for one in DECIDING_BYTES.finditer(raw, 0, LONGEST):
        group = one.lastindex or 0
        found.append((len((raw[: one.start(group)].translate(_SPACED) + b"x").split()) - 1, group == COUNTED))
    return tuple(found)


def _decides(spaced: bytes, words: Words) -> list[bytes]:
    """The numbers of a line that decide, as far as they do; `spaced`: the line with nothing between its words."""
    said = spaced.split()
    most = len(said)
    return [(b"+" if said[at].strip(b"0") else b"0") if counted else said[at] for at, counted in words if at < most]
