"""What the fuzzer starts from and what it once found hold, without a fuzzer."""

from __future__ import annotations

import pytest

from tests.fuzz.__main__ import KEPT, KEPT_FILES, few
from tests.fuzz.pieces import ODD, PIECES
from tests.fuzz.seeds import DATA, SEEDS, kept
from tests.fuzz.targets import TARGETS

BY_HAND = 20  # inputs of a target that broke a promise once
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
        files = list(folder.iterdir())
        assert len(files) <= KEPT_FILES + BY_HAND
        assert sum(path.stat().st_size for path in files) < 8_000


def test_few_are_kept_of_many() -> None:
    """Of all sizes, within both bounds, the same ones in every run; nothing empty, nothing large."""
    many = [bytes([n % 251]) * n for n in range(1500)]
    kept_of = few(many)
    assert kept_of == few(reversed(many))
    assert 4 < len(kept_of) <= KEPT_FILES
    assert sum(map(len, kept_of)) <= KEPT
    assert few([]) == few([b""]) == []
