"""Paste or type an error: the diagnosis follows every change."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult
from textual.worker import get_current_worker

from doctor.read import discover
from doctor.tui.diagnosis.report_screen import ReportScreen
from doctor.tui.shell.messages import Failed, ScanFound
from doctor.tui.shell.panes import panes
from doctor.tui.shell.views import Rows
from doctor.tui.shell.widgets import Bar, typed

MAX_PASTED = 2 << 20  # characters; more belongs into a file


class TextBox(TextArea):
    """A text of many lines that takes no control characters."""

    def __init__(self, text: str = "", **more: Any) -> None:
        super().__init__(typed(text), **more)

    def edit(self, edit: Edit) -> EditResult:
        edit.text = typed(edit.text)
        return super().edit(edit)


class PasteScreen(ReportScreen):
    """The text above, what it means beneath it."""

    AUTO_FOCUS = "#text"

    HINTS: ClassVar[tuple[str, ...]] = (
        "back",
        "evidence",
        "copy-fix",
        "repro",
        "export",
        "knowledge",
        "language",
        "help",
        "quit",
    )

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self._text = text
        self._run = 0

    def compose(self) -> ComposeResult:
        yield Bar()
        yield TextBox(self._text, id="text", classes="pane", soft_wrap=True, tab_behavior="focus")
        yield from panes()

    def on_mount(self) -> None:
        self.query_one("#text", TextArea).cursor_blink = not self.doctor.low_bandwidth
        if self._text:
            self._diagnose()

    def place_told(self) -> str:
        return self.word("paste")

    def speak(self) -> None:
        self.query_one("#text").border_title = self.word("paste")
        if not self.query_one("#text", TextArea).text.strip():
            self.remark = self.word("paste-empty")
        super().speak()

    def on_text_area_changed(self) -> None:
        self._diagnose()

    def _diagnose(self) -> None:
        text = self.query_one("#text", TextArea).text[:MAX_PASTED]
        self._run += 1
        run = self._run
        self._text = text
        if not text.strip():
            self.outcome = None
            self.remark = self.word("paste-empty")
            self.query_one("#list", Rows).set_rows(())
            self.draw()
            return
        self.run_worker(lambda: self._work(text, run), thread=True, exclusive=True, group="text")

    def _work(self, text: str, run: int) -> None:
        """In a thread. A text that was typed on meanwhile is not worth finishing."""
        if get_current_worker().is_cancelled:
            return
        try:
            outcome = self.session.text(text)
        except Exception as error:  # noqa: BLE001 - a thread's error is shown, not thrown at the terminal
            self.post_message(Failed(f"{type(error).__name__}: {error}"))
            return
        self.post_message(ScanFound(run, outcome, True))

    def on_scan_found(self, message: ScanFound) -> None:
        if message.run == self._run:
            self.outcome = message.outcome
            self.session.sources = (discover.given_text(self._text),)
            self.remark = ""
            self.draw()

    def on_failed(self, message: Failed) -> None:
        self.remark = message.what
        self.draw()

    def text_told(self) -> str:
        return self._text

    def leave_search(self, clear: bool) -> None:
        super().leave_search(clear)
        if self.focused is self.query_one("#text") and self.outcome is not None:
            self.set_focus(self.query_one("#list", Rows))

    def action_back(self) -> None:
        if self.focused is not None and self.focused.id == "text" and self.outcome is not None:
            self.query_one("#list", Rows).focus()
        else:
            super().action_back()

    def command(self) -> str:
        return self.session.command_line("scan", "-")
