"""Every role is readable on everything that it is drawn on, in every theme."""

from __future__ import annotations

from itertools import product

import pytest
from rich.style import Style
from textual.color import Color
from tui.support import job_logs, stage

from doctor.tui.diagnosis.diagnosis_screen import DiagnosisScreen
from doctor.tui.shell import themes
from doctor.tui.shell.views import FILLED, STYLES, Rows

ENOUGH = 4.5
NO_TEXT = ("thumb",)
# The sixteen colours as xterm and the VGA text mode have them: the tables that others were made from.
XTERM = ["000000", "cd0000", "00cd00", "cdcd00", "0000ee", "cd00cd", "00cdcd", "e5e5e5", "7f7f7f", "ff0000", "00ff00", "ffff00", "5c5cff", "ff00ff", "00ffff", "ffffff"]
VGA = ["000000", "aa0000", "00aa00", "aa5500", "0000aa", "aa00aa", "00aaaa", "aaaaaa", "555555", "ff5555", "55ff55", "ffff55", "5555ff", "ff55ff", "55ffff", "ffffff"]


def contrast(one: str, other: str) -> float:
    """As WCAG counts it."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour.lstrip("#")[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


async def _drawn(theme: str) -> dict[tuple[str, str], Style]:
    """Each style as it comes to the screen: alone, and on the row of the cursor."""
    async with stage(DiagnosisScreen(), []) as s:
        s.app.theme = theme
        await s.settle()
        view = s.screen.query_one("#list", Rows)
        view._styles_named = {}
        base = view.named_style("")
        found = {}
        for name, over in product(STYLES, ("", "cursor", "cursor-away")):
            style = base + view.named_style(name)
            found[name, over] = style + view.cover(over) if over and name not in FILLED else style
        return found


@pytest.mark.parametrize("theme", ["dark", "light"])
async def test_every_role_is_readable(theme: str) -> None:
    for (name, over), style in (await _drawn(theme)).items():
        if name not in NO_TEXT:
            assert style.color is not None
            assert style.bgcolor is not None
            got = contrast(style.color.get_truecolor().hex, style.bgcolor.get_truecolor().hex)
            assert got >= ENOUGH, (name, over, got)


@pytest.mark.parametrize("table", [XTERM, VGA], ids=["xterm", "vga"])
@pytest.mark.parametrize("theme", themes.FEW)
async def test_every_role_is_readable_in_sixteen_colours(theme: str, table: list[str]) -> None:
    """On the black or the white of a terminal that says no more of its colours than their numbers."""
    ground, ink = ("ffffff", "000000") if theme.endswith("light") else ("000000", table[7])

    def seen(colour: object, default: str) -> str:
        number = getattr(colour, "number", None)
        return default if number is None else table[number]

    for (name, over), style in (await _drawn(theme)).items():
        if name not in NO_TEXT:
            front, back = seen(style.color, ink), seen(style.bgcolor, ground)
            assert contrast(front, back) >= ENOUGH, (name, over, style)


def test_bar_hints_and_notes_are_readable() -> None:
    for name, p in themes.PALETTES.items():
        if name not in themes.FEW:
            pairs = [(p.text, p.panel), (p.muted, p.panel), (p.accent, p.panel), (p.warning, p.ground), (p.muted, p.code)]
            assert all(contrast(a, b) >= ENOUGH for a, b in pairs), name


@pytest.mark.parametrize(
    ("told", "colours", "expected"),
    [
        ("", "truecolor", "dark"), ("15;0", "256", "dark"), ("0;15", "truecolor", "light"), ("0;default;15", "256", "light"),
        ("", "standard", "16-dark"), ("0;7", "standard", "16-light"), ("nonsense", None, "dark"), ("7;8", None, "dark"),
    ],
)  # fmt: skip
def test_the_theme_fits_the_terminal(told: str, colours: str | None, expected: str) -> None:
    assert themes.fitting({"COLORFGBG": told}, colours) == expected


async def test_the_key_goes_through_all_themes_and_keeps_the_screen(tmp_path: object) -> None:
    async with stage(DiagnosisScreen(), [str(job_logs(tmp_path))]) as s:  # type: ignore[arg-type]
        before, seen = s.text, []
        for _ in themes.PALETTES:
            await s.press("T")
            seen.append(s.app.theme)
        s.app.clear_notifications()
        await s.settle()
        assert sorted(seen) == sorted(themes.PALETTES)
        assert s.text == before


def test_palettes_hold_colours_only() -> None:
    for palette in themes.PALETTES.values():
        for colour in palette:
            Color.parse(colour)
