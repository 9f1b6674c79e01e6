"""Logs of healthy jobs and of other programs: nothing in them is an error of the NPU stack."""

from __future__ import annotations

import pytest
from simulate.calm import KINDS, calm

from doctor.judge.diagnosis import conclude
from doctor.read import discover
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge

FILES_OF_A_KIND = 10


@pytest.fixture(scope="module")
def scanner(knowledge: Knowledge) -> Scanner:
    return Scanner(Plan(knowledge.sought()))


def test_there_are_enough() -> None:
    assert len(KINDS) * FILES_OF_A_KIND >= 300


@pytest.mark.parametrize("name", sorted(KINDS))
def test_nothing_is_an_error(name: str, scanner: Scanner, knowledge: Knowledge) -> None:
    """Frightening words and numbers that happen to be codes: no finding is of severity error."""
    loud: dict[str, str] = {}
    for seed in range(FILES_OF_A_KIND):
        path, text = calm(name, seed)
        found = conclude([scanner.scan(discover.given_text(text, path))], knowledge)
        for related in found.related:
            entry, place = related.finding.entry, related.finding.first
            if entry.severity in ("error", "fatal"):
                loud[entry.code] = text.splitlines()[place.line - 1]
    assert loud == {}
