"""The picture of a run: for each lane a row of a few columns, each the usual value of some steps."""

from __future__ import annotations

from collections.abc import Sequence

from doctor.pace.robust import densest, known, usual
from doctor.pace.runs import Values
from doctor.pace.tracks import Lane
from doctor.pace.verdict import Pace, slow_lanes
from parsers.named import NamedTuple

BLOCKS, ASCII = "▁▂▃▄▅▆▇█", "_.-:=+*#"
OF_COLUMN = 16  # values that are looked at
FLAT = 0.5  # of the lowest value: what differs by less does not fill the height
DARK = 0.5  # above what is usual, as a share of a step: the darkest shade


class Strip(NamedTuple):
    """One lane: its values column by column, what is usual in it, whether it is slow."""

    lane: Lane
    values: tuple[float, ...]
    usual: float
    slow: bool


class Picture(NamedTuple):
    """All lanes by one measure, the slow ones first."""

    measure: str
    strips: tuple[Strip, ...]
    steps: tuple[int, ...]  # at which each column begins
    low: float
    high: float


def picture(pace: Pace, columns: int) -> Picture:
    """The measure by which ranks are slow, else the whole step."""
    measure, rows = _rows(pace)
    slow, size = slow_lanes(pace), max((len(row) for row in rows.values()), default=0)
    many = max(1, min(columns, size))
    cuts = [(size * at // many, size * (at + 1) // many) for at in range(many)]
    strips = [Strip(lane, tuple(usual(row, a, b, OF_COLUMN) for a, b in cuts), usual(row, 0, len(row)), lane in slow) for lane, row in rows.items()]
    strips.sort(key=lambda s: (not s.slow, s.lane.node, s.lane.rank, s.lane.label))
    behind = -(-pace.course.begin * many // size) if size and pace.course.warm_up else 0
    told = known([value for strip in strips for value in strip.values[behind:]])
    low = min(told, default=0.0)
    steps = tuple(pace.run.steps[a] if a < len(pace.run.steps) else a for a, _ in cuts)
    return Picture(measure, tuple(strips), steps, low, max(*told, low * (1 + FLAT)) if told else 1.0)


def _rows(pace: Pace) -> tuple[str, dict[Lane, Values]]:
    run = pace.run
    parts = ["compute", "data", "generation", "comm", "optimizer", "mixed"]
    whole = ["total"] if len(run.total) >= max(map(len, run.parts.values()), default=0) else []
    names = [*(one.measure for one in pace.slow), *whole, *parts, "total"]
    for name in names:
        rows = run.total if name == "total" else run.parts.get(name, {})
        if rows:
            return name, {lane: rows[lane] for lane in run.lanes if lane in rows}
    if run.services:
        return "generated", {lane: told.generated for lane, told in run.services.items()}
    return "total", {}


def spark(values: Sequence[float], low: float, high: float, plain: bool = False) -> str:
    """A row of bars; a blank where nothing is known."""
    signs = ASCII if plain else BLOCKS
    span = high - low or 1.0
    return "".join(" " if v != v else signs[min(7, max(0, int((v - low) / span * 7.999)))] for v in values)


def shades(made: Picture, step: float) -> tuple[tuple[float, ...], ...]:
    """How much each place exceeds what is usual in its column: 0 to 1, by the share of a step that it costs."""
    columns = [densest(found)[0] if (found := known(column)) else float("nan") for column in zip(*(s.values for s in made.strips), strict=True)]
    dark = DARK * step if step > 0 else 1.0
    sign = -1.0 if made.measure in ("comm", "generated") else 1.0
    if made.measure == "generated":
        dark = DARK * (max(known(columns), default=0.0) or 1.0)  # where nobody generated anything, nobody lags
    return tuple(tuple(min(1.0, max(0.0, sign * (v - others) / dark)) if v == v else -1.0 for v, others in zip(s.values, columns, strict=True)) for s in made.strips)
