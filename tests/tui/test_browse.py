"""The knowledge browser: finding, narrowing, following, copying, in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest
from tui.support import stage

from doctor.tui.knowledge.browse_screen import BrowseScreen
from doctor.tui.shell import clipboard
from doctor.tui.shell.views import Card, Rows


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was copied; no clipboard of this machine is touched."""
    taken: list[str] = []

    def copy(text: str, terminal: object = None) -> clipboard.Copied:
        taken.append(text)
        return clipboard.Copied(("tmux",), "")

    monkeypatch.setattr("doctor.tui.shell.host.clipboard.copy", copy)
    return taken


async def test_lists_entries_with_counts_and_shows_the_first() -> None:
    async with stage() as s:
        assert "All entries" in s.text
        assert "Error codes" in s.text
        assert "ENV001" in s.text
        assert s.screen.query_one("#card", Card).doc.name == "ENV001"


@pytest.mark.parametrize(
    ("typed", "found"),
    [("507018", "code:507018"), ("EI0002", "entry:HCL001"), ("notify timeout", "entry:HCL001"), ("memry", "entry:MEM001"), ("内存", "entry:MEM001"), ("alloc_conf", "variable:PYTORCH_NPU_ALLOC_CONF"), ("logs", "card:CARD-LOGS")],
)  # fmt: skip
async def test_search_finds_by_code_words_fragments_and_chinese(typed: str, found: str) -> None:
    async with stage() as s:
        await s.press("slash")
        search = s.screen.query_one("#search")
        search.value = typed  # type: ignore[attr-defined]
        await s.settle()
        assert found in [row.key for row in s.screen.query_one("#list", Rows).rows]


async def test_typing_narrows_at_every_key_and_escape_goes_back_step_by_step() -> None:
    async with stage() as s:
        rows = s.screen.query_one("#list", Rows)
        everything = len(rows.rows)
        await s.press("slash")
        await s.type("notify")
        assert [r.key for r in rows.rows] == ["entry:HCL001"]
        await s.press("escape")
        assert len(rows.rows) == everything
        await s.press("escape")
        assert s.app.focused is rows


async def test_nothing_found_says_what_helps() -> None:
    async with stage() as s:
        await s.press("slash")
        await s.type("zzqqxx")
        assert "Nothing fits" in s.text


async def test_facets_narrow_and_are_named() -> None:
    async with stage() as s:
        rows = s.screen.query_one("#list", Rows)
        await s.press("s")
        assert "3 of 4 · ERROR" in s.text
        assert [r.key for r in rows.rows] == ["entry:HCL001", "entry:MEM001", "entry:RTS001"]
        await s.press("m", "m")
        assert len(rows.rows) == 1
        await s.press("escape")
        assert len(rows.rows) == 4


async def test_tree_leads_to_codes_variables_and_cards() -> None:
    async with stage() as s:
        tree, rows = s.screen.query_one("#tree", Rows), s.screen.query_one("#list", Rows)
        await s.press("d")
        assert s.app.focused is tree
        tree.select("node:codes")
        await s.settle()
        assert [r.key for r in rows.rows] == ["code:507011@rts", "code:507018@rts"]
        await s.press("space")
        assert any(r.key == "node:codes/rts" for r in tree.rows)
        tree.select("node:cards")
        await s.settle()
        assert "Host logs are in" in s.text


async def test_links_are_followed_and_come_back() -> None:
    async with stage(BrowseScreen("HCL001")) as s:
        card = s.screen.query_one("#card", Card)
        assert card.doc.name == "HCL001"
        await s.press("1")
        assert card.doc.name == "RTS001"
        assert "shows up as" in card.doc.plain()
        await s.press("b")
        assert card.doc.name == "HCL001"
        await s.press("9")
        assert card.doc.name == "HCL001"


async def test_language_changes_everything_at_once_and_keeps_the_place() -> None:
    async with stage(BrowseScreen("MEM001")) as s:
        await s.press("L")
        assert "内存不足" in s.text
        assert "知识库" in s.text
        assert "搜索" in s.text
        assert s.screen.query_one("#card", Card).doc.name == "MEM001"
        await s.press("L")
        assert "out of memory" in s.text


async def test_y_copies_the_next_fix_each_time_and_says_how(copied: list[str]) -> None:
    async with stage(BrowseScreen("MEM001")) as s:
        await s.press("y", "y")
        assert copied == ["npu-smi info", "export PYTORCH_NPU_ALLOC_CONF=expandable_segments:True"]
        assert "fix 2 of 2" in s.toasts
        assert "tmux" in s.toasts
        await s.press("Y")
        assert copied[2].startswith("## MEM001")


