"""The pace on screen: what is said, the ranks by time, both languages, opened by a key from a diagnosis."""

from __future__ import annotations

from pathlib import Path

import pytest
from pace import runs
from tui.support import stage

from doctor.tui.diagnosis.diagnosis_screen import DiagnosisScreen
from doctor.tui.pace.pace_screen import PaceScreen, of_paths
from doctor.tui.shell.views import Rows
from kb.knowledge import Knowledge


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    return runs.megatron(tmp_path / "train.log", late=lambda rank, step: 0.3 * (rank == 5))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_slow_rank_is_named_and_stands_first(size: tuple[int, int], slow: Path, knowledge: Knowledge) -> None:
    async with stage(PaceScreen(lambda known: of_paths([str(slow)], knowledge)), size=size) as s:
        assert "rank 5" in s.text
        assert "! rank 5" in s.text
        assert "8 ranks, 120 steps" in s.text
        await s.press("L")
        assert "慢" in s.text
        await s.press("slash", *"rank 7", "enter")
        assert s.screen.query_one("#pace", Rows).count() == 1


async def test_it_is_opened_from_a_diagnosis(slow: Path, knowledge: Knowledge) -> None:
    async with stage(DiagnosisScreen(), paths=(str(slow),), known=knowledge) as s:
        await s.press("S")
        assert isinstance(s.screen, PaceScreen)
        await s.press("escape")
        assert not isinstance(s.screen, PaceScreen)


async def test_logs_without_steps_and_a_reading_that_fails_are_told(tmp_path: Path, knowledge: Knowledge) -> None:
    (tmp_path / "a.log").write_text("nothing of a step\n")
    async with stage(PaceScreen(lambda known: of_paths([str(tmp_path)], knowledge))) as s:
        assert "no step" in s.text

    def broken(known: Knowledge) -> None:
        raise OSError("gone")

    async with stage(PaceScreen(broken)) as s:  # type: ignore[arg-type]
        assert "gone" in s.text
