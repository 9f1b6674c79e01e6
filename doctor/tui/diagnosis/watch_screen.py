"""Logs that are being written, or a pipe: the diagnosis follows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.worker import get_current_worker

from doctor.base import notation
from doctor.render import parts
from doctor.tui.diagnosis import outline
from doctor.tui.diagnosis.report_screen import ReportScreen
from doctor.tui.shell.messages import Failed, WatchTold
from doctor.tui.shell.session import Outcome
from doctor.tui.shell.widgets import Note
from doctor.watch.live_diagnosis import Live


class WatchScreen(ReportScreen):
    """Looks again and again in a thread; a look that takes long delays the next one, it never runs beside it."""

    HINTS: ClassVar[tuple[str, ...]] = (
        "open", "fold", "evidence", "copy-fix", "repro", "export", "job", "knowledge", "language", "help", "quit",
    )  # fmt: skip

    def __init__(
        self, make: Callable[[], Live], interval: float = 1.0, piped: Callable[[], bool] | None = None
    ) -> None:
        super().__init__()
        self._make = make
        self._live: Live | None = None
        self._interval = interval
        self._piped = piped  # whether the pipe is still open
        self._busy = False
        self._known: set[str] = set()
        self._over = False

    def on_mount(self) -> None:
        self.remark = self.word("waiting")
        self.set_interval(self._interval, self.look)
        self.look()

    def look(self) -> None:
        """One look, unless one is under way."""
        if self._busy or self._over:
            return
        self._busy = True
        self.run_worker(self._look, thread=True, group="watch")

    def _look(self) -> None:
        worker = get_current_worker()
        try:
            over = self._piped is not None and not self._piped()  # asked before the look: what came last is still read
            if self._live is None:
                self._live = self._make()
            update = self._live.poll()
            if over:
                update = self._live.poll() or update
        except Exception as error:  # noqa: BLE001 - a thread's error is shown, not thrown at the terminal
            self.post_message(Failed(f"{type(error).__name__}: {error}"))
            return
        if not worker.is_cancelled:
            self.post_message(WatchTold(Outcome(update.report, update.diagnosis, over) if update else None, over))

    def on_watch_told(self, message: WatchTold) -> None:
        self._busy = False
        self._over = message.over
        assert self._live is not None
        if message.outcome is not None:
            first = self.outcome is None
            self.outcome = message.outcome
            self.session.sources = tuple(self._live.follower.sources)
            roots = {f["id"] for f in parts.roots(self.outcome.report)}
            for code in sorted(roots - self._known) if not first else ():
                finding = outline.find(self.outcome.report, code)
                if finding is not None:
                    self.doctor.tell(
                        "new-finding", severity="warning", id=code, title=finding["title"][self.doctor.language]
                    )
            self._known |= roots
        self._tell()
        if message.outcome is not None:
            self.draw()
            self.tell_job()

    def _tell(self) -> None:
        assert self._live is not None
        size = notation.size(self._live.size)
        if self._piped is not None:
            self.remark = "" if self._over else f"{self.word('reading-pipe')}  {size}"
        else:
            files = self._live.files
            told = self.word("watching-one") if files == 1 else self.word("watching", n=files)
            self.remark = f"{told}  {size}"
        self.query_one(Note).show(self.remark)

    def on_failed(self, message: Failed) -> None:
        self._busy = False
        self._over = True
        self.remark = message.what
        self.draw()

    def place_told(self) -> str:
        return "<stdin>" if self._piped is not None else super().place_told()

    def command(self) -> str:
        if self._piped is not None:
            return self.session.command_line("scan", "-")
        return self.session.command_line("watch", *self.session.paths)
