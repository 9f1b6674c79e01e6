"""Widgets that draw lines of spans: a list with a cursor, a card. Only the lines on screen are ever rendered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from doctor.render.document import Target
from doctor.tui.shell.bindings import bindings
from doctor.tui.shell.doc import Doc
from doctor.tui.shell.line import BLANK, Line, Row, RowsOf, between, folded, shown, width
from doctor.tui.shell.messages import RowFolded, RowHighlighted, RowOpened
from doctor.tui.shell.themes import FEW

STYLES = (
    "title", "id", "label", "dim", "fatal", "error", "warning", "info", "good", "key", "link", "code", "code-comment",
    "code-string", "code-number", "code-keyword", "code-name", "log", "matched", "hit", "goal", "cursor", "cursor-away", "head", "thumb",
)  # fmt: skip
# Screens have the styles, not their parts: they are worked out once, and every list and card draws with the same ones.
STYLE_CLASSES = {f"line--{name}" for name in STYLES}
FILLED = ("cursor", "cursor-away", "thumb", "fatal", "hit", *(n for n in STYLES if n.startswith("code")))  # on a ground of their own


class LineView(Widget, can_focus=True):
    """Draws `line_at(y)` for every visible y. Text is never markup: spans become segments as they are.

    Scrolls by itself: what it shows never takes part in the layout of the screen, so that other lines cost only their
    drawing. The last column is the place of the scroll bar.
    """

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = bindings(
        "down", "up", "page-down", "page-up", "first", "last"
    )
    ALLOW_MAXIMIZE = True

    def count(self) -> int:
        raise NotImplementedError

    def line_at(self, y: int, room: int) -> Line:
        raise NotImplementedError

    def row_style(self, y: int) -> str:
        """The name of a style that lies over a whole line."""
        del y
        return ""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self.top = self.left = 0  # the line and the column that the view begins with
        self._drawn_room = 0
        self._styles_for: tuple[object, ...] = ()
        self._styles_named: dict[str, Style] = {}

    def named_style(self, name: str) -> Style:
        """The style of a name, or of the widget itself."""
        style = self._styles_named.get(name)
        if style is None:
            partial = name not in FILLED
            style = self.screen.get_component_rich_style(f"line--{name}", partial=partial) if name else self.rich_style
            self._styles_named[name] = style
        return style

    def cover(self, name: str) -> Style:
        """What lies over a whole line. Its text keeps its colours, unless they are the terminal's: nobody knows those."""
        style = self.named_style(name)
        return style if self.app.theme in FEW else Style(bgcolor=style.bgcolor)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Styles hold until theme, focus or rules change: looked at once a drawing, not once a word."""
        state = (self.app.theme, self.has_focus, self.screen)
        if state != self._styles_for:
            self._styles_for, self._styles_named = state, {}
        self._drawn_room = self.room
        return super().render_lines(crop)

    def notify_style_update(self) -> None:
        self._styles_named = {}
        super().notify_style_update()

    @property
    def height(self) -> int:
        """The lines that are seen."""
        return max(1, self.scrollable_content_region.height)

    @property
    def room(self) -> int:
        """The cells that a line has."""
        return max(0, self.scrollable_content_region.width - 1)

    def render_line(self, y: int) -> Strip:
        room, base, at = self._drawn_room, self.named_style(""), self.top + y
        bar = Segment(" ", base + self.named_style("thumb") if self._thumbed(y) else base)
        if at >= self.count():
            return Strip([Segment(" " * room, base), bar])
        over = self.row_style(at)
        cover = self.cover(over) if over else None
        segments = []
        for text, name in self.line_at(at, room):
            style = base + self.named_style(name) if name else base
            segments.append(Segment(shown(text), style + cover if cover and name not in FILLED else style))
        fill = base + cover if cover else base
        strip = Strip(segments)
        if strip.cell_length > self.left + room > 1:  # there is more to the right
            strip = strip.crop_extend(self.left, self.left + room - 1, fill)
            strip = Strip([*strip, Segment("›", fill + self.named_style("key"))])
        else:
            strip = strip.crop_extend(self.left, self.left + room, fill)
        return Strip([*strip.simplify(), bar])

    def _thumbed(self, y: int) -> bool:
        """Whether the scroll bar's thumb is on a line of the view."""
        count, height = self.count(), self.height
        if count <= height:
            return False
        size = max(1, height * height // count)
        begin = round((height - size) * self.top / (count - height))
        return begin <= y < begin + size

    def look_at(self, top: int, left: int | None = None) -> None:
        """Another part of the lines, as far as there are any."""
        top = max(0, min(top, self.count() - self.height))
        left = self.left if left is None else max(0, left)
        if (top, left) != (self.top, self.left):
            self.top, self.left = top, left
            self.refresh()

    def resized(self) -> None:
        """Called when the content or the size changed."""
        self.look_at(self.top)

    def on_resize(self, event: events.Resize) -> None:
        del event
        self.resized()
        self.refresh()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.look_at(self.top + 3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.look_at(self.top - 3)

    def action_down(self) -> None:
        self.look_at(self.top + 1)

    def action_up(self) -> None:
        self.look_at(self.top - 1)

    def action_page_down(self) -> None:
        self.look_at(self.top + max(1, self.height - 1))

    def action_page_up(self) -> None:
        self.look_at(self.top - max(1, self.height - 1))

    def action_first(self) -> None:
        self.look_at(0)

    def action_last(self) -> None:
        self.look_at(self.count())


class Rows(LineView):
    """A list with a cursor."""

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = bindings("open", "fold")

    def __init__(self, rows: Sequence[Row] = (), empty: str = "", **more: str) -> None:
        super().__init__(**more)
        self.rows: Sequence[Row] = rows
        self.cursor = 0
        self.empty = empty

    def count(self) -> int:
        return len(self.rows) or self.height

    def line_at(self, y: int, room: int) -> Line:
        if not self.rows:
            told = folded(self.empty, room, "dim")
            return told[y] if y < len(told) else BLANK
        row = self.rows[y]
        return between(row.left, row.right, room)

    def row_style(self, y: int) -> str:
        if not self.rows or not (y == self.cursor or (self.current and self.rows[y].of == self.current)):
            return ""
        return "cursor" if self.has_focus else "cursor-away"

    @property
    def current(self) -> str:
        """The key of the row under the cursor; empty when there is none."""
        return self.rows[self.cursor].key if self.cursor < len(self.rows) else ""

    def set_rows(self, rows: Sequence[Row], keep: str | None = None) -> None:
        """New rows. The cursor stays on the row of key `keep`, else goes to the first that can take it."""
        self.rows = rows
        keys = rows.keys if isinstance(rows, RowsOf) else [r.key for r in rows]
        if keep and keep in keys:
            self.cursor = keys.index(keep)
        else:
            self.cursor = next((i for i, k in enumerate(keys) if k), 0)
        self.resized()
        self.refresh()
        self.post_message(RowHighlighted(self, self.current))

    def move_to(self, at: int, step: int = 1) -> None:
        """The cursor to a row, or the next one in the direction that can take it."""
        at = max(0, min(at, len(self.rows) - 1))
        while 0 <= at < len(self.rows) and not self.rows[at].key:
            at += step
        if not 0 <= at < len(self.rows) or at == self.cursor:
            self._reveal()
            return
        before, self.cursor = self.cursor, at
        for line in (before, at):
            self.refresh(Region(0, line - self.top, self.size.width, self._end(line) - line))
        self._reveal()
        self.post_message(RowHighlighted(self, self.current))

    def select(self, key: str) -> None:
        for at, row in enumerate(self.rows):
            if row.key == key:
                self.move_to(at)
                return

    def _end(self, at: int) -> int:
        """Behind the last line of the row that begins there."""
        key, end = self.rows[at].key, at + 1
        while end < len(self.rows) and key and self.rows[end].of == key:
            end += 1
        return end

    def _reveal(self) -> None:
        before = self.rows[self.cursor - 1] if self.cursor else None
        first = self.cursor - 1 if before is not None and not before.key and not before.of else self.cursor
        if self.cursor < self.height and all(not row.key for row in self.rows[: self.cursor]):
            first = max(0, self._end(self.cursor) - self.height)  # what stands above the first row belongs to it
        last = min(self._end(self.cursor), self.cursor + self.height)
        if first < self.top:
            self.look_at(first)
        elif last > self.top + self.height:
            self.look_at(last - self.height)

    def resized(self) -> None:
        super().resized()
        if self.rows:
            self._reveal()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def action_down(self) -> None:
        self.move_to(self.cursor + 1)

    def action_up(self) -> None:
        self.move_to(self.cursor - 1, -1)

    def action_page_down(self) -> None:
        self.move_to(self.cursor + max(1, self.height - 1), -1)

    def action_page_up(self) -> None:
        self.move_to(self.cursor - max(1, self.height - 1), 1)

    def action_first(self) -> None:
        self.move_to(0)

    def action_last(self) -> None:
        self.move_to(len(self.rows) - 1, -1)

    def action_open(self) -> None:
        if self.current:
            self.post_message(RowOpened(self, self.current))

    def action_fold(self) -> None:
        if self.current:
            self.post_message(RowFolded(self, self.current))

    def on_click(self, event: events.Click) -> None:
        at = event.y - self.gutter.top + self.top
        while 0 < at < len(self.rows) and self.rows[at].of:
            at -= 1
        if not 0 <= at < len(self.rows) or not self.rows[at].key:
            return
        if at == self.cursor:
            self.action_open()
        else:
            self.move_to(at)


class Card(LineView):
    """A card, laid out for the width of its pane. Commands are never broken: what is too wide is scrolled to."""

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = bindings("left", "right")

    def __init__(self, **more: str) -> None:
        super().__init__(**more)
        self.doc = Doc("")
        self._lines: list[Line] = []
        self._room = 0

    def count(self) -> int:
        return max(1, len(self._lines))

    def line_at(self, y: int, room: int) -> Line:
        del room
        return self._lines[y] if y < len(self._lines) else BLANK

    def show(self, doc: Doc, keep: bool = False) -> None:
        """Another card, from its top; `keep`: the same one in other words, from where it was."""
        self.doc = doc
        self._room = 0
        if not keep:
            self.top = self.left = 0
        self.resized()
        self.refresh()

    def resized(self) -> None:
        room = self.room
        if room > 0 and room != self._room:
            self._room = room
            self._lines = self.doc.layout(room)
        super().resized()

    def action_left(self) -> None:
        self.look_at(self.top, self.left - 8)

    def action_right(self) -> None:
        widest = max((width(line) for line in self._lines), default=0)
        self.look_at(self.top, max(0, min(self.left + 8, widest - self.room + 1)))

    def link(self, number: int) -> Target | None:
        """Where the link of that number leads."""
        return self.doc.links[number - 1] if 0 < number <= len(self.doc.links) else None
