"""The errors of the source documents in many wordings: alone and inside a healthy run, what answers them comes first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from doctor.judge.diagnosis import conclude
from doctor.read import discover
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge
from tests.test_sources import noise

TRIALS: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "data" / "documents.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def scanner(knowledge: Knowledge) -> Scanner:
    return Scanner(Plan(knowledge.sought()))


def first(text: str, knowledge: Knowledge, scanner: Scanner) -> str:
    """The entry that is told first; empty when there is none."""
    found = conclude([scanner.scan(discover.given_text(text))], knowledge)
    return found.related[0].finding.entry.code if found.related else ""


def test_the_documents_errors_are_answered(knowledge: Knowledge, scanner: Scanner) -> None:
    """With the 76 incidents of the questions these are more than 135 trials; 95 % must be right, and none may lead astray."""
    wrong = {}
    for number, trial in enumerate(TRIALS):
        lines = noise(f"documents-{number}", 120)
        for text in (trial["text"] + "\n", "\n".join([*lines[:60], trial["text"], *lines[60:], ""])):
            code = first(text, knowledge, scanner)
            if code not in trial["expect"]:
                wrong[f"{number} {trial['text'][:60]} {'alone' if text.startswith(trial['text']) else 'noise'}"] = (code, trial["expect"])
    assert len(TRIALS) + 76 >= 135
    assert len(wrong) <= 0.05 * 2 * len(TRIALS), wrong
    assert [what for what in wrong.items() if what[1][0]] == [], "another entry led"
