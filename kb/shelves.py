"""Shelves of a pack: pieces one behind the other, told by their number. Of a few of them it is kept where they begin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise

NEXT = b"\x03"
"""Stands between two pieces: JSON has no such character, and no letter is written so."""
STEP = 16  # of so many pieces it is told where they begin


def differences(numbers: Iterable[int]) -> str:
    """Each number less the one before it: they are much alike then."""
    return " ".join(str(after - before) for before, after in pairwise((0, *numbers)))


def sums(told: str) -> tuple[int, ...]:
    """The inverse of `differences`."""
    return tuple(accumulate(map(int, told.split())))


def begins(pieces: Sequence[bytes]) -> Iterator[int]:
    """Where the pieces stand that a shelf is entered by, if all stand on one."""
    at = 0
    for number, piece in enumerate(pieces):
        if number % STEP == 0:
            yield at
        at += len(piece) + len(NEXT)


class Shelf:
    """Pieces that are read where they stand."""

    def __init__(self, cut: Callable[[int, int], bytes], length: int, starts: Sequence[int]) -> None:
        """`cut`: what stands between two places; `length`: of all; `starts`: what `begins` told."""
        self._cut, self._length, self._starts = cut, length, starts

    def pieces(self, first: int, count: int = 1) -> list[bytes]:
        """So many pieces from one on."""
        return self._from(first // STEP, first + count)[first % STEP :][:count]

    def before(self, number: int) -> list[bytes]:
        """The pieces between the last place that is told and one of them."""
        return self._from(number // STEP, number)[: number % STEP]

    def all(self) -> list[bytes]:
        return self._cut(0, self._length).split(NEXT)

    def _from(self, step: int, end: int) -> list[bytes]:
        last = -(-end // STEP)
        return self._cut(self._starts[step], self._starts[last] if last < len(self._starts) else self._length).split(NEXT)
