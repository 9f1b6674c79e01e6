"""The colours: four palettes of the same roles, dark and light, each in full colour and in the sixteen of the terminal.

There is one accent. Red, amber, blue and green say how bad something is, and nothing else. A test holds every role readable
on everything that it is drawn on.
"""

from __future__ import annotations

from collections.abc import Mapping

from textual.theme import BUILTIN_THEMES, Theme

from parsers.named import NamedTuple


class Palette(NamedTuple):
    """Colours by what they are for."""

    ground: str  # behind the panes
    surface: str  # behind text
    panel: str  # behind the bar and the hints
    code: str  # behind what can be pasted
    rule: str  # borders at rest
    text: str
    muted: str  # what is read last
    accent: str  # what can be pressed or followed, and where the keys go
    error: str
    warning: str
    info: str
    good: str
    fatal: str  # behind the word of the worst
    on_fatal: str
    cursor: str  # behind the row of the cursor
    away: str  # the same while the keys go elsewhere
    on_cursor: str
    on_away: str
    mark: str  # behind what matched
    on_mark: str


DARK = Palette(
    ground="#0e1116", surface="#13171e", panel="#1c222c", code="#1b212b", rule="#3d4757",
    text="#dde3ec", muted="#98a3b5", accent="#56c7d8", error="#ff8078", warning="#e8b84a", info="#8fb8ff", good="#7fd88f",
    fatal="#c0313a", on_fatal="#ffffff", cursor="#24364a", away="#202835", on_cursor="#ffffff",
    on_away="#ffffff", mark="#e8b84a", on_mark="#14171c",
)  # fmt: skip
LIGHT = Palette(
    ground="#eef0f3", surface="#ffffff", panel="#e3e7ed", code="#f1f4f8", rule="#a7b1bf",
    text="#1b222d", muted="#525d6d", accent="#07627a", error="#b3202b", warning="#7d5200", info="#1b57b0", good="#1a6a2d",
    fatal="#b3202b", on_fatal="#ffffff", cursor="#d3e8f0", away="#e6ebf1", on_cursor="#000000",
    on_away="#000000", mark="#ffd75e", on_mark="#1b222d",
)  # fmt: skip
# The terminal's own colours: what they look like nobody knows, so that only those are used which every usual table has
# far enough from its background.
ANSI_DARK = Palette(
    ground="ansi_default", surface="ansi_default", panel="ansi_default", code="ansi_default", rule="ansi_bright_black",
    text="ansi_default", muted="ansi_white", accent="ansi_bright_cyan", error="ansi_bright_red", warning="ansi_bright_yellow",
    info="ansi_bright_cyan", good="ansi_bright_green", fatal="ansi_bright_red", on_fatal="ansi_black",
    cursor="ansi_cyan", away="ansi_white", on_cursor="ansi_black",
    on_away="ansi_black", mark="ansi_bright_yellow", on_mark="ansi_black",
)  # fmt: skip
ANSI_LIGHT = Palette(
    ground="ansi_default", surface="ansi_default", panel="ansi_default", code="ansi_default", rule="ansi_bright_black",
    text="ansi_default", muted="ansi_black", accent="ansi_blue", error="ansi_red", warning="ansi_magenta", info="ansi_blue",
    good="ansi_blue", fatal="ansi_red", on_fatal="ansi_bright_white", cursor="ansi_blue", away="ansi_white",
    on_cursor="ansi_bright_white", on_away="ansi_black", mark="ansi_bright_yellow", on_mark="ansi_black",
)  # fmt: skip
FEW = ("16-dark", "16-light")
OWN_COLOURS = "ansi" in Theme.__dataclass_fields__  # older Textual cannot leave colours to the terminal
PALETTES = {"dark": DARK, "light": LIGHT} | ({"16-dark": ANSI_DARK, "16-light": ANSI_LIGHT} if OWN_COLOURS else {})


def themes() -> list[Theme]:
    """The palettes as themes, in the order in which a key goes through them."""
    return [_theme(name, palette) for name, palette in PALETTES.items()]


def variables(palette: Palette) -> dict[str, str]:
    """What the style sheet calls the colours."""
    return {f"of-{role.replace('_', '-')}": colour for role, colour in palette._asdict().items()}


def _theme(name: str, p: Palette) -> Theme:
    more = {"footer-background": p.panel, "border": p.accent, "border-blurred": p.rule, "block-cursor-background": p.cursor}
    more |= {"block-cursor-foreground": p.on_cursor, "input-cursor-background": p.text, "input-cursor-foreground": p.surface}
    terminal: dict[str, bool] = {"ansi": name in FEW} if OWN_COLOURS else {}
    like = BUILTIN_THEMES.get("ansi-light" if p is ANSI_LIGHT else "ansi-dark") if name in FEW else None
    more = (like.variables if like is not None else {}) | more  # what Textual's own widgets ask for
    return Theme(
        name, primary=p.accent, secondary=p.accent, warning=p.warning, error=p.error, success=p.good, accent=p.accent,
        foreground=p.text, background=p.ground, surface=p.surface, panel=p.panel, boost=p.code,
        dark="light" not in name, variables=variables(p) | more, **terminal,
    )  # fmt: skip


def fitting(env: Mapping[str, str], colours: str | None) -> str:
    """The theme for a terminal: how many colours it has, and what it tells of its background (`COLORFGBG=0;15`)."""
    few = colours == "standard" and OWN_COLOURS
    behind = env.get("COLORFGBG", "").rpartition(";")[2]
    light = behind.isdigit() and (int(behind) == 7 or 8 < int(behind) < 16)
    return ("16-" if few else "") + ("light" if light else "dark")
