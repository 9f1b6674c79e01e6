"""A list, its card beside or beneath it, and what stands under both."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Container

from doctor.tui.shell.views import Card, Rows
from doctor.tui.shell.widgets import Hints, Note, SearchBox


def panes() -> ComposeResult:
    """The note, the two panes, the search and the keys."""
    yield Note()
    with Container(id="panes"):
        yield Rows(id="list", classes="pane")
        yield Card(id="card", classes="pane")
    yield SearchBox(id="search", classes="-asked", select_on_focus=False)
    yield Hints()
