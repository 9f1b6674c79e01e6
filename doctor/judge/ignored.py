"""A diagnosis without what its reader knows already and does not want to hear of: told as left out, never counted as absent in silence."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from doctor.base import notation
from doctor.read.source import Skipped

if TYPE_CHECKING:
    from doctor.judge.diagnosis import Diagnosis


def without(diagnosis: Diagnosis, codes: Collection[str]) -> Diagnosis:
    """The findings of these entries and what only follows from them are gone; the verdict is that of what is left."""
    gone = {r.finding.entry.code for r in diagnosis.related} & set(codes)
    if not gone:
        return diagnosis
    above = {r.finding.entry.code: r.explained_by for r in diagnosis.related}
    while more := {code for code, by in above.items() if by in gone} - gone:
        gone |= more
    told = tuple(
        Skipped(r.finding.entry.code, f"ignored as asked: {notation.times(r.finding.total)}")
        for r in diagnosis.related if r.finding.entry.code in codes
    )  # fmt: skip
    left = tuple(
        r._replace(explains=tuple(code for code in r.explains if code not in gone))
        for r in diagnosis.related if r.finding.entry.code not in gone
    )  # fmt: skip
    made = diagnosis._replace(related=left, skipped=(*diagnosis.skipped, *told))
    if diagnosis.job is not None:
        made = made._replace(job=diagnosis.job._replace(roots=tuple(root for root in diagnosis.job.roots if not root.codes or not gone.issuperset(root.codes))))
    if made.roots:
        return made
    return made._replace(verdict="inconclusive" if made.unexplained or made.decisive is not None else "clean")
