"""Some relations for each incident, always the same ones: the roots stay what they are. `python -m benchmarks.hostile` tries them all."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests_support import Concluded

from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge
from tests.metamorphic.known import DIFFERENT
from tests.metamorphic.relations import RELATIONS
from tests.metamorphic.same_roots import cases, changed, drawn, roots


@pytest.mark.parametrize("case", cases(), ids=lambda p: p.parent.name)
def test_the_roots_stay_the_same(case: Path, concluded: Concluded, scanner: Scanner, knowledge: Knowledge) -> None:
    expected = roots(concluded(case.parent))
    names = [name for name in drawn(case) if (case.parent.name, name) not in DIFFERENT]
    assert {name: changed(case, name, scanner, knowledge) for name in names} == dict.fromkeys(names, expected)


def test_there_are_enough_relations_and_each_is_drawn() -> None:
    assert len(RELATIONS) >= 30
    assert {name for case in cases() for name in drawn(case)} == set(RELATIONS)


def test_what_is_known_to_differ_still_does(concluded: Concluded, scanner: Scanner, knowledge: Knowledge) -> None:
    """Else it is no exception any more."""
    for (incident, name), why in DIFFERENT.items():
        case = next(case for case in cases() if case.parent.name == incident)
        assert changed(case, name, scanner, knowledge) != roots(concluded(case.parent)), why
