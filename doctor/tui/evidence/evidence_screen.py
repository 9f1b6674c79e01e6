"""The log at the line a finding rests on: what matched is marked, hits are stepped through, everything can be searched.

The line is shown as soon as it is found; the other hits are found while it is read. Nothing waits for anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.worker import get_current_worker

from doctor.base import notation
from doctor.read.logfile import BadPatternError, LogFile, Pattern, open_log
from doctor.read.source import Source
from doctor.tui.evidence import logfilter
from doctor.tui.evidence.logview import LogView
from doctor.tui.shell.bindings import bindings
from doctor.tui.shell.dialogs import ask
from doctor.tui.shell.editing import open_in_editor, pipe_to_shell
from doctor.tui.shell.frame import Frame
from doctor.tui.shell.line import shown
from doctor.tui.shell.messages import CursorMoved, Failed, HitsFound, LineFound, LineKnown, LogOpened, MatchFound
from doctor.tui.shell.pseudonyms import Pseudonyms
from doctor.tui.shell.session import HitLine
from doctor.tui.shell.widgets import Bar, Hints, Note, SearchBox

POLL_S = 1.0
FEW = 20  # hits that are found before they are shown
LAST = -1  # instead of a line number: the last line


class EvidenceScreen(Frame):
    """A log. What a scan counted leads to the line; else line breaks are counted in a thread, and the log is open meanwhile."""

    AUTO_FOCUS = "#log"

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = bindings(
        "filter", "next-hit", "previous-hit", "editor", "pipe", "copy", "redact"
    )
    HINTS: ClassVar[tuple[str, ...]] = (
        "next-hit",
        "search",
        "filter",
        "wrap",
        "tail",
        "editor",
        "pipe",
        "copy",
        "first",
        "last",
        "back",
        "help",
        "quit",
    )

    def __init__(
        self, source: Source, line: int = 1, hits: Sequence[HitLine] = (), pseudonyms: Pseudonyms | None = None
    ) -> None:
        super().__init__()
        self._pseudonyms = pseudonyms
        self.source, self.line, self.hit_lines = source, line, tuple(hits)
        self._starts: dict[int, HitLine] = {}
        self._known: tuple[int, int] | None = None  # an offset and its line number
        self._busy = ""
        self._opened: LogFile | None = None
        self._run = 0
        self._counting = False

    def compose(self) -> ComposeResult:
        yield Bar()
        yield LogView(id="log")
        yield Note(id="captures")
        yield SearchBox(id="search", classes="-asked", select_on_focus=False)
        yield Hints()

    @property
    def view(self) -> LogView:
        return self.query_one("#log", LogView)

    def on_mount(self) -> None:
        self.query_one("#captures", Note).show("")
        self._busy = self.word("searching")
        begun = self.doctor.session.begun.get(self.source.name, ())
        self.run_worker(lambda: self._open(begun), thread=True, exclusive=True, group="open")
        self.set_interval(POLL_S, self.view.poll)

    def _open(self, begun: Sequence[tuple[int, int]]) -> None:
        """In a thread: the file, the asked line, and where the other hits begin."""
        worker = get_current_worker()

        def cancelled() -> bool:
            return worker.is_cancelled

        try:
            log = open_log(self.source, max(1, self.line))
            log.learn(begun)
            start = log.last if self.line == LAST else log.offset(self.line, cancelled) if log.near(self.line) else None
            self.post_message(LogOpened(log, start))
            if start is None and (start := log.offset(self.line, cancelled)) is not None:
                self.post_message(LineFound(start))
            for few in (self.hit_lines[at : at + FEW] for at in range(0, len(self.hit_lines), FEW)):
                starts = {at: hit for hit in few if (at := log.offset(hit.line, cancelled)) is not None}
                self.post_message(HitsFound(starts))
        except OSError as error:
            self.post_message(Failed(self.word("gone", why=error.strerror or str(error))))

    def on_log_opened(self, message: LogOpened) -> None:
        self._opened = message.log
        self.view.hits = self._starts
        self.view.open(message.log, self.source.hints, message.start or 0)
        if message.start is not None:
            self._arrived(message.start)

    def on_line_found(self, message: LineFound) -> None:
        """The line that was asked for; who has gone elsewhere meanwhile stays there."""
        if self.view.cursor == 0:
            self._arrived(message.start)
            self.view.jump(message.start)
        else:
            self._busy = ""
            self.draw_bar()

    def _arrived(self, start: int) -> None:
        self._busy = ""
        if self.line != LAST:
            self._known = (start, self.line)
            self._starts.update((start, hit) for hit in self.hit_lines if hit.line == self.line)

    def on_hits_found(self, message: HitsFound) -> None:
        self._starts.update(message.starts)
        self.view.refresh()
        self.on_cursor_moved(CursorMoved())

    def on_failed(self, message: Failed) -> None:
        self._busy = message.what
        self.speak()

    def on_unmount(self) -> None:
        if self._opened is not None:
            self._opened.close()

    def speak(self) -> None:
        self.search_box.placeholder = self.word("log-search")
        self.draw_bar()

    def on_cursor_moved(self, message: CursorMoved) -> None:
        message.stop()
        self._count()
        self.draw_bar()
        hit = self._starts.get(self.view.cursor)
        told = ", ".join(f"{k}={v}" for k, v in hit.captures[:12]) if hit else ""
        self.query_one("#captures", Note).show(f"{self.word('captures')}: {shown(told)}" if told else "")

    def _count(self) -> None:
        """The number of the line under the cursor: at once when little has to be read, else in a thread."""
        log, cursor = self.view.file, self.view.cursor
        if log is None or (self._known and self._known[0] == cursor):
            return
        if log.known(cursor):
            number = log.number(cursor)
            self._known = (cursor, number) if number else None
            return
        self._known = None
        if self._counting:
            return
        self._counting = True

        def work() -> None:
            worker = get_current_worker()
            number = log.number(cursor, lambda: worker.is_cancelled)
            if number is not None:
                self.post_message(LineKnown(cursor, number))

        self.run_worker(work, thread=True, exclusive=True, group="count")

    def on_line_known(self, message: LineKnown) -> None:
        self._counting = False
        self.view.refresh()  # now with the numbers of its lines
        if message.start == self.view.cursor:
            self._known = (message.start, message.number)
            self.draw_bar()
        else:  # the cursor went on while its line was counted
            self._count()
            self.draw_bar()

    def draw_bar(self) -> None:
        log = self.view.file
        parts = []
        if log is not None:
            share = 100 * self.view.cursor // max(1, log.size)
            number = f"{self._known[1]:,}".replace(",", " ") if self._known else "..."
            parts.append(f"{self.word('at-line')} {number}  {share}%  {notation.size(log.size)}")
            if not log.whole:
                parts.append(self.word("part-of", a=log.first_line, b=log.number(log.last) or "?"))
            if self.view.lines is not None and self.view.lines.filter is not None:
                parts.append(f"[{self.view.lines.filter.text()}]")
            if self.view.following:
                parts.append(self.word("follow-on"))
        if self._busy:
            parts.append(self._busy)
        self.bar("  ".join(parts), self.source.name)

    # Hits and search

    def action_next_hit(self) -> None:
        self._hit(True)

    def action_previous_hit(self) -> None:
        self._hit(False)

    def _hit(self, forward: bool) -> None:
        """To the next match of the search when there is one, else to the next line of the finding."""
        cursor = self.view.cursor
        if self.view.pattern is not None:
            self._search(forward)
            return
        starts = sorted(self._starts)
        further = [s for s in starts if (s > cursor if forward else s < cursor)]
        if further:
            self.view.jump(further[0] if forward else further[-1])
        elif starts:
            self.view.jump(starts[0] if forward else starts[-1])

    def searched(self, text: str) -> None:
        if not text:
            self._no_search()
            return
        try:
            self.view.pattern = Pattern(text)
        except BadPatternError as error:
            self.doctor.tell("bad-pattern", severity="error", why=str(error))
            return
        self.view.refresh()
        self._search(True)

    def leave_search(self, clear: bool) -> None:
        super().leave_search(clear)
        if clear:
            self._no_search()

    def _no_search(self) -> None:
        self.workers.cancel_group(self, "search")
        self._busy = ""
        self.view.pattern = None
        self.view.refresh()
        self.draw_bar()

    def _search(self, forward: bool) -> None:
        log, pattern, cursor = self.view.file, self.view.pattern, self.view.cursor
        if log is None or pattern is None:
            return
        self._run += 1
        run = self._run
        self._busy = self.word("searching")
        self.draw_bar()

        def work() -> None:
            worker = get_current_worker()
            try:
                found = _around(log, pattern, cursor, forward, lambda: worker.is_cancelled)
            except TimeoutError:
                self.post_message(Failed(self.word("bad-pattern", why="timeout")))
                return
            if not worker.is_cancelled:
                self.post_message(MatchFound(found, run))

        self.run_worker(work, thread=True, exclusive=True, group="search")

    def on_match_found(self, message: MatchFound) -> None:
        if message.run != self._run:
            return
        self._busy = ""
        if message.start is None:
            self.doctor.tell("no-hit", severity="warning", text=self.view.pattern.text if self.view.pattern else "")
            self.draw_bar()
        else:
            self.view.jump(message.start)

    def action_filter(self) -> None:
        lines = self.view.lines
        present = lines.filter.text() if lines and lines.filter else ""
        ask(self.doctor, self.word("filter-title"), present, self._filtered, empty=True)

    def _filtered(self, text: str) -> None:
        try:
            wanted = logfilter.parse(text)
        except logfilter.BadFilterError as error:
            self.doctor.tell("filter-bad", severity="error", text=str(error))
            return
        self.view.set_filter(wanted)

    def action_editor(self) -> None:
        open_in_editor(self.doctor, self.source, self._known[1] if self._known else max(1, self.line))

    def action_pipe(self) -> None:
        """The lines that the filter leaves, from the selected one on."""
        lines = self.view.lines
        if lines is not None:
            start = self.view.cursor
            ask(self.doctor, self.word("pipe-title"), "", lambda command: pipe_to_shell(self.doctor, command, lines.whole(start), f"{self.source.name}:{self.line}"))

    def action_copy(self) -> None:
        row = self.view.current
        if row is not None:
            self.doctor.copy_for_others(lambda: row.text, lambda: self._hidden(row.text), self.word("the-line"))

    def _hidden(self, text: str) -> str:
        if self._pseudonyms is not None:
            return self._pseudonyms.text(text)
        from doctor.answer.redact import Redactor

        return Redactor(own=self.doctor.session.own_words).text(text)

    def command(self) -> str:
        import shlex

        number = self._known[1] if self._known else max(1, self.line)
        return f"sed -n {max(1, number - 5)},{number + 20}p -- {shlex.quote(self.source.name)}"


def _around(log: LogFile, pattern: Pattern, cursor: int, forward: bool, cancelled) -> int | None:  # type: ignore[no-untyped-def]
    """The next match behind (before) the row of the cursor, else the first (last) of the log."""
    begin = log.end_of(cursor) if forward else cursor
    found = log.find(pattern, begin, forward, cancelled)
    if found is None and not cancelled():
        found = log.find(pattern, 0 if forward else log.size, forward, cancelled)
    return found
