"""What screens are put together of: a list, and a card beside or beneath it, with what stands around them."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Container
from textual.widget import Widget

from doctor.tui.shell.views import Card, Rows
from doctor.tui.shell.widgets import Hints, Note, SearchBox


def panes() -> ComposeResult:
    """A list and a card."""
    yield from _around(Container(Rows(id="list", classes="pane"), Card(id="card", classes="pane"), id="panes"))


def pane(name: str) -> ComposeResult:
    """A list alone."""
    yield from _around(Rows(id=name, classes="pane"))


def _around(shown: Widget) -> ComposeResult:
    """The note, what is shown, the search and the keys."""
    yield Note()
    yield shown
    yield SearchBox(id="search", classes="-asked", select_on_focus=False)
    yield Hints()
