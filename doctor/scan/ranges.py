"""The unit of work: a range of at most 64 MiB of one file. Quotas count per range, so workers make no difference."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from doctor.read.source import Skipped, Source
from doctor.scan.harvest import Harvest, merge, shift
from doctor.scan.progress import Progress
from doctor.scan.scanner import Interrupted

RANGE = 64 << 20


class Reader(Protocol):
    """Whatever makes a harvest of a range of a source: the scanner, or who looks for dumps alone."""

    def scan(self, source: Source, start: int = 0, end: int | None = None, moved: Callable[[int], None] | None = None) -> Harvest: ...


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


def scan_here(ranges: Mapping[int, Range], scanner: Reader, done: dict[int, Harvest], progress: Progress) -> None:
    for number, part in ranges.items():
        progress.begin(part.size, part.start == 0)
        try:
            done[number] = scan_one(part, scanner, progress.moved)
        except Interrupted as stop:
            done[number] = stop.harvest
            raise
        progress.done(part.size or done[number].size)


def scan_one(part: Range, scanner: Reader, moved: Callable[[int], None] | None = None) -> Harvest:
    """One range; whatever goes wrong with it is its own affair, and told."""
    try:
        return scanner.scan(part.source, part.start, part.end, moved)
    except Exception as error:
        if os.environ.get("NPU_DOCTOR_DEBUG"):
            raise
        return Harvest(skipped=(Skipped(part.source.name, f"internal error: {type(error).__name__}: {error}"),))


def join(ranges: Sequence[Range], done: dict[int, Harvest]) -> list[Harvest]:
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
