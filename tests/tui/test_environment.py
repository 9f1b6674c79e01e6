"""The machine on screen: lights by group, what fails unfolded, the fix beside it, both languages."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from env import machines as m
from tui.support import stage

from doctor.env import report, verdict
from doctor.env.look_at import Asked, machine
from doctor.tui.env import light_rows
from doctor.tui.env.environment_screen import EnvironmentScreen
from doctor.tui.shell.views import Card, Rows
from kb.knowledge import Knowledge


@pytest.fixture
def made(tmp_path: Path, knowledge: Knowledge) -> dict[str, Any]:
    """A report with a fault, a warning, groups that are fine and one of which nothing is known."""
    files = {**m.machine(named={"torch": "2.8.0", "torch-npu": "2.7.1.post1"}), "/commands/npu-smi_info.txt": m.smi("A2", 8, "25.0.rc1.1", {5: "Warning"})}
    looked = machine(Asked(str(m.write(files, tmp_path / "root"))), knowledge)
    return {**report.report(looked, knowledge, verdict.results(looked, knowledge.checks()))}


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_lights_and_the_fix_of_what_fails(size: tuple[int, int], made: dict[str, Any]) -> None:
    async with stage(EnvironmentScreen(lambda known: made), size=size) as s:
        assert "✗ Python" in s.text
        assert "CHK301" in s.text
        card = s.screen.query_one(Card).doc.plain()
        assert "pip install torch==2.7.1" in card
        await s.press("L")
        assert "✓ 驱动" in s.text
        await s.press("y")
        assert "2.7.1" in s.toasts or "1" in s.toasts


async def test_a_group_unfolds_to_its_checks_and_shows_its_facts(made: dict[str, Any]) -> None:
    async with stage(EnvironmentScreen(lambda known: made)) as s:
        view = s.screen.query_one("#list", Rows)
        view.select("group:driver")
        await s.settle()
        assert "driver.version" in s.screen.query_one(Card).doc.plain()
        before = view.count()
        await s.press("space")
        assert view.count() > before
        assert "driver-and-firmware-do-not-fit" in s.text


async def test_it_is_opened_by_a_key_and_looks_again(made: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []

    def look(known: Knowledge) -> dict[str, Any]:
        looks.append(threading.current_thread() is not threading.main_thread())
        return made

    monkeypatch.setattr("doctor.tui.env.environment_screen.this_machine", look)
    async with stage() as s:
        await s.press("E")
        assert isinstance(s.screen, EnvironmentScreen)
        await s.press("f5")
        assert looks == [True, True]
        await s.press("escape")
        assert not isinstance(s.screen, EnvironmentScreen)


async def test_a_look_that_fails_is_told() -> None:
    def look(known: Knowledge) -> dict[str, Any]:
        raise OSError("no such tree")

    async with stage(EnvironmentScreen(look)) as s:
        assert "no such tree" in s.text


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_row_has_a_card(made: dict[str, Any], lang: str) -> None:
    opened = frozenset(f"group:{g['name']}" for g in made["environment"]["groups"])
    keys = [r.key for r in light_rows.rows(made, lang, opened) if r.key]
    assert len(keys) == len(set(keys)) > 40
    assert [k for k in keys if not light_rows.card(made, k, lang).plain()] == []
