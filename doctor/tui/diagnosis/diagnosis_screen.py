"""The diagnosis of logs while they are read: what was found so far, how far it has come, and the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding
from textual.worker import get_current_worker

from doctor.base import notation
from doctor.tui.diagnosis.report_screen import ReportScreen
from doctor.tui.shell.bindings import bindings
from doctor.tui.shell.messages import Failed, ScanFound, ScanStep
from doctor.tui.shell.session import Outcome
from doctor.tui.shell.widgets import Note


class DiagnosisScreen(ReportScreen):
    """Scans in a thread, shows what was found so far, and lets Esc stop it."""

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = bindings("rescan")

    def __init__(self) -> None:
        super().__init__()
        self._run = 0
        self.scanning = False

    def on_mount(self) -> None:
        self.action_rescan()

    def action_rescan(self) -> None:
        self._run += 1
        self.scanning = True
        self.remark = self.word("scanning" if self.session.loaded else "loading")
        self.query_one(Note).show(self.remark)
        run = self._run
        self.run_worker(lambda: self._scan(run), thread=True, exclusive=True, group="scan")

    def _scan(self, run: int) -> None:
        """In a thread: everything it says goes by message."""
        worker = get_current_worker()

        def found(over: bool) -> Callable[[Outcome], None]:
            return lambda outcome: void(self.post_message(ScanFound(run, outcome, over)))

        try:
            outcome = self.session.look(
                lambda step: void(self.post_message(ScanStep(run, step))),
                found(False),
                lambda: worker.is_cancelled or self._run != run,
            )
        except Exception as error:  # noqa: BLE001 - a thread's error is shown, not thrown at the terminal
            self.post_message(Failed(f"{type(error).__name__}: {error}"))
            return
        found(True)(outcome)

    def on_scan_step(self, message: ScanStep) -> None:
        if message.run == self._run and self.scanning:
            step = message.step
            width = 24
            done = step.share * width // 100
            bar = "█" * done + "░" * (width - done)
            told = [f"{step.share}%", f"{step.files}/{step.all_files}", notation.size(step.bytes)]
            if step.left is not None:
                told += [f"{notation.size(step.rate)}/s", self.word("left", time=notation.duration(step.left, self.session.lang))]
            self.remark = f"{self.word('scanning')} {bar} {'  '.join(told)}  Esc"
            self.query_one(Note).show(self.remark)

    def on_scan_found(self, message: ScanFound) -> None:
        if message.run != self._run:
            return
        self.outcome = message.outcome
        if message.over:
            self.scanning = False
            self.remark = "" if message.outcome.finished else self.word("cancelled")
        self.draw()
        self.tell_job()

    def on_failed(self, message: Failed) -> None:
        self.scanning = False
        self.remark = message.what
        self.draw()

    def speak(self) -> None:
        if self.outcome is not None and not self.scanning and self.remark:
            self.remark = self.word("cancelled")
        super().speak()

    def action_back(self) -> None:
        if self.scanning:
            self.workers.cancel_group(self, "scan")
            self.remark = self.word("cancelling")
            self.query_one(Note).show(self.remark)
        else:
            super().action_back()


def void(_: object) -> None:
    """Callbacks return nothing; messages tell whether they were taken."""
