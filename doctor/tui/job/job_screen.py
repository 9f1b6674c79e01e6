"""The job: every rank, who failed first, who only waits, on one line of time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding

from doctor.tui.job.timeline_rows import View, Window
from doctor.tui.shell.bindings import bindings
from doctor.tui.shell.frame import Frame
from doctor.tui.shell.messages import RowFolded, RowOpened
from doctor.tui.shell.panes import pane
from doctor.tui.shell.views import Rows
from doctor.tui.shell.widgets import Bar, Note

ZOOM, STEP = 0.5, 0.25


class JobScreen(Frame):
    """Groups of ranks that can be unfolded. Enter leads from who waits to whom it waits for, and from who failed to why."""

    AUTO_FOCUS = "#ranks"

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = bindings(
        "zoom-in", "zoom-out", "earlier", "later", "whole", "job", "pace"
    )
    HINTS: ClassVar[tuple[str, ...]] = (
        "open", "fold", "zoom-in", "zoom-out", "earlier", "later", "whole", "search", "pace", "language", "back", "help", "quit",
    )  # fmt: skip

    def __init__(self, job: Mapping[str, Any]) -> None:
        super().__init__()
        self._job = job
        self._view: View | None = None
        self._opened: frozenset[str] = frozenset()
        self._window: Window | None = None  # None: the whole time

    def compose(self) -> ComposeResult:
        yield Bar()
        yield from pane("ranks")

    @property
    def rows(self) -> Rows:
        return self.query_one("#ranks", Rows)

    @property
    def view(self) -> View:
        """The job in the present language, made ready once."""
        if self._view is None or self._view.lang != self.doctor.language:
            self._view = View(self._job, self.doctor.language)
        return self._view

    def speak(self) -> None:
        self.rows.border_title = self.word("job")
        self.rows.empty = self.word("nothing-fits")
        self.bar(self.view.summary())
        self.query_one(Note).show(self.view.headline())
        self.draw()

    def change(self, job: Mapping[str, Any]) -> None:
        """The same job, of which more was read."""
        self._job, self._view = job, None
        self.speak()

    def draw(self, keep: str = "") -> None:
        """The rows anew; the cursor stays."""
        room = self.rows.room or max(20, self.app.size.width - 6)
        made = self.view.rows(room, self._opened, self._window, self.search_box.value)
        self.rows.set_rows(made, keep or self.rows.current or None)

    def on_row_folded(self, message: RowFolded) -> None:
        """A group, or the group that a rank stands in."""
        key = message.key if message.key.startswith("group:") else self.view.home(message.key)
        if key:
            self._opened = self._opened ^ {key}
            self.draw(key)

    def on_row_opened(self, message: RowOpened) -> None:
        if code := self.view.finding(message.key):
            self.doctor.show_finding(code)
        elif peer := self.view.peer(message.key):
            self.go_to(peer)
        else:
            self.on_row_folded(RowFolded(message.view, message.key))

    def go_to(self, key: str) -> None:
        """The row of a process, unfolding what hides it."""
        if self.search_box.value:
            self.leave_search(clear=True)
        if home := self.view.home(key):
            self._opened = self._opened | {home}
        self.draw(key)

    def action_pace(self) -> None:
        self.doctor.show_pace()

    def action_zoom_in(self) -> None:
        self._zoom(ZOOM)

    def action_zoom_out(self) -> None:
        self._zoom(1 / ZOOM)

    def _zoom(self, factor: float) -> None:
        whole = self.view.whole
        self._see((self._window or Window(0.0, whole)).zoomed(factor, self.view.moment(self.rows.current), whole))

    def action_earlier(self) -> None:
        self._see((self._window or Window(0.0, self.view.whole)).moved(-STEP, self.view.whole))

    def action_later(self) -> None:
        self._see((self._window or Window(0.0, self.view.whole)).moved(STEP, self.view.whole))

    def action_whole(self) -> None:
        self._see(None)

    def _see(self, window: Window | None) -> None:
        self._window = None if window is not None and window.end - window.begin >= self.view.whole else window
        self.draw()

    def action_job(self) -> None:
        self.action_back()

    def command(self) -> str:
        return self.doctor.session.scan_command()
