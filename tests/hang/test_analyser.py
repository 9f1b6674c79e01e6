"""PyTorch's own analyser of Flight Recorder dumps and ours say the same of drawn jobs."""

from __future__ import annotations

import random
import sys
from importlib.util import find_spec

import pytest

from benchmarks import flight


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_the_analyser_of_torch_says_the_same() -> None:
    """The same call, the same kind of difference, the ranks parted alike."""
    rng = random.Random(22)
    rows = flight.compared(sys.executable, [flight.draw(rng) for _ in range(20)])
    assert [row for row in rows if not flight.alike(*row)] == []


@pytest.mark.parametrize("seed", range(4))
def test_what_was_drawn_is_what_is_said(seed: int) -> None:
    """Without torch: the kind, the call and the ranks of many drawn jobs."""
    rng = random.Random(seed)
    for job in (flight.draw(rng) for _ in range(15)):
        said = flight.ours(job)
        assert said[:2] == job.true[:2]
        assert job.world == 2 or said.ranks == job.true.ranks
