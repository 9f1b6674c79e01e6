"""Pasting and typing an error."""

from __future__ import annotations

from tui.support import MTE, OOM, stage

from doctor.tui.paste.paste_screen import PasteScreen, TextBox
from doctor.tui.shell.views import Card, Rows


async def test_the_diagnosis_follows_the_text() -> None:
    async with stage() as s:
        await s.press("p")
        assert isinstance(s.screen, PasteScreen)
        box = s.screen.query_one("#text", TextBox)
        assert s.app.focused is box
        box.insert(OOM)
        await s.settle()
        assert s.screen.query_one("#list", Rows).current == "finding:MEM001"
        assert "2.00 GiB" in s.screen.query_one("#card", Card).doc.plain()
        box.clear()
        await s.settle()
        assert s.screen.outcome is None
        box.insert(MTE)
        await s.settle()
        assert s.screen.query_one("#list", Rows).current == "finding:RTS001"


async def test_letters_are_text_in_the_box_and_keys_outside() -> None:
    async with stage(PasteScreen()) as s:
        await s.type("q L")
        assert s.screen.query_one("#text", TextBox).text == "q L"
        await s.press("escape", "L")
        assert "置信度" not in s.text
        assert "粘贴" in s.text


async def test_escapes_in_pasted_text_never_reach_the_screen() -> None:
    async with stage(PasteScreen()) as s:
        box = s.screen.query_one("#text", TextBox)
        box.insert(f"\x1b[31m{OOM}\x1b[0m\r\n\x1b]0;t\x07\x9b2J[b]x[/b]")
        await s.settle()
        assert box.text == f"{OOM}\n?2J[b]x[/b]"
        assert s.screen.query_one("#list", Rows).current == "finding:MEM001"
        assert not any(c in s.app.export_screenshot() for c in "\x1b\x07\x9b")


async def test_evidence_opens_in_the_pasted_text() -> None:
    async with stage(PasteScreen("first\n" + OOM)) as s:
        await s.press("escape", "v")
        assert "line 2" in s.text
