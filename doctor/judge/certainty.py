"""What speaks against a root: a line that nobody explains and that stands nearer to the origin of the failure.

An entry knows how much its evidence proves by itself. It does not know what else the log holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from doctor.judge.decisive import said_before, says_nothing, stands_before
from doctor.judge.nature import guesses
from doctor.judge.relate import Related
from doctor.scan.harvest import Cluster, Place


def with_doubts(related: Iterable[Related], unexplained: Sequence[Cluster]) -> tuple[Related, ...]:
    """The findings, each root with the first line that speaks against it."""
    lines = [c.first for c in unexplained if not says_nothing(c.first)]
    return tuple(r._replace(against=_first(lines, r)) if r.role == "root" else r for r in related)


def _first(lines: Sequence[Place], root: Related) -> Place | None:
    """The line nearest to the origin; where a root only repeats what was said last, what its program said first."""
    known = root.finding.first
    lines = [line for line in lines if not _below_a_reason(line, root)]
    lower = next((line for line in lines if stands_before(line, known)), None)
    if lower is not None or not guesses(root.finding.entry):
        return lower
    return next((line for line in lines if said_before(line, known)), None)


def _below_a_reason(line: Place, root: Related) -> bool:
    """Does it stand beneath a line from which the entry takes the reason? Then it only follows, as what the entry rests on does."""
    return any(h.captures and h.place.path == line.path and h.place.line < line.line and h.place.line < root.finding.first.line for h in root.finding.hits)
