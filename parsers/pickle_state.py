"""What reading a pickle keeps: the stack, the memo, the marks, and how much of each there may be."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, Final

from parsers.named import NamedTuple

MAX_BYTES: Final = 2 << 30
MAX_OBJECTS: Final = 64_000_000
"""Values in containers, and containers: what takes memory. A snapshot of 500 MB has about half as many."""
MAX_MEMO: Final = 16_000_000
MAX_DEPTH: Final = 64
MAX_DIGITS: Final = 1024
"""Bytes of one number: of longer ones the value takes long to work out."""

Plain = Any
"""dict, list, str, bytes, int, float, bool or None."""
Fold = Callable[[dict[Any, Plain]], Plain]


class Why(Enum):
    """What kind of input it is that cannot be read."""

    HOSTILE = "hostile"
    """It asks for something that is no plain value: `asked` names it."""
    TRUNCATED = "truncated"
    FOREIGN = "foreign"
    """It is no pickle, or one that no program writes."""
    LARGE = "large"


class PickleError(ValueError):
    """A pickle that is not read: why, at which byte, and for what it asked."""

    def __init__(self, why: Why, offset: int, what: str, asked: str = "") -> None:
        super().__init__(f"at byte {offset}: {what}")
        self.why, self.asked = why, asked


class Bounds(NamedTuple):
    """How much a pickle may take."""

    size: int = MAX_BYTES
    objects: int = MAX_OBJECTS
    memo: int = MAX_MEMO
    depth: int = MAX_DEPTH


USUAL: Final = Bounds()

_KEYS: Final = frozenset({str, int, bytes, bool, float, type(None)})
_FOLDED_AT_MOST: Final = 1000  # pickle writes larger dictionaries in parts of 1000


class State:
    """The memo, the marks and the place of one reading."""

    def __init__(self, data: bytes, fold: Fold | None, bounds: Bounds) -> None:
        self.data, self.fold, self.bounds = data, fold, bounds
        self.at = 0
        self.objects = 0
        self.marks: list[list[Plain]] = []
        self.memo: list[Plain] = []
        self.slots: dict[int, int] = {}

    def within(self, end: int, size: int) -> None:
        if end > size:
            raise PickleError(Why.TRUNCATED, size, "it ends before its end")

    def count(self, number: int, at: int) -> None:
        self.objects += number
        if self.objects > self.bounds.objects:
            raise PickleError(Why.LARGE, at, f"it has more than {self.bounds.objects} values")

    def remember(self, slot: int, value: Plain, at: int) -> None:
        memo = self.memo
        if slot == len(memo):
            if slot >= self.bounds.memo:
                raise PickleError(Why.LARGE, at, f"it remembers more than {self.bounds.memo} values")
            memo.append(value)
        elif slot < len(memo):
            memo[slot] = value
        else:  # a pickle that was optimized leaves numbers out
            if slot >= self.bounds.memo or slot > len(self.data):
                raise PickleError(Why.LARGE, at, f"it remembers a value under number {slot}")
            memo.extend([None] * (slot - len(memo)))
            memo.append(value)
        if self.fold is not None and type(value) is dict and not value:
            self.slots[id(value)] = slot

    def fill(self, stack: list[Plain], items: list[Plain], at: int, *, whole: bool = True) -> None:
        filled = stack[-1]
        if type(filled) is not dict or len(items) % 2:
            raise PickleError(Why.FOREIGN, at, "it fills a dictionary that is none")
        keys = items[::2]
        if not _KEYS.issuperset(map(type, keys)):
            raise PickleError(Why.FOREIGN, at, "it has a key that is neither a text nor a number")
        self.count(len(keys), at)
        filled.update(zip(keys, items[1::2], strict=True))
        if self.fold is None or not whole:
            return
        slot = self.slots.pop(id(filled), None)
        if len(filled) < _FOLDED_AT_MOST:
            stack[-1] = self.fold(filled)
            if slot is not None:
                self.memo[slot] = stack[-1]
