"""The machine: lights by group, what fails beneath them, and the fix beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding

from doctor.tui.env import light_rows
from doctor.tui.shell.bindings import bindings
from doctor.tui.shell.doc import Doc
from doctor.tui.shell.fix_copier import FixCopier
from doctor.tui.shell.look_screen import LookScreen
from doctor.tui.shell.messages import RowFolded, RowHighlighted, RowOpened
from doctor.tui.shell.panes import panes
from doctor.tui.shell.views import Card, Rows
from doctor.tui.shell.widgets import Bar, Note
from kb.knowledge import Knowledge

Json = dict[str, Any]


def this_machine(known: Knowledge) -> Json:
    """The report on the machine that this program runs on."""
    from doctor.env import report, verdict
    from doctor.env.look_at import Asked, machine

    looked = machine(Asked(), known)
    return report.report(looked, known, verdict.results(looked, known.checks()))


class EnvironmentScreen(LookScreen):
    """A row a group, unfolded to its checks."""

    AUTO_FOCUS = "#list"
    LOOKING = "env.looking"

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = bindings("copy-fix", "copy-card", "rescan")
    HINTS: ClassVar[tuple[str, ...]] = ("open", "fold", "copy-fix", "rescan", "knowledge", "command-line", "language", "back", "help", "quit")

    def __init__(self, look: Callable[[Knowledge], Json], command: Sequence[str] = ("env",)) -> None:
        super().__init__(look, command)
        self.report: Json | None = None
        self._opened: frozenset[str] = frozenset()
        self._key = ""
        self._copier = FixCopier()

    def compose(self) -> ComposeResult:
        yield Bar()
        yield from panes()

    def found(self, made: Json) -> None:
        self.report = made
        self.remark = "" if made["verdict"] != "inconclusive" else self.word("env.no-ascend")
        first = made["findings"][:1]
        self._key = self._key or (f"finding:{first[0]['id']}" if first else "")

    def speak(self) -> None:
        self.query_one("#list").border_title = self.word("env.machine")
        self.query_one("#card").border_title = self.word("detail")
        self.query_one(Note).show(self.remark)
        self.draw()

    def draw(self) -> None:
        if self.report is None:
            self.bar("env")
            return
        lang = self.doctor.language
        self.bar(f"env · {light_rows.summary(self.report, lang)}")
        view = self.query_one("#list", Rows)
        view.empty = self.word("nothing-fits")
        view.set_rows(light_rows.rows(self.report, lang, self._opened, self.search_box.value), self._key or None)
        self._key = view.current
        self.query_one("#card", Card).show(self._card(self._key))

    def _card(self, key: str) -> Doc:
        assert self.report is not None
        lang, known = self.doctor.language, self.doctor.session.known
        return light_rows.card(self.report, key, lang, lambda kind: known.kind_title(kind).pick(lang))

    def on_row_highlighted(self, message: RowHighlighted) -> None:
        if message.view.id == "list" and self.report is not None and message.key != self._key:
            self._key = message.key
            self._copier = FixCopier()
            self.query_one("#card", Card).show(self._card(message.key))

    def on_row_folded(self, message: RowFolded) -> None:
        if message.key.startswith("group:"):
            self._opened = self._opened ^ {message.key}
            self.speak()

    def on_row_opened(self, message: RowOpened) -> None:
        if message.key.startswith("group:") and message.key not in self._opened:
            self.on_row_folded(RowFolded(message.view, message.key))
        else:
            self.query_one("#card", Card).focus()

    def action_copy_fix(self) -> None:
        self._copier.copy(self.doctor, light_rows.fixes(self.report, self._key, self.doctor.language) if self.report else [])

    def action_copy_card(self) -> None:
        if self.report is not None:
            text = self.query_one("#card", Card).doc.markdown()
            self.doctor.copy_for_others(lambda: text, lambda: self._hidden(text), self.word("the-card"))

    def _hidden(self, text: str) -> str:
        """The card with pseudonyms."""
        from doctor.answer.redact import of_texts

        session = self.doctor.session
        return of_texts(session.known, own=session.own_words).text(text)
