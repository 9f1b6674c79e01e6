"""The lines of a log of any size. Only what is on screen is ever read; the place is an offset, not a line number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding
from textual.geometry import Region
from textual.strip import Strip
from textual.worker import get_current_worker

from doctor.read.logfile import PIECE, Cancelled, LogFile, LogRow, Pattern, never
from doctor.read.source import Hints
from doctor.render.layout import wrap
from doctor.tui.evidence.logfilter import LineFilter, Lines
from doctor.tui.shell.bindings import bindings
from doctor.tui.shell.line import Span, shown
from doctor.tui.shell.messages import CursorMoved, PageFound
from doctor.tui.shell.session import HitLine
from doctor.tui.shell.views import LineView
from parsers.line import read_line
from parsers.named import NamedTuple

GUTTER = 10  # cells before the text: the number of the line, the mark of a hit
MARGIN = 3  # lines seen above a place that was jumped to


class Piece(NamedTuple):
    """What of a row stands on one line of the screen; the text is that of the whole row."""

    row: LogRow
    text: str
    begin: int
    end: int
    first: bool


class LogView(LineView):
    """A window on a log. With a filter, pages are gathered in a thread; without one they are read on the spot."""

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = bindings(
        "left", "right", "wrap", "tail"
    )

    def __init__(self, **more: str) -> None:
        super().__init__(**more)
        self.lines: Lines | None = None
        self.rows: list[LogRow] = []
        self.cursor = 0  # offset of the row under the cursor
        self.column = 0
        self.wrapped = True
        self.following = False
        self.hits: Mapping[int, HitLine] = {}  # by offset
        self.pattern: Pattern | None = None
        self._run = 0
        self._page: list[Piece] = []
        self._numbers: dict[int, int] = {}  # by offset

    def count(self) -> int:
        return max(1, len(self.rows))

    @property
    def file(self) -> LogFile | None:
        return self.lines.log if self.lines else None

    def open(self, log: LogFile, hints: Hints, start: int) -> None:
        self.lines, self._numbers = Lines(log, hints), {}
        self.jump(start)

    def set_filter(self, wanted: LineFilter | None) -> None:
        if self.lines is not None:
            self.lines = Lines(self.lines.log, self.lines.hints, wanted)
            self.jump(self.cursor)

    def jump(self, start: int) -> None:
        """The row that begins at an offset under the cursor, some rows above it on screen."""
        self._go(lambda cancelled: self._target(start, cancelled))

    def _target(self, start: int, cancelled: Cancelled) -> int | None:
        assert self.lines is not None
        if self.lines.filter is None:
            return start
        row = self.lines.at_or_after(start, cancelled) or self.lines.before(start, cancelled)
        return row.start if row else None

    def _go(self, find: Callable[[Cancelled], int | None], what: str = "jump") -> None:
        """Finds a place and the rows around it, at once or in a thread when a filter may make it long, and shows them."""
        lines, shown_now, height = self.lines, [] if what == "jump" else self.rows, self.height
        if lines is None:
            return
        self._run += 1
        run = self._run
        if lines.filter is None:
            start = find(never)
            self._arrive(start, _page(lines, start, what, shown_now, height, never), what)
            return

        def work() -> None:
            worker = get_current_worker()
            start = find(lambda: worker.is_cancelled)
            rows = _page(lines, start, what, shown_now, height, lambda: worker.is_cancelled)
            self.post_message(PageFound(start, rows, run, what))

        self.run_worker(work, thread=True, exclusive=True, group="page")

    def on_page_found(self, message: PageFound) -> None:
        message.stop()
        if message.run == self._run:
            self._arrive(message.start, message.rows, message.what)

    def _arrive(self, start: int | None, rows: list[LogRow], what: str) -> None:
        if start is None:
            if what == "jump":
                self.rows = []
                self.refresh()
            return
        self.cursor, self.rows = start, rows
        self.refresh()
        self.post_message(CursorMoved())

    def on_resize(self, event: events.Resize) -> None:
        del event
        if self.lines is not None and self.rows:
            self.rows = self.lines.page(self.rows[0].start, self.height)
            if self.cursor not in [r.start for r in self.rows]:
                self.jump(self.cursor)
            self.refresh()

    # What is drawn

    def render_lines(self, crop: Region) -> list[Strip]:
        room = max(1, self.room - GUTTER)
        self._page = self._drawn(room)  # once for all lines of a drawing: rows are wrapped together
        self._numbers = self._numbered()
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        base, room, drawn = self.named_style(""), self._drawn_room, self._page
        bar = Segment(" ", base + self.named_style("thumb") if self._thumbed(y) else base)
        if y >= len(drawn):
            return Strip([Segment(" " * room, base), bar])
        piece = drawn[y]
        row = piece.row
        over = self.cover("cursor" if self.has_focus else "cursor-away") if row.start == self.cursor else None
        number = self._numbers.get(row.start) if piece.first else None
        mark = "▶" if row.start in self.hits and piece.first else " "
        told = f"{number:>{GUTTER - 2}} " if number is not None else " " * (GUTTER - 1)
        segments = [Segment(told, base + self.named_style("dim")), Segment(mark, base + self.named_style("key"))]
        for text, name in self._spans(piece):
            style = base + self.named_style(name) if name else base
            segments.append(Segment(text, style + over if over and name != "hit" else style))
        strip = Strip(segments).crop_extend(0, room, base + over if over else base)
        return Strip([*strip.simplify(), bar])

    def _thumbed(self, y: int) -> bool:
        """Where in the log the cursor is: of gigabytes one line of the bar."""
        log = self.file
        return log is not None and log.size > 0 and y == (self.height - 1) * self.cursor // log.size

    def _numbered(self) -> dict[int, int]:
        """The numbers of the rows, as far as they can be told without reading much."""
        log, seen = self.file, self._numbers
        found: dict[int, int] = {}
        before: LogRow | None = None
        for row in self.rows if log is not None else ():
            if before is not None and row.start == before.end and before.start in found:
                found[row.start] = found[before.start] + (before.end - before.start < PIECE)  # pieces of one line share its number
            elif row.start in seen:
                found[row.start] = seen[row.start]
            elif log is not None and log.known(row.start) and (number := log.number(row.start)) is not None:
                found[row.start] = number
            before = row
        return found

    def _drawn(self, room: int) -> list[Piece]:
        """Rows and what of them stands on each line of the screen."""
        if not self.wrapped:
            return [self._unwrapped(row) for row in self.rows]
        found: list[Piece] = []
        height = self.height
        start = next((i for i, row in enumerate(self.rows) if row.start == self.cursor), 0)
        for at, row in enumerate(self.rows):
            found += [self._unwrapped(row)] if _is_table(row.raw) else _pieces(row, room)
            if at >= start and len(found) > height * 2:
                break
        first = next((i for i, one in enumerate(found) if one.row.start == self.cursor), 0)
        last = max((i for i, one in enumerate(found) if one.row.start == self.cursor), default=0)
        top = min(max(0, last - height + 1), first)
        return found[top : top + height]

    def _unwrapped(self, row: LogRow) -> Piece:
        text = shown(row.text)
        return Piece(row, text, min(self.column, len(text)), len(text), True)

    def _spans(self, piece: Piece) -> Iterable[Span]:
        """The text in pieces: what matched, and the rest in the colour of its level."""
        row, text = piece.row, piece.text
        marks: list[tuple[int, int, str]] = []
        for mark in hit.marks if (hit := self.hits.get(row.start)) is not None else ():
            at = text.find(shown(mark)) if len(mark) > 1 else -1
            if at >= 0:
                marks.append((at, at + len(shown(mark)), "hit"))
        if self.pattern is not None:
            marks += [(begin, end, "hit") for begin, end in self.pattern.spans(text)]
        if level := _level(row) if piece.first else "":
            word = text.lower().find(level, 0, 200)
            if word >= 0:
                marks.append((word, word + len(level), level))
        if not piece.first:
            yield Span("  ")
        at = piece.begin
        for begin, end, style in sorted(marks):
            begin, end = max(begin, at), min(end, piece.end)
            if begin < end:
                yield Span(text[at:begin])
                yield Span(text[begin:end], style)
                at = end
        yield Span(text[at : piece.end])

    # Moving

    def action_down(self) -> None:
        self._step(1)

    def action_up(self) -> None:
        self._step(-1)

    def _step(self, way: int) -> None:
        lines, cursor = self.lines, self.cursor
        if lines is None:
            return
        self.following = False

        def find(cancelled: Cancelled) -> int | None:
            end = lines.log.end_of(cursor)
            row = lines.before(cursor, cancelled) if way < 0 else lines.at_or_after(end, cancelled)
            return row.start if row else None

        self._go(find, "down" if way > 0 else "up")

    def action_page_down(self) -> None:
        if self.lines is None or not self.rows:
            return
        lines, start = self.lines, self.rows[-1].start
        self._go(lambda _: start, "page")
        if not lines.log.end_of(start) < lines.log.size:
            self.action_last()

    def action_page_up(self) -> None:
        if self.lines is None or not self.rows:
            return
        lines, top, height = self.lines, self.rows[0].start, max(1, self.height - 1)
        self.following = False
        self._go(lambda cancelled: lines.up(top, height, cancelled), "page")

    def action_first(self) -> None:
        self.following = False
        self.jump(0)

    def action_last(self) -> None:
        lines = self.lines
        if lines is None:
            return

        def find(cancelled: Cancelled) -> int | None:
            row = lines.before(lines.log.size, cancelled)
            return row.start if row else None

        self._go(find, "last")

    def action_left(self) -> None:
        self.column = max(0, self.column - 20)
        self.refresh()

    def action_right(self) -> None:
        self.column += 20
        self.refresh()

    def action_wrap(self) -> None:
        self.wrapped, self.column = not self.wrapped, 0
        self.refresh()

    def action_tail(self) -> None:
        """Stays at the end while the log grows."""
        self.following = not self.following
        if self.following:
            self.action_last()
        self.post_message(CursorMoved())

    def poll(self) -> None:
        """Looks whether the log grew."""
        if self.file is not None and self.file.grown():
            if self.following:
                self.action_last()
            elif self.rows and len(self.rows) < self.height and self.lines is not None and self.lines.filter is None:
                self.rows = self.lines.page(self.rows[0].start, self.height)
                self.refresh()

    @property
    def current(self) -> LogRow | None:
        return next((row for row in self.rows if row.start == self.cursor), None)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        at = event.y - self.gutter.top
        if not self.wrapped and 0 <= at < len(self.rows):
            self._arrive(self.rows[at].start, self.rows, "up")

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._step(1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._step(-1)


def _level(row: LogRow) -> str:
    line = read_line(row.text[:2048])
    return line.level if line.level in ("fatal", "error", "warning") else ""


def _pieces(row: LogRow, room: int) -> list[Piece]:
    """A row wrapped at its words, each piece with its place in the text: what is marked may go on in the next one."""
    text, at = shown(row.text), 0
    found: list[Piece] = []
    for written in wrap(text, max(10, room - 2)):
        begin = max(at, text.find(written, at)) if written else at
        at = begin + len(written)
        found.append(Piece(row, text, begin, at, not found))
    return found


def _is_table(raw: bytes) -> bool:
    """A row of a table with borders: wrapped, its columns would not stand beneath each other."""
    return raw.startswith((b"+-", b"+=", b"| ", b"|-", b"|=")) and raw.rstrip().endswith((b"|", b"+"))


def _page(
    lines: Lines, start: int | None, what: str, shown_now: list[LogRow], height: int, cancelled: Cancelled
) -> list[LogRow]:
    """The rows to be seen with the one that begins at `start`: those that are, or a new page around it."""
    if start is None:
        return shown_now
    if what in ("up", "down") and any(row.start == start for row in shown_now):
        return shown_now
    above = {"jump": min(MARGIN, height // 3), "down": height - 1, "last": height - 1}.get(what, 0)
    top = lines.up(start, above, cancelled)
    rows = lines.page(top, height, cancelled)
    if len(rows) < height and top > 0 and what != "page":  # the end of the log: the room above is used
        rows = lines.page(lines.up(top, height - len(rows), cancelled), height, cancelled)
    return rows
