"""From tracks to a Run: for each lane the best account of its steps, and all lanes on the same steps."""

from __future__ import annotations

import itertools
from array import array
from collections import defaultdict
from collections.abc import Sequence

from doctor.pace.reading import Event, Key, Read
from doctor.pace.robust import median
from doctor.pace.tracks import NOTHING, Lane, Track
from doctor.read.source import Skipped
from parsers.named import NamedTuple

Values = Sequence[float]
OWN = ("data", "compute", "optimizer", "generation", "reward")  # what a rank does itself; the others are waiting
PARTS = (*OWN, "comm", "mixed")
FEW = 8  # points that make a series
RATES = ("samples_per_s", "tokens_per_s")
AT_ONCE = 16  # steps over which stamps are exact enough
ROUGH = ("elapsed", "bar", "stamps")  # accounts that are exact to a second


class Service(NamedTuple):
    """What an engine tells every few seconds."""

    times: Values
    generated: Values  # tokens a second
    running: Values  # requests
    waiting: Values


class Run(NamedTuple):
    """A run on its steps. A measure is there for each lane that tells it; what is missing is NaN. Times in seconds."""

    steps: Sequence[int]
    lanes: tuple[Lane, ...]
    total: dict[Lane, Values]
    parts: dict[str, dict[Lane, Values]]
    spreads: dict[str, Values]  # over the ranks, where the log tells the least and the most
    times: dict[Lane, Values]
    account: str  # how the time of a step is told: total, samples_per_s, tokens_per_s, elapsed, bar, stamps, parts
    scaled: bool  # in seconds; else only rates are told, and a point is the time of one sample or token
    services: dict[Lane, Service]
    every: int  # steps that a point stands for
    restarts: int
    events: tuple[Event, ...]
    settings: dict[str, tuple[str, ...]]
    results: dict[str, tuple[float, ...]]
    skipped: tuple[Skipped, ...]
    files: int
    bytes: int
    left_out: int


class _Row(NamedTuple):
    steps: Sequence[int]
    times: Values
    columns: dict[str, Values]
    every: int
    restarts: int


def assemble(read: Read) -> Run:
    rows = {key: _row(track) for key, track in read.tracks.items()}
    step_lanes: dict[Lane, list[tuple[str, _Row]]] = defaultdict(list)
    for key, row in rows.items():
        if read.abouts.get(key.form) == "step":
            step_lanes[key.lane].append((key.of, row))
    best = {lane: made for lane, found in step_lanes.items() if (made := _account(found)) is not None}
    account, chosen = _same_account(best)
    parts_of = {key: row for key, row in rows.items() if read.abouts.get(key.form) in ("parts", "members", "step")}
    found = [row.steps for row in chosen.values()] or [row.steps for row in parts_of.values() if set(row.columns) & set(PARTS)]
    steps = max(found, key=len, default=array("q"))
    scale = _scale(chosen) if account in RATES else 1.0
    total = {lane: _on(steps, row.steps, _times(row.columns["total"], scale or 1.0)) for lane, row in chosen.items()}
    parts: dict[str, dict[Lane, Values]] = defaultdict(dict)
    spreads: dict[str, Values] = {}
    for key, row in parts_of.items():
        for name, column in row.columns.items():
            if name in PARTS and key.lane not in parts[name]:
                parts[name][key.lane] = _on(steps, row.steps, column)
            elif name.startswith("spread:"):
                spreads[name.removeprefix("spread:")] = _on(steps, row.steps, column)
    lanes = sorted({*total, *(lane for found in parts.values() for lane in found)})
    if steps and not total and parts:
        account = "parts"
    return Run(
        steps, tuple(lanes), total, {n: v for n, v in parts.items() if v}, spreads,
        {lane: _on(steps, row.steps, row.times) for lane, row in chosen.items()}, account, bool(scale), _services(rows, read),
        max((row.every for row in chosen.values()), default=1), max((row.restarts for row in chosen.values()), default=0),
        tuple(read.events.values()), {k: tuple(v) for k, v in read.settings.items()}, {k: tuple(v) for k, v in read.results.items()},
        tuple(read.skipped), read.files, read.bytes, read.left_out,
    )  # fmt: skip


