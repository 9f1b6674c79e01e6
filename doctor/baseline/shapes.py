"""Shapes of all lines of a run, told apart in blocks: most lines are only looked up, by what is left of them without digits.

A line is read where nothing is known of it. What is known of a line without digits decides; of a line with hexadecimal
words what is left without the letters of those, too; where a number decides, that number stands in the key.
"""

from __future__ import annotations

from doctor.baseline.masks import COUNTED, DECIDING_BYTES, HEX_WORD, LONGEST, Masks
from doctor.read.encoding import decode

MAX_SHAPES = 50_000  # shapes of one comparison; further ones are counted together
MAX_KEYS = 100_000  # lines without digits that are remembered, of each way to look them up
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
        self._numbers: dict[str, int] = {"": BLANK}
        self.listen(Masks())

    def listen(self, masks: Masks) -> None:
        """From now on lines are of another run: its names are its own."""
        self._masks = masks
        self._plain: dict[bytes, int] = {b"": BLANK}
        self._other: dict[Key, int] = {}
        self._deciding: dict[bytes, Words] = {}
        self._first: dict[str, int] = {}

    def of(self, block: bytes) -> list[int]:
        """The number of each line of a block; a carriage return ends a line as well."""
        keys = block.translate(_RETURNS, _DIGITS).split(b"\n")
        found = list(map(self._plain.get, keys))
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
        number = self._number(text)
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

    def _remember(self, key: Key, number: int) -> None:
        if len(self._other) >= MAX_KEYS:
            self._other.clear()
        self._other[key] = number

    def _number(self, text: str) -> int:
        first = self._masks.first(text)
        number = self._first.get(first)
        if number is None:
            full = len(self.texts) >= self._most
            shape = first if full else self._masks.shape(text)  # of a further one its names would never be shown
            number = self._numbers.get(shape)
            if number is None:
                if full:
                    return FURTHER
                number = self._numbers[shape] = len(self.texts)
                self.texts.append(shape)
            if len(self._first) >= MAX_KEYS:
                self._first.clear()
            self._first[first] = number
        return number

    def known(self, shape: str) -> int:
        """The number of a shape that was told elsewhere, in a file."""
        number = self._numbers.get(shape)
        if number is None:
            number = self._numbers[shape] = len(self.texts)
            self.texts.append(shape)
        return number


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
