"""One relation for each incident, always the same: the roots stay what they are. `python -m benchmarks.hostile --relations` tries them all."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge
from tests.metamorphic.known import DIFFERENT
from tests.metamorphic.relations import RELATIONS
from tests.metamorphic.same_roots import cases, changed, drawn, plain


@pytest.mark.parametrize("case", cases(), ids=lambda p: p.parent.name)
def test_the_roots_stay_the_same(case: Path, scanner: Scanner, knowledge: Knowledge) -> None:
    name = drawn(case)
    if (case.parent.name, name) in DIFFERENT:
        pytest.skip(DIFFERENT[case.parent.name, name])
    assert changed(case, name, scanner, knowledge) == plain(case, scanner, knowledge), name


def test_there_are_enough_relations_and_each_is_drawn() -> None:
    assert len(RELATIONS) >= 30
    drawn_by = Counter(map(drawn, cases()))
    assert set(drawn_by) == set(RELATIONS)
