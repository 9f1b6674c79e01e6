"""The whole way from a run and what is usual to the answer as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from doctor.answer.redact import Redactor, of_texts
from doctor.baseline import known as knowing
from doctor.baseline.compare import compare
from doctor.baseline.indicating import judge
from doctor.baseline.report import MAX_TOLD, report
from doctor.baseline.run import Run
from doctor.baseline.shapes import Shapes
from doctor.baseline.usual import Facts, Usual
from doctor.baseline.within import of_others
from doctor.findings.situation import VERSIONS, Situation
from doctor.read.source import Skipped
from kb.knowledge import Knowledge

Json = dict[str, Any]
NODES = "nodes"  # what takes the place of a file where the nodes are each other's baseline
COMPARED = ("chip", *VERSIONS, "python", "transformers", "deepspeed", "stack", "framework")


def facts(situation: Situation) -> Facts:
    """What of a situation should be the same in two runs of one job."""
    return {name: tuple(values) for name in COMPARED if (values := situation.facts.get(name))}


def compared(run: Run, usual: Usual, told: Facts, shapes: Shapes, known: Knowledge, skipped: Iterable[Skipped] = ()) -> Json:
    """The run against healthy ones."""
    found = compare(run, usual, told, shapes)
    verdict = judge(found)
    return report(found, verdict, knowing.codes(verdict.indicating[:MAX_TOLD], known), skipped)


def of_nodes(run: Run, shapes: Shapes, known: Knowledge, skipped: Iterable[Skipped] = ()) -> Json:
    """What only one node says."""
    usual, among = of_others(run)
    return {**compared(run, usual, {}, shapes, known, skipped), "among": among}


def redacted(made: Json, known: Knowledge, own: Sequence[str]) -> tuple[Json, Redactor]:
    """The answer with pseudonyms, nodes first: that they are machines is known."""
    told = chain.from_iterable(code["title"].values() for one in (*made["differences"], *made["others"]) for code in one["codes"])
    using = of_texts(known, frozenset(told), own=own)
    for node in made["run"]["nodes"]:
        using.machine(node)
    hidden: Json = using.report(made)
    return {**hidden, "redacted": using.told}, using
