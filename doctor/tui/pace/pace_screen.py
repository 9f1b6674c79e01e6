"""The pace: read in a thread, drawn in rows; F5 reads again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding

from doctor.pace.verdict import Pace
from doctor.tui.pace import pace_rows
from doctor.tui.shell.bindings import bindings
from doctor.tui.shell.frame import Frame
from doctor.tui.shell.messages import Failed, PaceLooked
from doctor.tui.shell.views import Rows
from doctor.tui.shell.widgets import Bar, Hints, Note, SearchBox
from kb.knowledge import Knowledge


def of_paths(paths: Sequence[str], known: Knowledge) -> Pace:
    """The pace of the run whose logs these are."""
    from doctor.pace.look import look
    from doctor.pace.wordings import wordings
    from doctor.read.discover import discover

    found = discover(paths)
    return look(found.sources, found.skipped, wordings(known.pace()), lambda: None)


class PaceScreen(Frame):
    """What is said of a run, and its ranks by time."""

    AUTO_FOCUS = "#pace"

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = bindings("rescan")
    HINTS: ClassVar[tuple[str, ...]] = ("search", "rescan", "command-line", "language", "back", "help", "quit")

    def __init__(self, look: Callable[[Knowledge], Pace], command: Sequence[str] = ("pace",)) -> None:
        super().__init__()
        self._look, self._command = look, tuple(command)
        self._pace: Pace | None = None
        self._run = 0
        self._remark = ""

    def compose(self) -> ComposeResult:
        yield Bar()
        yield Note()
        yield Rows(id="pace", classes="pane")
        yield SearchBox(id="search", classes="-asked", select_on_focus=False)
        yield Hints()

    def on_mount(self) -> None:
        self.action_rescan()

    def action_rescan(self) -> None:
        self._run += 1
        run, known = self._run, self.doctor.session
        self._remark = self.word("pace.reading")
        self.query_one(Note).show(self._remark)

        def work() -> None:
            try:
                made = self._look(known.known)
            except Exception as error:  # noqa: BLE001 - a thread's error is shown, not thrown at the terminal
                self.post_message(Failed(f"{type(error).__name__}: {error}"))
                return
            self.post_message(PaceLooked(run, made))

        self.run_worker(work, thread=True, exclusive=True, group="pace")

    def on_pace_looked(self, message: PaceLooked) -> None:
        if message.run == self._run:
            self._pace, self._remark = message.pace, ""
            self.speak()

    def on_failed(self, message: Failed) -> None:
        self._remark = message.what
        self.query_one(Note).show(self._remark)

    def speak(self) -> None:
        view = self.query_one("#pace", Rows)
        view.border_title = self.word("pace.title")
        view.empty = self.word("nothing-fits")
        told = "" if self._pace is None or self._pace.verdict == "none" else pace_rows.summary(self._pace, self.doctor.language)
        self.bar(self.word("pace.title"))
        self.query_one(Note).show(self._remark or told)
        self.draw()

    def draw(self) -> None:
        view = self.query_one("#pace", Rows)
        if self._pace is not None:
            room = view.room or max(20, self.app.size.width - 6)
            view.set_rows(pace_rows.rows(self._pace, self.doctor.language, room, self.search_box.value), view.current or None)

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self.call_after_refresh(self.draw)  # the bars are as long as there is room

    def search_typed(self, text: str) -> None:
        del text
        self.draw()

    def command(self) -> str:
        return self.doctor.session.command_line(*self._command)