async def test_y_on_a_card_without_commands_says_so(copied: list[str]) -> None:
    async with stage(BrowseScreen("ENV001")) as s:
        await s.press("y")
        assert copied == []
        assert "no command to copy" in s.toasts


async def test_r_shows_the_template_and_saves_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with stage(BrowseScreen("RTS001")) as s:
        await s.press("r")
        assert "reproduce" in s.screen.query_one(Card).doc.plain()
        await s.press("s", "enter")
        assert (tmp_path / "repro_rts001.py").read_text().startswith('"""')
        await s.press("s", "enter")
        assert "exists" in s.toasts
        await s.press("escape", "escape")
        assert isinstance(s.screen, BrowseScreen)


async def test_c_shows_the_same_on_the_command_line(copied: list[str]) -> None:
    async with stage(BrowseScreen("MEM001")) as s:
        await s.press("c")
        assert "npu-doctor explain MEM001 --lang en" in s.text
        await s.press("y")
        assert copied == ["npu-doctor explain MEM001 --lang en"]


async def test_help_lists_the_keys_of_the_screen_in_the_language() -> None:
    async with stage(lang="zh") as s:
        await s.press("question_mark")
        assert "切换中英文" in s.screen.query_one(Card).doc.plain()
        await s.press("escape")
        assert isinstance(s.screen, BrowseScreen)


async def test_stacks_when_narrow_and_zooms() -> None:
    async with stage(size=(80, 24)) as s:
        tree, rows, card = (s.screen.query_one(f"#{n}") for n in ("tree", "list", "card"))
        assert not tree.display
        assert card.region.y > rows.region.y
        await s.press("d")
        assert tree.display
        await s.press("escape")
        assert not tree.display
        await s.press("tab", "z")
        assert s.screen.maximized is not None
        await s.press("escape")
        assert s.screen.maximized is None
        await s.pilot.resize_terminal(140, 40)
        await s.settle()
        assert tree.display


async def test_themes_turn_and_quit_quits() -> None:
    async with stage() as s:
        first = s.app.theme
        await s.press("T")
        assert s.app.theme != first
        await s.press("q")
    assert s.app.return_code == 0


async def test_every_theme_can_be_drawn_and_low_bandwidth_takes_the_terminals_own(tmp_path: Path) -> None:
    from tui.support import small_knowledge

    from doctor.tui.app import DoctorApp
    from doctor.tui.shell.session import Session
    from doctor.tui.shell.themes import FEW, PALETTES

    app = DoctorApp(Session(known=small_knowledge()), low_bandwidth=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        assert app.theme in FEW
        assert app.animation_level == "none"
        assert not app.screen.query_one("#search").cursor_blink  # type: ignore[attr-defined]
        for _ in PALETTES:
            await pilot.press("T")
            assert "npu-doctor" in app.export_screenshot()


async def test_ctrl_c_twice_quits() -> None:
    async with stage() as s:
        await s.press("ctrl+c")
        assert "again" in s.toasts
        await s.press("ctrl+c")
    assert s.app.return_code == 130


async def test_pasted_control_characters_never_reach_the_screen() -> None:
    async with stage() as s:
        await s.press("slash")
        s.screen.query_one("#search").value = "a\x1b[31mb\x07c\nd"  # type: ignore[attr-defined]
        assert s.screen.query_one("#search").value == "ab?c d"  # type: ignore[attr-defined]


async def test_keymap_file_remaps_and_its_faults_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "npu-doctor").mkdir()
    (tmp_path / "npu-doctor" / "keys.conf").write_text("language = ctrl+l\nsearhc = f\n")
    async with stage() as s:
        assert "did you mean 'search'" in s.toasts
        await s.press("L")
        assert "Knowledge" in s.text
        await s.press("ctrl+l")
        assert "知识库" in s.text


async def test_palette_finds_commands_by_their_english_names_in_chinese_too() -> None:
    """Not every terminal can be written Chinese into."""
    async with stage(lang="zh") as s:
        await s.press("colon")
        await s.type("theme")
        assert "切换配色主题" in s.text
        assert "本屏幕的全部按键" not in s.text


async def test_palette_finds_entries() -> None:
    async with stage() as s:
        await s.press("colon")
        await s.type("notify")
        assert "HCL001" in s.text
