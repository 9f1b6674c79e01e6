"""Where objects stand in a pack, as numbers that are much alike, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, chain, pairwise


def differences(numbers: Iterable[int]) -> str:
    """Each number less the one before it."""
    return " ".join(str(after - before) for before, after in pairwise((0, *numbers)))


def places_row(places: Sequence[tuple[int, int]]) -> list[str]:
    """Where objects stand: how far each begins behind the end of the one before it, mostly as far as a comma is long, and how long it is."""
    ends = [0, *map(sum, places)]
    return [" ".join(str(start - end) for (start, _), end in zip(places, ends, strict=False)), " ".join(str(length) for _, length in places)]


def places_of(stored: Sequence[str]) -> Sequence[tuple[int, int]]:
    """The inverse of `places_row`."""
    gaps, lengths = (list(map(int, numbers.split())) for numbers in stored)
    ends = accumulate(gap + length for gap, length in zip(gaps, lengths, strict=True))
    return tuple((end - length, length) for end, length in zip(ends, lengths, strict=True))


def named_row(places: Mapping[str, tuple[int, int]]) -> list[str]:
    """What `named` of the pack is made of: names, and where each object stands."""
    return ["\n".join(places), *places_row(tuple(places.values()))]


def entries_row(places: Mapping[str, Sequence[tuple[int, int]]]) -> list[str]:
    """What `files`, `entries` and `searched` of the pack are made of: the words of an entry stand behind it, the next one behind these."""
    return ["\n".join(places), *places_row(tuple(chain.from_iterable(places.values())))]


def named_places(stored: Sequence[str]) -> dict[str, tuple[int, int]]:
    """The inverse of `named_row`."""
    names, *places = stored
    return dict(zip(filter(None, names.split("\n")), places_of(places), strict=True))
