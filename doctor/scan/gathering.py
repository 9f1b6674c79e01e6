"""Harvests of ranges while they come: what of a file tells nothing is not held, for trees have hundreds of thousands of them."""

from __future__ import annotations

from doctor.read.source import Hints, hints
from doctor.scan.harvest import Harvest, Merging, Span
from doctor.scan.packed import Rows, only
from doctor.scan.ranges import Ranges, join


class Together:
    """Harvests of whole sources as one. Files of one process in one folder that tell nothing but times are told as the latest of them.

    When a process spoke, all of them know together. Which files end long before a run is asked of those in which something
    was found, and of what lies beside those that have no time: the latest end in a folder answers that as well as all.
    """

    def __init__(self) -> None:
        self._merging = Merging(packs=True)
        self._silent: dict[tuple[str, int | None, Hints], Span] = {}

    def add(self, one: Harvest) -> None:
        self._merging.add(self._folded(one))

    def result(self) -> Harvest:
        """The same whatever was added together: a shape of errors that two files have is told with the place in one of them."""
        harvest = self._folded(self._merging.result())
        spans: Rows[Span, Span] = Rows(tuple, iter, packs=True)
        spans.add(harvest.spans)
        spans.add(self._silent.values())
        return harvest._replace(spans=spans.result())

    def _folded(self, one: Harvest) -> Harvest:
        if not one.spans:
            return one
        telling = {h.place.path for rows in (one.hits, one.facts) for h in rows} | {c.first.path for c in one.clusters}
        for span in one.spans:
            if span.path not in telling:
                self._fold(span)
        return one._replace(spans=only(one.spans, lambda span: span.path in telling))

    def _fold(self, span: Span) -> None:
        key = (span.path.rpartition("/")[0], span.pid, hints(span.path))
        other = self._silent.get(key)
        self._silent[key] = span if other is None else _both(span, other)


def _both(a: Span, b: Span) -> Span:
    first = min((t for t in (a.first, b.first) if t), default=None)
    last, path = max((a.last or "", a.path), (b.last or "", b.path))
    return Span(path, first, last or None, a.pid)


class Gathered:
    """The harvest of everything read so far; ranges of one file wait for each other, for their lines are counted from its beginning."""

    def __init__(self, ranges: Ranges) -> None:
        self._ranges = ranges
        self._together = Together()
        self._waiting: dict[int, dict[int, Harvest]] = {}  # ranges of a file, by its first one

    def __setitem__(self, number: int, harvest: Harvest) -> None:
        beside = self._ranges.beside(number)
        if len(beside) == 1:
            self._together.add(harvest)
            return
        parts = self._waiting.setdefault(beside[0], {})
        parts[number] = harvest
        if len(parts) == len(beside):
            self._add(beside, self._waiting.pop(beside[0]))

    def result(self) -> Harvest:
        """Of a file that was not read to its end, what was read of it."""
        for first, parts in self._waiting.items():
            self._add(self._ranges.beside(first), parts)
        self._waiting.clear()
        return self._together.result()

    def _add(self, beside: range, parts: dict[int, Harvest]) -> None:
        done = {n - beside[0]: harvest for n, harvest in parts.items()}
        for harvest in join((self._ranges[n] for n in beside), done):
            self._together.add(harvest)
