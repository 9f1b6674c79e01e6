"""Small parts of every screen: the bar at the top, the hints at the bottom, the search box."""

from __future__ import annotations

import re
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from doctor.base.notation import clean
from doctor.render.layout import cells
from doctor.tui.shell.line import Span, between, shown, tail

SHORTEST_PLACE = 16  # cells: less of a path tells nothing


class Bar(Widget):
    """One line: what is told, what is looked at, and the state of the program on the right. Its texts are data, never markup."""

    def __init__(self, **more: str) -> None:
        super().__init__(**more)  # type: ignore[arg-type]
        self._left, self._right, self._place = "", "", ""

    def show(self, left: str, right: str = "", place: str = "") -> None:
        if (left, right, place) != (self._left, self._right, self._place):
            self._left, self._right, self._place = left, right, place
            self.refresh()

    def render(self) -> Text:
        """What is told comes first; then the place, of which the end is kept: that names the file."""
        room = max(10, self.size.width)
        told, place = shown(self._left), shown(self._place)
        free = room - cells(told) - cells(self._right) - 6
        place = place if cells(place) <= free else tail(place, free) if free >= SHORTEST_PLACE else ""
        gap = "   " if told and place else ""
        line = between((Span(f"{told}{gap}{place}"),), (Span(shown(self._right)),) if self._right else (), room)
        return Text("".join(s.text for s in line), no_wrap=True, end="")


class Note(Bar):
    """A remark between bar and content; takes no room when it is empty."""

    def show(self, left: str, right: str = "", place: str = "") -> None:
        super().show(left, right, place)
        self.display = bool(left or right)


class Hints(Widget):
    """The keys worth knowing here, as many as the width holds."""

    def __init__(self, **more: str) -> None:
        super().__init__(**more)  # type: ignore[arg-type]
        self._hints: list[tuple[str, str]] = []

    def show(self, hints: list[tuple[str, str]]) -> None:
        if hints != self._hints:
            self._hints = hints
            self.refresh()

    def render(self) -> Text:
        """The last two hints are always there; of the others those that fit, the first ones first."""
        text = Text(no_wrap=True, end="")
        accent = self.screen.get_component_rich_style("line--key", partial=True)
        always = self._hints[-2:]
        room = self.size.width - sum(cells(key) + cells(word) + 3 for key, word in always)
        for number, (key, word) in enumerate([*self._hints[:-2], *always]):
            piece = cells(key) + cells(word) + 3
            last = number >= len(self._hints) - 2
            if not last and (number >= 8 or piece > room):
                continue
            room -= piece
            text.append(key, style=accent)
            text.append(f" {word}  ")
        return text


_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")


def typed(text: str) -> str:
    """What is pasted, without anything that would steer the terminal when it is drawn: colours go, the rest is shown."""
    rows = _ESCAPES.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    return "\n".join(clean(row).encode("utf-8", "backslashreplace").decode("utf-8") for row in rows)


class LineInput(Input):
    """An input of one line that takes no control characters, whoever pastes them."""

    def on_mount(self) -> None:
        self.cursor_blink = not getattr(self.app, "low_bandwidth", False)  # a blink is a redraw, twice a second

    def validate_value(self, value: str) -> str:
        return typed(value).replace("\n", " ")


class SearchBox(LineInput):
    """An input whose arrow keys and Enter lead to the list."""

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        Binding("down", "leave", show=False, id="search-down"),
        Binding("up", "leave", show=False, id="search-up"),
    ]

    class Left(Message):
        """The reader wants to go on to the results."""

    def action_leave(self) -> None:
        self.post_message(self.Left())
