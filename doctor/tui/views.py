"""Widgets that draw lines of spans: a list with a cursor, a card. Only the lines on screen are ever rendered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from doctor.tui.bind import bindings
from doctor.tui.doc import Doc, Target
from doctor.tui.line import BLANK, Line, Row, Span, between, shown, width
from doctor.tui.messages import RowFolded, RowHighlighted, RowOpened

STYLES = (
    "title", "id", "label", "dim", "fatal", "error", "warning", "info", "good", "key", "link", "code", "code-comment",
    "code-string", "code-number", "code-keyword", "code-name", "log", "hit", "goal", "cursor", "cursor-away", "head",
)  # fmt: skip


class LineView(ScrollView, can_focus=True):
    """Draws `line_at(y)` for every visible y. Text is never markup: spans become segments as they are."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"line--{name}" for name in STYLES}
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
        self._styles_for: tuple[str, bool] = ("", False)
        self._styles_named: dict[str, Style] = {}

    def named_style(self, name: str) -> Style:
        """The style of a name, or of the widget itself; kept until theme, focus or rules change."""
        state = (self.app.theme, self.has_focus)
        if state != self._styles_for:
            self._styles_for, self._styles_named = state, {}
        style = self._styles_named.get(name)
        if style is None:
            partial = not name.startswith("cursor")
            style = self.get_component_rich_style(f"line--{name}", partial=partial) if name else self.rich_style
            self._styles_named[name] = style
        return style

    def notify_style_update(self) -> None:
        self._styles_named = {}
        super().notify_style_update()

    @property
    def room(self) -> int:
        """The cells that a line has, scroll bar deducted."""
        return self.scrollable_content_region.width

    def render_line(self, y: int) -> Strip:
        x, top = self.scroll_offset
        room = self.room
        base = self.named_style("")
        at = top + y
        if at >= self.count():
            return Strip.blank(room, base)
        over = self.row_style(at)
        segments = []
        for text, name in self.line_at(at, room):
            style = base + self.named_style(name) if name else base
            segments.append(Segment(shown(text), style + self.named_style(over) if over else style))
        fill = base + self.named_style(over) if over else base
        return Strip(segments).crop_extend(x, x + room, fill).simplify()

    def resized(self) -> None:
        """Sets the size of what can be scrolled over; called when the content or the width changed."""
        self.virtual_size = Size(self.room, self.count())

    def on_resize(self, event: events.Resize) -> None:
        del event
        self.resized()

    def action_down(self) -> None:
        self.scroll_relative(y=1, animate=False)

    def action_up(self) -> None:
        self.scroll_relative(y=-1, animate=False)

    def action_page_down(self) -> None:
        self.scroll_relative(y=max(1, self.size.height - 1), animate=False)

    def action_page_up(self) -> None:
        self.scroll_relative(y=-max(1, self.size.height - 1), animate=False)

    def action_first(self) -> None:
        self.scroll_to(y=0, animate=False)

    def action_last(self) -> None:
        self.scroll_to(y=self.count(), animate=False)


class Rows(LineView):
    """A list with a cursor."""

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = bindings("open", "fold")

    def __init__(self, rows: Sequence[Row] = (), empty: str = "", **more: str) -> None:
        super().__init__(**more)
        self.rows: Sequence[Row] = rows
        self.cursor = 0
        self.empty = empty

    def count(self) -> int:
        return max(1, len(self.rows))

    def line_at(self, y: int, room: int) -> Line:
        if not self.rows:
            return (Span(self.empty, "dim"),)
        row = self.rows[y]
        return between(row.left, row.right, room)

    def row_style(self, y: int) -> str:
        if y != self.cursor or not self.rows:
            return ""
        return "cursor" if self.has_focus else "cursor-away"

    @property
    def current(self) -> str:
        """The key of the row under the cursor; empty when there is none."""
        return self.rows[self.cursor].key if self.cursor < len(self.rows) else ""

    def set_rows(self, rows: Sequence[Row], keep: str | None = None) -> None:
        """New rows. The cursor stays on the row of key `keep`, else goes to the first that can take it."""
        self.rows = rows
        keys = [r.key for r in rows]
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
        self.refresh_line(before)
        self.refresh_line(at)
        self._reveal()
        self.post_message(RowHighlighted(self, self.current))

    def select(self, key: str) -> None:
        for at, row in enumerate(self.rows):
            if row.key == key:
                self.move_to(at)
                return

    def _reveal(self) -> None:
        top, height = self.scroll_offset.y, max(1, self.size.height)
        first = self.cursor - 1 if self.cursor and not self.rows[self.cursor - 1].key else self.cursor
        if first < top:
            self.scroll_to(y=first, animate=False, force=True)
        elif self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False, force=True)

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
        self.move_to(self.cursor + max(1, self.size.height - 1), -1)

    def action_page_up(self) -> None:
        self.move_to(self.cursor - max(1, self.size.height - 1), 1)

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
        at = event.y - self.gutter.top + self.scroll_offset.y
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
        self.resized()
        if not keep:
            self.scroll_to(y=0, animate=False, force=True)
        self.refresh()

    def resized(self) -> None:
        room = self.room
        if room > 0 and room != self._room:
            self._room = room
            self._lines = self.doc.layout(room)
        widest = max((width(line) for line in self._lines), default=0)
        self.virtual_size = Size(max(room, widest), self.count())

    def action_left(self) -> None:
        self.scroll_relative(x=-8, animate=False)

    def action_right(self) -> None:
        self.scroll_relative(x=8, animate=False)

    def link(self, number: int) -> Target | None:
        """Where the link of that number leads."""
        return self.doc.links[number - 1] if 0 < number <= len(self.doc.links) else None
