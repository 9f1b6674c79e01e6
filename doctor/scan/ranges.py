"""The unit of work: a range of at most 64 MiB of one file. Quotas count per range, so workers make no difference."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol, overload

from doctor.read.source import Skipped, Source
from doctor.scan.harvest import Harvest, merge, shift
from doctor.scan.progress import Progress
from doctor.scan.scanner import Interrupted
from parsers.named import NamedTuple

RANGE = 64 << 20


class Reader(Protocol):
    """Whatever makes a harvest of a range of a source: the scanner, or who looks for dumps alone."""

    def scan(self, source: Source, start: int = 0, end: int | None = None, moved: Callable[[int], None] | None = None) -> Harvest: ...


class Kept(Protocol):
    """Where the harvests of ranges go, each under the range's number."""

    def __setitem__(self, number: int, harvest: Harvest, /) -> None: ...


class Range(NamedTuple):
    """A range of a source: [start, end) in bytes; end None: to the end."""

    source: Source
    start: int
    end: int | None

    @property
    def size(self) -> int:
        end = self.end if self.end is not None else self.source.size or 0
        return max(0, end - self.start)


def cut(source: Source) -> list[Range]:
    """A large regular file is cut into ranges; anything else is read in one go."""
    if source.size is None or source.size <= RANGE or not source.seekable:
        return [Range(source, 0, None)]
    starts = range(0, source.size, RANGE)
    return [Range(source, at, at + RANGE if at + RANGE < source.size else None) for at in starts]


class Ranges(Sequence[Range]):
    """The ranges of many sources in their order; each is made when it is asked for."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources
        self._source, self._start = array("L"), array("q")
        self.size = self.likely = 0  # bytes, and how many are likely where that is not known
        for number, source in enumerate(sources):
            self.likely += source.likely
            for part in cut(source):
                self._source.append(number)
                self._start.append(part.start)
                self.size += part.size

    def __len__(self) -> int:
        return len(self._source)

    @overload
    def __getitem__(self, number: int) -> Range: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[Range, ...]: ...
    def __getitem__(self, number: int | slice) -> Range | tuple[Range, ...]:
        if isinstance(number, slice):
            return tuple(self[n] for n in range(*number.indices(len(self))))
        start = self._start[number]
        after = number + 1
        end = self._start[after] if after < len(self) and self._start[after] else None
        return Range(self._sources[self._source[number]], start, end)

    def __iter__(self) -> Iterator[Range]:
        return map(self.__getitem__, range(len(self)))

    def beside(self, number: int) -> range:
        """The numbers of all ranges of the same source."""
        first = number - next(n for n in range(number + 1) if self._start[number - n] == 0)
        last = next((n for n in range(number + 1, len(self)) if self._start[n] == 0), len(self))
        return range(first, last)


def scan_here(ranges: Iterable[tuple[int, Range]], scanner: Reader, done: Kept, progress: Progress) -> None:
    for number, part in ranges:
        progress.begin(part.size, part.start == 0)
        try:
            harvest = scan_one(part, scanner, progress.moved)
        except Interrupted as stop:
            done[number] = stop.harvest
            raise
        done[number] = harvest
        progress.done(part.size or harvest.size)


def scan_one(part: Range, scanner: Reader, moved: Callable[[int], None] | None = None) -> Harvest:
    """One range; whatever goes wrong with it is its own affair, and told."""
    try:
        return scanner.scan(part.source, part.start, part.end, moved)
    except Exception as error:
        if os.environ.get("NPU_DOCTOR_DEBUG"):
            raise
        return Harvest(skipped=(Skipped(part.source.name, f"internal error: {type(error).__name__}: {error}"),))


def join(ranges: Iterable[Range], done: Mapping[int, Harvest]) -> list[Harvest]:
    """One harvest a source, line numbers counted from the beginning of each file."""
    by_source: dict[int, list[Harvest]] = {}
    keys: list[int] = []
    lines = 0
    for number, part in enumerate(ranges):
        if part.start == 0:
            lines = 0
            keys.append(number)
        if number in done:
            by_source.setdefault(keys[-1], []).append(shift(done[number], lines))
            lines += done[number].lines
    return [parts[0] if len(parts) == 1 else merge(parts) for parts in by_source.values()]
