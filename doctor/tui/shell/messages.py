"""What the parts of the interface tell each other: one class an event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.message import Message

if TYPE_CHECKING:
    from textual.widget import Widget

    from doctor.read.logfile import LogFile, LogRow
    from doctor.tui.shell.session import HitLine, Outcome, Step


@dataclass
class RowHighlighted(Message):
    """The cursor of a list came to a row."""

    view: Widget
    key: str

    @property
    def control(self) -> Widget:
        return self.view

    def can_replace(self, message: Message) -> bool:
        """Only the last of a burst is worth drawing a card for."""
        return isinstance(message, RowHighlighted) and message.view is self.view


@dataclass
class RowOpened(Message):
    """Enter, or a click on the row of the cursor."""

    view: Widget
    key: str


@dataclass
class RowFolded(Message):
    """Space or an arrow: fold or unfold the row."""

    view: Widget
    key: str


@dataclass
class Failed(Message):
    """Work in a thread came to an end by an error that the user has to know."""

    what: str


@dataclass
class Looked(Message):
    """A look is over; `run` tells looks apart."""

    run: int
    made: Any


@dataclass
class ScanStep(Message):
    """How far a scan has come; `run` tells scans apart, so that what a stopped one still says is not heard."""

    run: int
    step: Step

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, ScanStep)


@dataclass
class ScanFound(Message):
    """The findings so far, or at the end."""

    run: int
    outcome: Outcome
    over: bool

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, ScanFound) and not message.over


@dataclass
class WatchTold(Message):
    """One look at growing logs is over; no outcome when nothing changed. `over`: there is nothing more to come."""

    outcome: Outcome | None
    over: bool


@dataclass
class LogOpened(Message):
    """A log was opened. Where the asked line begins, unless that has to be looked for first."""

    log: LogFile
    start: int | None


@dataclass
class LineFound(Message):
    """Where the asked line of a log begins."""

    start: int


@dataclass
class HitsFound(Message):
    """Where lines that a finding rests on begin."""

    starts: dict[int, HitLine]


@dataclass
class PageFound(Message):
    """A thread gathered the rows of a page; no start: there is nothing further."""

    start: int | None
    rows: list[LogRow]
    run: int
    what: str


@dataclass
class MatchFound(Message):
    """A search came to an end; None: there is no match."""

    start: int | None
    run: int


@dataclass
class LineKnown(Message):
    """The number of a line, counted in a thread."""

    start: int
    number: int


@dataclass
class CursorMoved(Message):
    """The cursor of a log came to another line."""
