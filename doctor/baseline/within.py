"""What only one node of a job says: the others are its baseline."""

from __future__ import annotations

from doctor.base import exits
from doctor.base.errors import UsageError
from doctor.baseline.run import Run
from doctor.baseline.usual import Norm, Usual


def of_others(run: Run) -> Usual:
    """What at least two nodes say is usual, however often; a UsageError where there is one node alone."""
    nodes = [node for node in run.nodes if node]
    if len(nodes) < 2:
        raise UsageError(
            "there are no two nodes to compare: the paths name none, and no folders that are alike but for a number lie side by side",
            "give the folder in which the nodes' folders stand, or a healthy run: npu-doctor diff GOOD BAD",
            code=exits.INCONCLUSIVE,
        )
    norms = {
        number: Norm(1, float(seen.times), float(seen.second), 0.0, None)
        for number, seen in run.sightings.items()
        if seen.nodes.bit_count() > 1 or run.homes(run.peers(seen.voices)).bit_count() < 2
    }
    return Usual(1, norms, {}, {}, float(run.lines), float(len(run.voices)), 0)
