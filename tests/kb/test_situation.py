"""What is known of situations proves itself from its samples."""

from __future__ import annotations

import pytest

from doctor.scan.situation import said
from kb import effort
from kb.layers import HERE
from kb.situation import Told, read_situation

TOLD, FAULTS = read_situation(HERE / "situation.yaml", "kb/situation.yaml")


def test_the_file_is_read() -> None:
    assert [str(f) for f in FAULTS] == []
    assert {"chip", "cann", "torch_npu", "activity", "machine", "framework"} <= {t.fact for t in TOLD}


@pytest.mark.parametrize("told", TOLD, ids=lambda t: t.fact)
def test_every_form_tells_a_value(told: Told) -> None:
    """Each sample gives its value, and each form is needed by a sample."""
    used = set()
    for text, value in told.samples:
        assert value in {s.value for s in said(text.encode(), "a.log", told.signals)}, text
        used |= {s.id for s in told.signals if said(text.encode(), "a.log", [s])}
    assert used == {s.id for s in told.signals}


@pytest.mark.parametrize("told", TOLD, ids=lambda t: t.fact)
def test_patterns_are_safe_and_their_words_stand_in_what_they_match(told: Told) -> None:
    for signal in told.signals:
        assert not effort.nested_repeat(signal.pattern)
        assert signal.anchors
