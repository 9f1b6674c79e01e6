"""The groups of checks of a machine for a terminal: a row each, or all of them in one paragraph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from doctor.base.words import word
from doctor.render.compose import Light
from doctor.render.layout import Style, cells, paint, wrap
from doctor.render.terminal import labelled

_COLOURS = {"red": "error", "yellow": "warning", "green": "good", "grey": "dim"}  # the worst first


def table(lights: Sequence[Light], style: Style) -> Iterator[str]:
    """How each stands, and what is there."""
    wide, named = max(cells(one.told) for one in lights) + 2, max(cells(one.group) for one in lights) + 2
    for one in lights:
        head = paint(one.told, _COLOURS[one.light], style) + " " * (wide - cells(one.told)) + one.group + " " * (named - cells(one.group))
        rows = wrap(one.text, max(20, style.width - wide - named - 2))
        yield from (f"  {head}{row}".rstrip() if not n else f"  {' ' * (wide + named)}{row}" for n, row in enumerate(rows))


def short(lights: Sequence[Light], lang: str, style: Style) -> Iterator[str]:
    """Beneath findings: which groups stand how."""
    told = []
    for colour in _COLOURS:
        names = [one for one in lights if one.light == colour]
        if names and colour != "grey":
            told.append(f"{names[0].told} {', '.join(one.group for one in names)}")
    yield ""
    yield from labelled(word("env.machine-short", lang), f" {style.dot} ".join(told), style)