def _row(track: Track) -> _Row:
    """The track on rising steps: an epoch that counts from the beginning goes on, what a restart repeats counts once."""
    steps, kept, restarts, offset, plain = list(track.steps), list(range(len(track.steps))), 0, 0, True
    if any(b <= a for a, b in itertools.pairwise(steps)):
        plain, kept = False, []
        rising: list[int] = []
        for at, step in enumerate(steps):
            if rising and step + offset <= rising[-1]:
                if step <= steps[0]:
                    offset = rising[-1] - min(step, 1) + 1 if step else rising[-1] + 1
                else:
                    restarts += step + offset < rising[-1]
                    while rising and rising[-1] >= step + offset:
                        rising.pop()
                        kept.pop()
            rising.append(step + offset)
            kept.append(at)
        steps = rising
    columns: dict[str, Values] = dict(track.columns) if plain else {n: array("f", [c[at] for at in kept]) for n, c in track.columns.items()}
    times: Values = track.times if plain else array("d", [track.times[at] for at in kept])
    return _Row(track.steps if plain else array("q", steps), times, columns, track.every, restarts)


def _account(found: list[tuple[str, _Row]]) -> tuple[str, _Row] | None:
    """The best account of the time of a step that a lane gives: told, by a rate, by the clock of the log."""
    offers: list[tuple[int, int, str, _Row]] = []
    for of, row in found:
        if len(row.steps) < 2:
            continue
        if "total" in row.columns and not of:
            offers.append((4, len(row.steps), "total", row))
        for rate in RATES:
            if rate in row.columns and not of:
                offers.append((3, len(row.steps), rate, _with(row, [1 / v if v > 0 else NOTHING for v in row.columns[rate]])))
        if of:
            bar = row.columns.get("total") or [1 / v if v > 0 else NOTHING for v in row.columns.get("steps_per_s", ())]
            offers.append((1, len(row.steps), "bar", _with(row, bar)))
        elif "elapsed" in row.columns:
            offers.append((2, len(row.steps), "elapsed", _with(row, _differences(row.steps, row.columns["elapsed"]))))
        if not of and row.times[0] == row.times[0]:
            offers.append((0, len(row.steps), "stamps", _with(row, _differences(row.steps, row.times))))
    if not offers:
        return None
    most = max(offer[1] for offer in offers)
    *_, account, row = max((o for o in offers if o[1] >= min(most, FEW)), key=lambda o: o[:2])
    return account, row


def _with(row: _Row, total: Values) -> _Row:
    return row._replace(columns={**row.columns, "total": total})


def _differences(steps: Sequence[int], clock: Values) -> list[float]:
    """What each step took by a running clock; of the first one nothing is known."""
    return [NOTHING, *((b - a) / (t - s) if t > s and b >= a else NOTHING for s, t, a, b in zip(steps, steps[1:], clock, clock[1:], strict=False))]


def _same_account(best: dict[Lane, tuple[str, _Row]]) -> tuple[str, dict[Lane, _Row]]:
    """Lanes are only compared by the same account: the one that tells most."""
    if not best:
        return "", {}
    points: dict[str, int] = defaultdict(int)
    for account, row in best.values():
        points[account] += len(row.steps)
    first = max(points, key=lambda a: (points[a], a))
    return first, {lane: row for lane, (account, row) in best.items() if account == first}


def _scale(chosen: dict[Lane, _Row]) -> float:
    """Samples of a step, as the clock of the log tells them: how long steps take against how long a sample takes; 0: the clock tells nothing."""
    found = []
    for row in list(chosen.values())[:8]:
        for at in range(0, len(row.steps) - AT_ONCE, AT_ONCE):
            single = sum(row.columns["total"][at + 1 : at + AT_ONCE + 1]) / AT_ONCE
            took = (row.times[at + AT_ONCE] - row.times[at]) / (row.steps[at + AT_ONCE] - row.steps[at])
            if took == took and single > 0 and took > 0:
                found.append(took / single)
    return median(found) if found else 0.0


def _times(values: Values, scale: float) -> Values:
    return values if scale == 1.0 else array("d", [value * scale for value in values])


def _on(steps: Sequence[int], own: Sequence[int], values: Values) -> Values:
    """The values on the steps of the run."""
    if own is steps or own == steps:
        return values
    told = dict(zip(own, values, strict=True))
    return array("d", [told.get(step, NOTHING) for step in steps])


def _services(rows: dict[Key, _Row], read: Read) -> dict[Lane, Service]:
    """What services tell, interval by interval."""
    found = {key.lane: row for key, row in rows.items() if read.abouts.get(key.form) == "rate" and "generated_tokens_per_s" in row.columns}
    return {lane: Service(row.times, row.columns["generated_tokens_per_s"], row.columns.get("running", ()), row.columns.get("waiting", ())) for lane, row in found.items()}
