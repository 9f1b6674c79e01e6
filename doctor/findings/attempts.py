"""Attempts of a job within one log: what a launcher started again is another run, with faults of its own."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator

from doctor.scan.harvest import Hit, Place


class Attempts:
    """Where attempts end, by the lines of each log that tells of restarts; every other log holds one attempt."""

    def __init__(self, restarts: Iterable[Place]) -> None:
        self._ends: dict[str, list[int]] = {}
        for place in restarts:
            self._ends.setdefault(place.path, []).append(place.line)
        for lines in self._ends.values():
            lines.sort()

    def number(self, place: Place) -> int:
        return bisect_left(self._ends.get(place.path, ()), place.line)

    @property
    def last(self) -> int:
        return max(map(len, self._ends.values()), default=0)

    def first(self, hits: Iterable[Hit]) -> int:
        return min((self.number(h.place) for h in hits), default=0)

    def parts(self, hits: list[Hit]) -> Iterator[list[Hit]]:
        """The hits of each attempt, with those of logs that know of no restart."""
        told = sorted({(h.place.path, self.number(h.place)) for h in hits if h.place.path in self._ends})
        if len(told) < 2:
            yield hits
            return
        for path, number in told:
            yield [
                h
                for h in hits
                if h.place.path not in self._ends or (h.place.path, self.number(h.place)) == (path, number)
            ]

    def later(self, cause: Iterable[Hit], effect: Iterable[Hit]) -> bool:
        """Did the first begin in a later attempt of a log in which the second stood before?"""
        if not self._ends:
            return False
        first, second = self._begin(cause), self._begin(effect)
        return any(number > second[path] for path, number in first.items() if path in second)

    def _begin(self, hits: Iterable[Hit]) -> dict[str, int]:
        begin: dict[str, int] = {}
        for hit in hits:
            if hit.place.path in self._ends:
                number = self.number(hit.place)
                begin[hit.place.path] = min(begin.get(hit.place.path, number), number)
        return begin
