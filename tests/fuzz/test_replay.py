"""What the fuzzer starts from and what it once found hold, without a fuzzer."""

from __future__ import annotations

import pytest

from tests.fuzz.pieces import ODD, PIECES
from tests.fuzz.seeds import DATA, SEEDS, kept
from tests.fuzz.targets import TARGETS

GLUED = "\n".join(f"{piece}{odd}" for piece in PIECES for odd in ODD[:3]).encode()


@pytest.mark.parametrize("name", TARGETS)
def test_the_promises_hold(name: str) -> None:
    seeds = list(SEEDS.get(name, ()))
    step = max(1, len(seeds) // 40)  # the fuzzer takes all of them
    for data in (b"", b"\0", GLUED, *seeds[::step], *(path.read_bytes() for path in kept(name))):
        TARGETS[name](data)


def test_nothing_is_kept_for_nobody() -> None:
    """Every folder of kept inputs has its target, and stays small."""
    for folder in (DATA / "fuzz").iterdir():
        assert folder.name in TARGETS
        assert sum(path.stat().st_size for path in folder.iterdir()) < 32_000
