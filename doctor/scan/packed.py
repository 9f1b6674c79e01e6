"""Rows of a harvest in little room: a tree of hundreds of thousands of files tells very many of them, and each is asked for in turn.

Few rows are a plain tuple. Where they are many, they are sorted in runs, and runs are kept as compressed blocks, of which one is open
at a time: a fact about a job takes fifty bytes so, and thirteen hundred as an object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Generic, TypeVar, overload

Row = TypeVar("Row")
Kept = TypeVar("Kept")
HELD = 1 << 13  # rows that are held as they are: packing those of an ordinary job would cost more than reading on
RUN = 1 << 12  # once there are more, rows of a run; as many again are open while hundreds of thousands are merged
_BLOCK = 128


class Packed(Sequence[Row]):
    """Rows in blocks. They are read from the first to the last; one by itself costs its whole block."""

    def __init__(self, rows: Iterable[Row]) -> None:
        import pickle
        from zlib import compress  # most inputs tell little

        self._blocks: list[bytes] = []
        self._open: tuple[int, list[Row]] = (-1, [])  # the last one that was read a part of: the next part is often of the same
        self._count = 0
        left = iter(rows)
        while block := list(islice(left, _BLOCK)):
            self._blocks.append(compress(pickle.dumps(block, protocol=5), 1))
            self._count += len(block)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Row]:
        return chain.from_iterable(map(_opened, self._blocks))

    @overload
    def __getitem__(self, number: int) -> Row: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Row]: ...
    def __getitem__(self, number: int | slice) -> Row | Sequence[Row]:
        if isinstance(number, slice):
            start, stop, step = number.indices(self._count)
            return tuple(self.part(start, stop))[::step] if step > 0 else tuple(self)[number]
        if number < 0:
            number += self._count
        if not 0 <= number < self._count:
            raise IndexError(number)
        return next(iter(self.part(number, number + 1)))

    def part(self, start: int, stop: int) -> Iterator[Row]:
        """The rows of [start, stop), one after the other."""
        first = start // _BLOCK
        rows = chain.from_iterable(map(self._block, range(first, -(-stop // _BLOCK))))
        return islice(rows, start - first * _BLOCK, stop - first * _BLOCK)

    def _block(self, number: int) -> list[Row]:
        if self._open[0] != number:
            self._open = (number, _opened(self._blocks[number]))
        return self._open[1]


class Rows(Generic[Row, Kept]):
    """Rows that come in any order: sorted by a key, and what is alike settled. Where some are packed, or many are and that is asked for, all are packed."""

    def __init__(self, key: Callable[[Row], Any], settle: Callable[[Iterable[Row]], Iterable[Kept]], packs: bool) -> None:
        self._key, self._settle, self._packs = key, settle, packs
        self._rows: list[Row] = []
        self._runs: list[Packed[Row]] = []

    def add(self, rows: Iterable[Row]) -> None:
        if isinstance(rows, Packed):  # from a harvest that was merged before: it is sorted
            self._pack()
            self._runs.append(rows)
            return
        self._rows += rows
        if self._packs and len(self._rows) >= (RUN if self._runs else HELD):
            self._pack()

    def result(self) -> Sequence[Kept]:
        """All of them, settled; rows of equal keys in the order in which they came."""
        if not self._runs:
            return tuple(self._settle(sorted(self._rows, key=self._key)))
        from heapq import merge

        self._pack()
        return Packed(self._settle(merge(*self._runs, key=self._key)))

    def _pack(self) -> None:
        if self._rows:
            self._runs.append(Packed(sorted(self._rows, key=self._key)))
            self._rows = []


def only(rows: Sequence[Row], wanted: Callable[[Row], bool]) -> Sequence[Row]:
    """Those that are wanted, held as the others were."""
    kept = filter(wanted, rows)
    return Packed(kept) if isinstance(rows, Packed) else tuple(kept)


def part(rows: Sequence[Row], start: int, stop: int) -> Iterable[Row]:
    """The rows of [start, stop)."""
    return rows.part(start, stop) if isinstance(rows, Packed) else rows[start:stop]


def _opened(block: bytes) -> list[Any]:
    import pickle
    from zlib import decompress

    rows: list[Any] = pickle.loads(decompress(block))  # noqa: S301 - written by this program, never outside of it
    return rows
