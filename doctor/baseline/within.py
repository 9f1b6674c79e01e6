"""What only one node of a job says: the others are its baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from doctor.base import exits
from doctor.base.errors import UsageError
from doctor.baseline.run import Run
from doctor.baseline.usual import Norm, Usual

NODES, PROCESSES = "nodes", "processes"
MIN_VOICES = 3  # of two that say different things nobody knows which is usual


def of_others(run: Run) -> tuple[Usual, str]:
    """What at least two nodes say is usual, however often; of a single node what two processes say. With whom was compared."""
    if len(run.nodes) > 1:
        numbers = [n for n, seen in run.sightings.items() if seen.nodes.bit_count() > 1 or run.homes(run.peers(seen.voices)).bit_count() < 2]
        return _usual(run, numbers), NODES
    if max(Counter(voice.kind for voice in run.voices).values(), default=0) < MIN_VOICES:
        raise UsageError(
            "there are no two nodes to compare: the paths name none, and no folders that are alike but for a number lie side by side",
            "give the folder in which the nodes' folders stand, or a healthy run: npu-doctor diff GOOD BAD",
            code=exits.INCONCLUSIVE,
        )
    numbers = [n for n, seen in run.sightings.items() if seen.voices.bit_count() > 1 or run.peers(seen.voices).bit_count() < MIN_VOICES]
    return _usual(run, numbers), PROCESSES


def _usual(run: Run, numbers: Iterable[int]) -> Usual:
    norms = {number: Norm(1, float(seen.times), float(seen.second), 0.0, None) for number in numbers for seen in (run.sightings[number],)}
    return Usual(1, norms, {}, {}, float(run.lines), float(len(run.voices)), 0)
