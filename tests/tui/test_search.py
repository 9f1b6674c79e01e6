"""`/` on every screen: letters are letters, however fast they are typed; the first Esc leaves the search, the next the screen."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from tui.support import MTE, OOM, Stage, job_logs, stage
from tui.test_headless import JOB

from doctor.read.discover import discover
from doctor.tui.diagnosis.diagnosis_screen import DiagnosisScreen
from doctor.tui.evidence.evidence_screen import EvidenceScreen
from doctor.tui.job.job_screen import JobScreen
from doctor.tui.knowledge.browse_screen import BrowseScreen
from doctor.tui.paste.paste_screen import PasteScreen
from doctor.tui.shell.frame import Frame
from doctor.tui.shell.views import Rows
from doctor.tui.shell.widgets import SearchBox

COMMANDS = "qxeorpKtLTyYc"  # letters that are commands somewhere


def made(name: str, folder: Path) -> Frame:
    if name == "evidence":
        (folder / "one.log").write_text(f"first\n{MTE}\n")
        return EvidenceScreen(discover([str(folder / "one.log")]).sources[0])
    return {
        "browse": BrowseScreen, "diagnosis": DiagnosisScreen, "job": lambda: JobScreen(JOB), "paste": lambda: PasteScreen(OOM),
    }[name]()  # fmt: skip


async def burst(s: Stage, *keys: str) -> None:
    """Keys as they come when somebody pastes: all of them before the first is handled."""
    from textual import events

    for key in keys:
        s.app.post_message(events.Key(key, key if len(key) == 1 else {"slash": "/", "space": " "}.get(key)))
    await s.settle()


@pytest.mark.parametrize("name", ["browse", "diagnosis", "evidence", "job", "paste"])
async def test_letters_typed_into_a_search_are_never_commands(name: str, tmp_path: Path) -> None:
    job_logs(tmp_path)
    async with stage(made(name, tmp_path), [str(tmp_path)]) as s:
        if name == "paste":
            await s.press("escape")
        screen = s.screen
        await burst(s, "slash", *COMMANDS)
        box = screen.query_one("#search", SearchBox)
        assert s.screen is screen
        assert s.app.focused is box
        assert box.value == COMMANDS


@pytest.mark.parametrize("name", ["browse", "diagnosis", "evidence", "job", "paste"])
async def test_the_first_escape_leaves_the_search(name: str, tmp_path: Path) -> None:
    job_logs(tmp_path)
    async with stage() as s:
        s.app.session.paths = (str(tmp_path),)
        s.app.push_screen(made(name, tmp_path))
        await s.settle()
        if name == "paste":
            await s.press("escape")
        screen, before = s.screen, s.text
        await s.press("slash")
        await s.type("zz")
        await s.press("escape")
        assert s.screen is screen
        assert not isinstance(s.app.focused, SearchBox)
        assert s.text == before
        await s.press("escape")
        assert s.screen is not screen


async def test_a_search_in_the_diagnosis_finds_symptoms_and_unknown_errors(tmp_path: Path) -> None:
    async with stage(DiagnosisScreen(), [str(job_logs(tmp_path))]) as s:
        rows = s.screen.query_one("#list", Rows)
        await s.press("slash")
        await s.type("notify")
        assert {row.key for row in rows.rows if row.key} == {"finding:HCL001"}
        await s.press("enter")
        assert s.app.focused is rows
        assert "Notify wait timeout" in s.text
        await s.press("slash")
        await s.type(" strange")
        assert "Nothing fits" in s.text
        await s.press("escape", "slash")
        await s.type("strange")
        assert {row.key for row in rows.rows if row.key} == {"cluster:0"}


async def test_what_is_typed_ahead_of_a_question_is_its_answer(tmp_path: Path) -> None:
    """`o` and a path at once: no letter is lost, none is a command."""
    async with stage() as s:
        await burst(s, "o", *"qxr")
        assert s.screen.query_one("#answer").value == "qxr"  # type: ignore[attr-defined]


def test_every_screen_has_a_box_for_the_search() -> None:
    import doctor.tui.diagnosis.watch_screen
    import doctor.tui.env.environment_screen

    assert doctor.tui.diagnosis.watch_screen
    assert doctor.tui.env.environment_screen
    todo, screens = [Frame], []
    while todo:
        one = todo.pop()
        todo += one.__subclasses__()
        screens += [one] if one.__module__ != Frame.__module__ and not one.__subclasses__() else []
    for screen in screens:
        sources = [inspect.getsource(base) for base in screen.__mro__ if base.__module__.startswith("doctor.tui")]
        assert any("SearchBox(" in source or "yield from pane" in source for source in sources)
