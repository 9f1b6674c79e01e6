"""The knowledge tests itself: every entry's samples are diagnosed by the engine that ships."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests_support import built_in_entries, families

from doctor.judge.diagnosis import conclude
from doctor.judge.proof import Bench
from doctor.read import discover
from doctor.scan.scanner import Scanner
from kb import lint, trial
from kb.build import kinds
from kb.knowledge import Knowledge

ENTRIES, FAULTS = built_in_entries()
FAMILIES = families(ENTRIES)
HEALTHY = sorted((Path(__file__).parent.parent / "data" / "healthy").rglob("*.*"))


def test_every_file_is_read() -> None:
    """No built-in entry has a fault."""
    assert [str(f) for f in FAULTS] == []


@pytest.fixture(scope="module")
def context(knowledge: Knowledge) -> lint.Context:
    return lint.Context(knowledge)


@pytest.mark.parametrize("family", FAMILIES)
def test_entries(family: str, knowledge: Knowledge, context: lint.Context, bench: Bench) -> None:
    """Languages, advice, variables, patterns; every leaf hit, every branch needed, itself the first root and alone, captures right."""
    ready = [trial.ready(entry, knowledge) for entry in FAMILIES[family]]
    found = {entry.code: lint.check(entry, context) + bench.problems(entry) for entry in ready}
    assert {code: problems for code, problems in found.items() if problems} == {}


@pytest.mark.parametrize("path", HEALTHY, ids=lambda p: p.name)
def test_healthy(path: Path, knowledge: Knowledge, scanner: Scanner) -> None:
    """Nothing but noise fires on the logs of healthy machines, and the verdict is clean."""
    diagnosis = conclude([scanner.scan(s) for s in discover.discover([str(path)]).sources], knowledge)
    loud = [
        r.finding.entry.code for r in diagnosis.related if r.finding.entry.severity in ("fatal", "error", "warning")
    ]
    assert (loud, diagnosis.verdict) == ([], "clean"), [c.template for c in diagnosis.unexplained]


def test_kinds_are_used_or_known() -> None:
    """Every kind that an entry or an edge names is in the closed list; no two kinds share a title."""
    words = set(kinds())
    named = {e.kind for e in ENTRIES} | {g.kind for e in ENTRIES for g in (*e.symptom_of, *e.caused_by) if g.kind}
    assert named <= words


def test_relations_have_no_cycle() -> None:
    """Edges to entries never lead back: an explanation has an end."""
    edges = {e.code: {g.entry for g in e.symptom_of if g.entry} for e in ENTRIES}
    for entry in ENTRIES:
        for general in entry.refines:
            edges.setdefault(general, set()).add(entry.code)

    done: set[str] = set()

    def walk(code: str, trail: tuple[str, ...]) -> None:
        assert code not in trail, " -> ".join((*trail, code))
        if code not in done:
            for target in edges.get(code, ()):
                walk(target, (*trail, code))
            done.add(code)

    for code in edges:
        walk(code, ())
