"""Searching a text once for all words of the situation tells what trying each form on the whole text tells."""

from __future__ import annotations

import re
from pathlib import Path
from unittest import mock

import pytest

from doctor.scan import situation
from kb.knowledge import Knowledge
from kb.model import Signal

INCIDENTS = Path(__file__).resolve().parent.parent / "data" / "incidents"


@pytest.fixture(scope="module")
def forms(knowledge: Knowledge) -> tuple[Signal, ...]:
    return tuple(knowledge.situation())


def test_large_and_small_texts_tell_the_same(forms: tuple[Signal, ...]) -> None:
    """Each incident, and many of them in one text, as a small text and as a large one."""
    texts = [p.read_bytes() for p in sorted(INCIDENTS.glob("*/*.txt"))]
    texts += [b"\n".join(texts[n : n + 30]) for n in range(0, len(texts), 30)]
    with mock.patch.object(situation, "SMALL", 1 << 30):
        one_by_one = [situation.said(text, "p", forms) for text in texts]
    with mock.patch.object(situation, "SMALL", 0):
        at_once = [situation.said(text, "p", forms) for text in texts]
    assert at_once == one_by_one
    assert sum(map(len, at_once)) > len(texts)


def test_a_form_is_tried_around_its_words_alone(forms: tuple[Signal, ...]) -> None:
    """A number that only looks like a chip, a long way down, does not have a megabyte searched for chips."""
    chip = next(f for f in forms if f.id.startswith("situation:chip=") and f.anchors == ("310",))
    text = b"x" * 500_000 + b" 310P3 " + b"y" * 500_000 + b"1310" + b"z" * 100
    parts = dict(situation._tried(text, forms))[chip]
    assert sum(min(end, len(text)) - start for start, end in parts) < 5 * situation.REACH
    assert [m["v"] for part in parts for m in re.compile(chip.pattern.encode()).finditer(text, *part)] == [b"310P3"]
