"""The facts about jobs test themselves from their samples, as entries do."""

from __future__ import annotations

import pytest

from doctor.judge.proof import Bench
from doctor.read import discover
from kb import anchors, effort, fragments
from kb.facts import Fact, read_facts
from kb.layers import HERE

FACTS, FAULTS = read_facts(HERE / "facts.yaml", "kb/facts.yaml")


def test_the_file_is_read() -> None:
    assert [str(f) for f in FAULTS] == []
    assert len(FACTS) > 20


@pytest.mark.parametrize("fact", FACTS, ids=lambda f: f.id)
def test_fact(fact: Fact, bench: Bench) -> None:
    """Every form is seen in a sample, every capture comes out, and a fact hides no error line."""
    seen: set[str] = set()
    for sample in fact.samples:
        harvest = bench._scanner.scan(discover.given_text(sample.text, sample.path or "<sample>"))
        mine = [h for h in harvest.facts if h.signal.startswith(f"fact:{fact.id}/")]
        assert mine, f"sample {sample.name} shows nothing"
        seen |= {h.signal for h in mine}
        told = {k: v for h in reversed(mine) for k, v in h.captures}
        assert {k: told.get(k) for k, _ in sample.expect} == dict(sample.expect)
        assert not any(h.signal.startswith("fact:") for h in harvest.hits)
    assert seen == {s.id for s in fact.signals}


@pytest.mark.parametrize("fact", FACTS, ids=lambda f: f.id)
def test_patterns_are_safe(fact: Fact) -> None:
    for signal in map(fragments.assign, fact.signals):
        assert not effort.nested_repeat(signal.pattern)
        assert not signal.pattern.startswith((".*", ".+"))
        assert min(map(len, signal.anchors)) >= anchors.MIN_ANCHOR
