"""The job: every rank, who failed first, who only waits, on one line of time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding

from doctor.tui.job import timeline_rows
from doctor.tui.shell.bindings import bindings
from doctor.tui.shell.frame import Frame
from doctor.tui.shell.messages import RowOpened
from doctor.tui.shell.views import Rows
from doctor.tui.shell.widgets import Bar, Hints, Note, SearchBox


class JobScreen(Frame):
    """A row a rank. Enter opens the finding of the rank in the diagnosis."""

    AUTO_FOCUS = "#ranks"

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = bindings("job")
    HINTS: ClassVar[tuple[str, ...]] = ("open", "down", "up", "command-line", "language", "back", "help", "quit")

    def __init__(self, job: Mapping[str, Any]) -> None:
        super().__init__()
        self._job = job

    def compose(self) -> ComposeResult:
        yield Bar()
        yield Note()
        yield Rows(id="ranks", classes="pane")
        yield SearchBox(id="search", classes="-asked", select_on_focus=False)
        yield Hints()

    def speak(self) -> None:
        view = self.query_one("#ranks", Rows)
        view.border_title = self.word("job")
        lang = self.doctor.language
        self.bar(timeline_rows.summary(self._job, lang))
        self.query_one(Note).show(timeline_rows.headline(self._job, lang))
        view.set_rows(timeline_rows.rows(self._job, lang, max(20, self.app.size.width - 6)), view.current or None)

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self.speak()  # the line of time is as long as there is room

    def on_row_opened(self, message: RowOpened) -> None:
        code = timeline_rows.finding_of(self._job, message.key)
        if code:
            self.doctor.show_finding(code)

    def action_job(self) -> None:
        self.action_back()

    def command(self) -> str:
        return self.doctor.session.scan_command()
