"""A screen that shows what one look in a thread found; F5 looks again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from doctor.tui.shell.frame import Frame
from doctor.tui.shell.messages import Failed, Looked
from doctor.tui.shell.widgets import Note
from kb.knowledge import Knowledge


class LookScreen(Frame):
    """Looks when it opens and when it is asked to; a look that a later one has overtaken is not heard."""

    LOOKING: ClassVar[str]  # the word for what it does meanwhile

    def __init__(self, look: Callable[[Knowledge], Any], command: Sequence[str]) -> None:
        super().__init__()
        self._look, self._command = look, tuple(command)
        self._run = 0
        self.remark = ""

    def found(self, made: Any) -> None:
        """Takes what the look found; it is drawn by `speak` then."""

    def on_mount(self) -> None:
        self.action_rescan()

    def action_rescan(self) -> None:
        self._run += 1
        run, known = self._run, self.doctor.session
        self.remark = self.word(self.LOOKING)
        self.query_one(Note).show(self.remark)

        def work() -> None:
            try:
                made = self._look(known.known)
            except Exception as error:  # noqa: BLE001 - a thread's error is shown, not thrown at the terminal
                self.post_message(Failed(f"{type(error).__name__}: {error}"))
                return
            self.post_message(Looked(run, made))

        self.run_worker(work, thread=True, exclusive=True, group="look")

    def on_looked(self, message: Looked) -> None:
        if message.run == self._run:
            self.remark = ""
            self.found(message.made)
            self.speak()

    def command(self) -> str:
        return self.doctor.session.command_line(*self._command)

    def on_failed(self, message: Failed) -> None:
        self.remark = message.what
        self.query_one(Note).show(self.remark)
