"""What speaks against a root: a line that nobody explains and that stands nearer to the origin of the failure.

An entry knows how much its evidence proves by itself. It does not know what else the log holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from doctor.judge.decisive import stands_before
from doctor.judge.relate import Related
from doctor.scan.harvest import Cluster


def with_doubts(related: Iterable[Related], unexplained: Sequence[Cluster]) -> tuple[Related, ...]:
    """The findings, each root with the first line that speaks against it."""
    lines = [c.first for c in unexplained]
    return tuple(
        r._replace(against=next((line for line in lines if stands_before(line, r.finding.first)), None)) if r.role == "root" else r
        for r in related
    )
