"""A report on screen: findings with their symptoms folded beneath, what stays unexplained, and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding

from doctor.render.document import Target
from doctor.tui.diagnosis import outline
from doctor.tui.diagnosis.export import report_text
from doctor.tui.diagnosis.repro_script import show_repro
from doctor.tui.shell import keys
from doctor.tui.shell.bindings import bindings
from doctor.tui.shell.dialogs import ask, save
from doctor.tui.shell.doc import Doc
from doctor.tui.shell.editing import open_in_editor
from doctor.tui.shell.fix_copier import FixCopier
from doctor.tui.shell.frame import Frame
from doctor.tui.shell.messages import RowFolded, RowHighlighted, RowOpened
from doctor.tui.shell.panes import panes
from doctor.tui.shell.pseudonyms import Pseudonyms
from doctor.tui.shell.session import Outcome, Session
from doctor.tui.shell.views import Card, Rows
from doctor.tui.shell.widgets import Bar, Note


class ReportScreen(Frame):
    """A report on screen, wherever it came from; subclasses say how it is made."""

    AUTO_FOCUS = "#list"
    MOST_ROWS = 6  # of the list on a small screen: the rest is the fix's

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = bindings(
        "evidence", "follow", "copy-fix", "copy-card", "repro", "export", "redact", "editor", "job", "pace", "knowledge"
    )
    HINTS: ClassVar[tuple[str, ...]] = (
        "open",
        "evidence",
        "copy-fix",
        "search",
        "fold",
        "repro",
        "export",
        "job",
        "knowledge",
        "command-line",
        "language",
        "help",
        "quit",
    )

    def __init__(self) -> None:
        super().__init__()
        self.outcome: Outcome | None = None
        self._opened: frozenset[str] = frozenset()
        self._copier = FixCopier()
        self._pseudonyms: tuple[Outcome, Pseudonyms] | None = None
        self._key = ""
        self._moved = False  # until the reader chooses a row, the first finding is what is shown
        self.remark = ""

    def compose(self) -> ComposeResult:
        yield Bar()
        yield from panes()

    def on_mount(self) -> None:
        self.query_one(Note).show(self.remark)

    @property
    def session(self) -> Session:
        return self.doctor.session

    def place_told(self) -> str:
        """What is being diagnosed, for the bar."""
        return " ".join(self.session.paths)

    def speak(self) -> None:
        self.query_one("#card").border_title = self.word("detail")
        self.draw()

    def draw(self) -> None:
        """List and card of the present report; the cursor stays where it was."""
        view, card = self.query_one("#list", Rows), self.query_one("#card", Card)
        lang = self.doctor.language
        self.query_one(Note).show(self.remark)
        view.border_title = self.word("diagnosis")
        if self.outcome is None:
            self.bar("", self.place_told())
            return
        self.bar(outline.summary(self.outcome.report, lang), self.place_told())
        rows = outline.rows(self.outcome.report, lang, self._opened, view.room or outline.ONE_LINE, self.search_box.value)
        rows += outline.fault_rows(self.session.known.problems, lang)
        self._fit(view, len(rows))
        view.empty = self.word("nothing-fits" if self.search_box.value else "no-findings")
        view.set_rows(rows, self._key if self._moved else None)
        if any(row.key for row in rows):
            card.show(self._card(self.outcome.report, view.current), keep=view.current == self._key)
        else:
            card.show(self._card(self.outcome.report, ""))
        self._key = view.current
        self.update_hints()

    def _fit(self, view: Rows, rows: int) -> None:
        """Above its card the list takes no more room than it needs; alone it has the screen."""
        above = self.has_class("-narrow") and self.maximized is not view
        view.styles.height = max(1, min(self.MOST_ROWS, rows)) + 1 if above else None

    def watch_maximized(self) -> None:
        view = self.query_one("#list", Rows)
        self._fit(view, len(view.rows))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What makes no sense for the present row is no key of the screen."""
        del parameters
        if action == "repro":
            return self.outcome is not None and outline.has_repro(self.outcome.report, self._key)
        return True

    def useful(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for name in super().useful(names) if name != "job" or self._job is not None)

    @property
    def _job(self) -> outline.Json | None:
        job = self.outcome.report.get("job") if self.outcome is not None else None
        return job if isinstance(job, dict) and job.get("ranks") else None

    def _card(self, report: outline.Json, key: str) -> Doc:
        lang, known = self.doctor.language, self.session.known
        if key == outline.FAULTS:
            return outline.fault_card(known.problems, lang)
        return outline.card(report, key, lang, lambda kind: known.kind_title(kind).pick(lang))

    def on_row_highlighted(self, message: RowHighlighted) -> None:
        if message.view.id == "list" and self.outcome is not None and message.key != self._key:
            self._key, self._moved = message.key, True
            self._copier = FixCopier()
            self.query_one("#card", Card).show(self._card(self.outcome.report, message.key))
            self.update_hints()

    def on_row_folded(self, message: RowFolded) -> None:
        self._opened = self._opened ^ {message.key}
        self._moved = True
        self.draw()

    def on_row_opened(self, message: RowOpened) -> None:
        if self.outcome is not None and outline.places(self.outcome.report, message.key):
            self.action_evidence()
        else:
            self.query_one("#card", Card).focus()

    def go_to(self, key: str) -> None:
        """The row of that key, unfolding what hides it."""
        if self.outcome is None:
            return
        present = {row.key for row in outline.rows(self.outcome.report, self.doctor.language, self._opened)}
        if key not in present:
            roots = [f"finding:{f['id']}" for f in self.outcome.report["findings"] if f["role"] == "root"]
            self._opened = self._opened | set(roots)
        self._key, self._moved = key, True
        self.draw()
        self.query_one("#card", Card).show(self._card(self.outcome.report, key))

    def action_follow(self, number: int) -> None:
        target = self.query_one("#card", Card).link(number)
        if target is None:
            return
        if target.kind == "finding":
            self.go_to(f"finding:{target.id}")
        elif target.kind == "place":
            self._see(target)
        else:
            self.doctor.show_entry(target.id)

    def _see(self, target: Target) -> None:
        path, _, line = target.id.rpartition(":")
        source = self.session.source(path)
        if source is None:
            self.doctor.tell("gone", severity="error", why=path)
            return
        hits = self.session.hits(self.outcome, self._key, path)
        self.doctor.show_log(source, int(line), hits, self.pseudonyms())

    def action_evidence(self) -> None:
        if self.outcome is not None and (found := outline.places(self.outcome.report, self._key)):
            self._see(Target("place", f"{found[0][0]}:{found[0][1]}"))

    def action_copy_fix(self) -> None:
        found = outline.fixes(self.outcome.report, self._key, self.doctor.language) if self.outcome else []
        self._copier.copy(self.doctor, found)

    def action_copy_card(self) -> None:
        if (pseudonyms := self.pseudonyms()) is not None:
            key, plain = self._key, self.query_one("#card", Card).doc
            self.doctor.copy_for_others(
                plain.markdown, lambda: self._card(pseudonyms.report(), key).markdown(), self.word("the-card")
            )

    def action_repro(self) -> None:
        kind, _, code = self._key.partition(":")
        show_repro(self, code if kind == "finding" else "", self.outcome, self.text_told())

    def text_told(self) -> str:
        """The text that is diagnosed, when it is no log."""
        return ""

    def action_export(self) -> None:
        if self.outcome is not None:
            key = keys.shown_key(self.doctor.keymap_chosen.get("redact", keys.KEYS["redact"].keys))
            remark = self.word("export-redacted" if self.doctor.redact else "export-plain", key=key)
            ask(self.doctor, self.word("export-title"), "npu-doctor-report.md", self._export, remark)

    def _export(self, name: str) -> None:
        """In a thread: redacting a large report takes seconds."""
        app, lang, outcome, pseudonyms = self.doctor, self.doctor.language, self.outcome, self.pseudonyms()
        assert outcome is not None
        assert pseudonyms is not None
        redact = app.redact

        def work() -> None:
            try:
                told = report_text(pseudonyms.report() if redact else outcome.report, Path(name).suffix, lang)
            except Exception as error:  # noqa: BLE001 - a thread's error is shown, not thrown at the terminal
                app.call_from_thread(app.tell, "redact-failed", severity="error", why=f"{type(error).__name__}: {error}")
                return
            app.call_from_thread(save, app, name, told)

        self.run_worker(work, thread=True, group="export")

    def pseudonyms(self) -> Pseudonyms | None:
        """The pseudonyms of what is shown: the same ones until something else is."""
        if self.outcome is None:
            return None
        if self._pseudonyms is None or self._pseudonyms[0] is not self.outcome:
            self._pseudonyms = (self.outcome, Pseudonyms(self.outcome, self.session.known, self.session.own_words))
        return self._pseudonyms[1]

    def action_editor(self) -> None:
        found = outline.places(self.outcome.report, self._key) if self.outcome else []
        if found:
            open_in_editor(self.doctor, self.session.source(found[0][0]), found[0][1])

    def action_job(self) -> None:
        if self._job is not None:
            self.doctor.show_job(self._job)
        else:
            self.doctor.tell("no-job", severity="warning")

    def action_pace(self) -> None:
        self.doctor.show_pace()

    def tell_job(self) -> None:
        """Who looks at the job sees what was read since."""
        if self._job is not None:
            self.doctor.job_changed(self._job)

    def action_knowledge(self) -> None:
        kind, _, code = self._key.partition(":")
        self.doctor.show_entry(code if kind == "finding" else "")

    def command(self) -> str:
        return self.session.scan_command()
