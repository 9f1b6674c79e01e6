"""A wording of the pace of a run: what stands in the pack of it, and what the names of its groups mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from parsers.named import NamedTuple

MEASURES = ("total", "elapsed", "data", "compute", "comm", "optimizer", "mixed", "checkpoint", "evaluation", "gc", "generation", "reward", "ttft", "tpot")
UNITS = {"ms": 0.001, "s": 1.0, "clock": 1.0}  # of times, in seconds; a clock is 1:02:03 or 2h 3m 4s
RATES = ("steps_per_s", "samples_per_s", "tokens_per_s", "prompt_tokens_per_s", "generated_tokens_per_s", "running", "waiting", "tflops")


class PaceForm(NamedTuple):
    """One wording. `part` finds name and value inside the group `parts`; `names` says which measure a name counts to."""

    id: str
    about: str
    kind: str
    near: str
    pattern: str
    part: str
    unit: str
    names: tuple[tuple[str, str], ...]


def form_from_json(row: Sequence[Any]) -> PaceForm:
    code, about, kind, near, pattern, part, unit, names = row
    return PaceForm(code, about, kind, near, pattern, part, unit, tuple((name, measure) for name, measure in names))


def measure_of(group: str) -> tuple[str, str] | None:
    """A group's name as a measure and its unit: `data_ms` is data in ms; a rate is its own unit."""
    if group in RATES:
        return group, ""
    measure, _, unit = group.rpartition("_")
    return (measure, unit) if measure in MEASURES and unit in UNITS else None
