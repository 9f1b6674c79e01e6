"""A pair of simulated runs on disk, made once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.simulate.pairs import Pair, pair
from tests.simulate.strange import STRANGE


def put(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def weights() -> Pair:
    """Two healthy runs, and one in which a rank cannot restore its weights: in lines that no entry knows."""
    return pair(11, STRANGE, 2, next(s for s in STRANGE if s.name == "weights"))


@pytest.fixture(scope="session")
def runs(weights: Pair, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for number, files in enumerate(weights.good, 1):
        put(folder / f"good{number}", files)
    put(folder / "bad", weights.bad)
    return folder
