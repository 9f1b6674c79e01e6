"""What healthy runs have in common: how often each shape is said, by whom, and when first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from doctor.baseline.run import Run
from parsers.named import NamedTuple

Facts = Mapping[str, tuple[str, ...]]


class Norm(NamedTuple):
    """A shape in healthy runs."""

    runs: int  # in how many of them
    times: float  # on average, in those that have it
    by_voice: float  # at most, a voice that says it
    voices: float  # which part of the voices that might say it does, at least; 0 where a run does not have it
    since: float | None  # seconds after the beginning, at most


class Usual(NamedTuple):
    """Healthy runs, as one. `settings`: the values that a setting had; `facts`: the same of the situation (versions, chip)."""

    runs: int
    norms: Mapping[int, Norm]  # by the number of the shape
    settings: Facts
    facts: Facts
    lines: float
    voices: float
    further: int


def usual(runs: Sequence[Run], facts: Iterable[Facts]) -> Usual:
    """The norm of each shape over the runs."""
    numbers = dict.fromkeys(number for run in runs for number in run.sightings)
    norms = {number: _norm(number, runs) for number in numbers}
    return Usual(
        runs=len(runs),
        norms=norms,
        settings=_values([{name: (value,) for name, value in run.settings.items()} for run in runs]),
        facts=_values(list(facts)),
        lines=sum(run.lines for run in runs) / len(runs),
        voices=sum(len(run.voices) for run in runs) / len(runs),
        further=sum(run.further for run in runs),
    )


def _norm(number: int, runs: Sequence[Run]) -> Norm:
    found = [(run, seen) for run in runs if (seen := run.sightings.get(number)) is not None]
    since = [seen.since for _, seen in found if seen.since is not None]
    shares = [seen.voices.bit_count() / max(1, run.peers(seen.voices).bit_count()) for run, seen in found]
    return Norm(
        runs=len(found),
        times=sum(seen.times for _, seen in found) / len(found),
        by_voice=max(seen.most for _, seen in found),
        voices=min(shares) if len(found) == len(runs) else 0.0,
        since=max(since) if since else None,
    )


def _values(told: Sequence[Facts]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for one in told:
        for name, values in one.items():
            found.setdefault(name, {}).update(dict.fromkeys(values))
    return {name: tuple(values) for name, values in sorted(found.items())}
