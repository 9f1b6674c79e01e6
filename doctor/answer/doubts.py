"""What speaks against a root being the answer: said beside it, so that nobody takes a likely cause for a proven one."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.answer import grounds, said
from doctor.answer.named_first import named_first
from doctor.base import notation
from doctor.base.notation import clean
from doctor.base.words import both
from doctor.judge.diagnosis import Diagnosis
from doctor.judge.relate import Related

Told = dict[str, str]
QUOTED = 120  # letters of a line


def doubts(related: Related, diagnosis: Diagnosis) -> list[Told]:
    """The reasons against a root, the strongest first; empty when nothing that was read is one."""
    return list(_doubts(related, diagnosis)) if related.role == "root" and related.finding.entry.role != "noise" else []


def _short(text: str) -> str:
    """A line of a log as a part of a sentence."""
    told = " ".join(clean(text).split())
    return told if len(told) <= QUOTED else f"{told[:QUOTED].rstrip()} ..."


def _doubts(related: Related, diagnosis: Diagnosis) -> Iterator[Told]:
    entry, first = related.finding.entry, related.finding.first
    if entry.role == "symptom":
        told = entry.kind == "wrapper" and said.said(related, diagnosis)  # the error is passed on here, and stands beneath in CANN's own words
        yield both("against-unknown" if told else "against-named" if named_first(related, diagnosis) else "against-victim")
    elif entry.role == "wrapper":
        yield both("against-wrapper")
    if (line := related.against) is not None and line.path == first.path:
        yield both("against-line", line=line.line, text=_short(line.text))
    elif (earlier := grounds.against(related)) is not None:
        yield earlier.json()
    job = diagnosis.job
    if job is not None and len(job.processes) > 1:
        for root in job.roots:
            if entry.code in root.codes and root.unordered is not None:
                yield both("against-clocks", who=root.unordered)
        if job.missing and entry.role in ("symptom", "ambiguous"):
            yield both("against-missing", ranks=notation.spans(job.missing))
    if entry.confidence == "low" and entry.role in ("cause", "ambiguous"):
        yield both("against-several")
    elif entry.role == "ambiguous" and entry.confidence != "high":
        yield both("against-ambiguous")
    if entry.status == "draft":
        yield both("against-draft")
