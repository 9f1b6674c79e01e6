"""Numbers of a lane as they come, in arrays: folded by two whenever they grow beyond a bound, so that a run may be as long as it likes."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from parsers.named import NamedTuple

MAX_POINTS = 1 << 16  # of one track: beyond it neighbours become one
NOTHING = float("nan")
LARGEST = 1e30  # of a measure


class Lane(NamedTuple):
    """Who wrote the lines: a rank, or a file that says no rank."""

    node: str
    rank: int  # -1: not told
    label: str  # of what has no rank: an engine, a worker, a file

    @property
    def name(self) -> str:
        return f"rank {self.rank}" if self.rank >= 0 else self.label


def sound(values: Iterable[float]) -> list[float]:
    """The same without what no measure can be: a number of hundreds of digits is none."""
    found = list(values)
    if abs(sum(found)) < LARGEST and min(found, default=0.0) > -LARGEST:  # with a NaN among them neither holds
        return found
    return [value if -LARGEST < value < LARGEST else NOTHING for value in found]


class Track:
    """What one form tells of one lane: steps, times of day (seconds, NaN where none is told), a column for each measure."""

    __slots__ = ("columns", "count", "every", "folded", "limit", "steps", "times")

    def __init__(self, limit: int = MAX_POINTS) -> None:
        self.limit = limit
        self.steps = array("q")
        self.times = array("d")
        self.columns: dict[str, array[float]] = {}
        self.count = 0  # of lines
        self.every = 1  # lines that a folded point stands for
        self.folded = 0  # points that are folded: what stands behind them is as it came

    def add(self, steps: Iterable[int], times: Iterable[float], columns: dict[str, Iterable[float]]) -> None:
        """Further points; a measure that was not told before is filled up."""
        before = len(self.steps)
        self.steps.extend(steps)
        self.times.extend(times)
        self.count += len(self.steps) - before
        for name in columns:
            if name not in self.columns:
                self.columns[name] = array("f", [NOTHING]) * before
        for name, column in self.columns.items():
            if name in columns:
                column.extend(sound(columns[name]))
            else:
                column.extend([NOTHING] * (len(self.steps) - before))
        self.fit()

    def fit(self) -> None:
        """As coarse as its limit asks for."""
        while len(self.steps) > self.limit:
            self._fold()

    def put(self, column: str, value: float) -> None:
        """A further measure of the last point: of several ones the sum."""
        if column not in self.columns:
            self.columns[column] = array("f", [NOTHING]) * len(self.steps)
        known = self.columns[column][-1]
        [self.columns[column][-1]] = sound([value if known != known else known + value])

    def _fold(self) -> None:
        """What came since the last time as coarse as what stands before it; all of it twice as coarse where that is not enough."""
        behind = len(self.steps) - self.folded
        whole = [(at, at + 1) for at in range(self.folded)]
        self._cut(whole + [(self.folded + at, self.folded + at + self.every) for at in range(0, behind - self.every + 1, self.every)])
        if self.folded > self.limit * 3 // 4:
            self._cut([(at, at + 2) for at in range(0, self.folded - 1, 2)])
            self.every *= 2

    def _cut(self, cuts: list[tuple[int, int]]) -> None:
        """One point for each of these stretches; what stands behind the last one stays."""
        rest = cuts[-1][1]
        self.steps = array("q", [self.steps[a] for a, _ in cuts]) + self.steps[rest:]
        self.times = array("d", [self.times[a] for a, _ in cuts]) + self.times[rest:]
        for name, column in self.columns.items():
            self.columns[name] = array("f", [column[a] if b - a == 1 else _mean(column[a:b]) for a, b in cuts]) + column[rest:]
        self.folded = len(cuts)


def _mean(part: array[float]) -> float:
    known = [value for value in part if value == value]
    return sum(known) / len(known) if known else NOTHING
