"""The pace: read in a thread, drawn in rows; F5 reads again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding

from doctor.pace.verdict import Pace
from doctor.tui.pace import pace_rows
from doctor.tui.shell.bindings import bindings
from doctor.tui.shell.look_screen import LookScreen
from doctor.tui.shell.panes import pane
from doctor.tui.shell.views import Rows
from doctor.tui.shell.widgets import Bar, Note
from kb.knowledge import Knowledge


def of_paths(paths: Sequence[str], known: Knowledge) -> Pace:
    """The pace of the run whose logs these are."""
    from doctor.pace.look import look
    from doctor.pace.wordings import wordings
    from doctor.read.discover import discover

    found = discover(paths)
    return look(found.sources, found.skipped, wordings(known.pace()), lambda: None)


class PaceScreen(LookScreen):
    """What is said of a run, and its ranks by time."""

    AUTO_FOCUS = "#pace"
    LOOKING = "pace.reading"

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = bindings("rescan")
    HINTS: ClassVar[tuple[str, ...]] = ("search", "rescan", "command-line", "language", "back", "help", "quit")

    def __init__(self, look: Callable[[Knowledge], Pace], command: Sequence[str] = ("pace",)) -> None:
        super().__init__(look, command)
        self._pace: Pace | None = None

    def compose(self) -> ComposeResult:
        yield Bar()
        yield from pane("pace")

    def found(self, made: Pace) -> None:
        self._pace = made

    def speak(self) -> None:
        view = self.query_one("#pace", Rows)
        view.border_title = self.word("pace.title")
        view.empty = self.word("nothing-fits")
        told = "" if self._pace is None or self._pace.verdict == "none" else pace_rows.summary(self._pace, self.doctor.language)
        self.bar(self.word("pace.title"))
        self.query_one(Note).show(self.remark or told)
        self.draw()

    def draw(self) -> None:
        view = self.query_one("#pace", Rows)
        if self._pace is not None:
            room = view.room or max(20, self.app.size.width - 6)
            view.set_rows(pace_rows.rows(self._pace, self.doctor.language, room, self.search_box.value), view.current or None)
