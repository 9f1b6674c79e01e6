"""What error lines and exceptions mean, read once for each shape of them: rows like those of tables, for lines nobody knows.

Asked about lines that report an error, whoever claims them: a signal may know no more of a line than a part. An exception
is read with its frames, which stand above it.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from doctor.read.encoding import decode
from doctor.scan.clusters import template
from doctor.scan.error_lines import is_error
from doctor.scan.harvest import Caller, Place
from doctor.scan.raised import RaisedScan, caller, evidence, row
from doctor.scan.tablescan import Cells
from doctor.scan.window_lines import WindowLines
from kb.model import RAISED, Signal
from parsers.lazy import lazy
from parsers.line import read_line
from parsers.named import NamedTuple
from parsers.traceback_forms import EXCEPTION

if TYPE_CHECKING:
    from parsers import meaning

MAX_SHAPES = 200
_FOLLOWING = 6
_BELOW = 4 << 10  # bytes of an exception's message that may follow
_HEAD = lazy(
    r"^\[ ?[A-Z]{3,10} ?\] ?[A-Z0-9_]{1,32}(?:\([^)\n]{0,120}\))?: ?[\d:.T -]{19,32}(?:\[[^\]\n]{1,300}\])? ?\d{0,12} ?(?:\[[\w:. -]{1,60}\] ?){0,4}"
)
"""What stands before the words of a line of CANN: level, time, where it was written, and in which thread."""
_PANICKED = lazy(r"^(?:thread '[^'\n]{0,80}' (?:\(\d{1,10}\) )?)?panicked at \S{1,300}:\d{1,7}:\d{1,5}: ")
"""What stands before the words of a panic of Rust."""
_TABLE = "meaning."
_FIGURES = "ried to allocate"
"""Of such a line its figures decide what it means: each is a shape of its own."""
_NO_ERROR = ("W", "Possible Cause", "Solution", "TraceBack", "Rectify", "The function call", "- Ascend")  # of CANN's blocks

Asked = tuple[Signal, ...]


class Told(NamedTuple):
    """A row that a line tells, where it stands, and the leaves that are asked."""

    cells: Cells
    place: Place
    asked: Asked
    shape: str = ""
    """Of an exception: which leaves it fulfils is told to `fulfils`."""


class MeaningScan:
    """The rows of meaning, and the exceptions, of one range of a source."""

    def __init__(self, rows: Mapping[str, Asked], tables: AbstractSet[str]) -> None:
        self._rows = rows
        self._wanted = any(table.startswith(_TABLE) for table in tables)
        self._shapes: set[str] = set()
        self._raised = RaisedScan()
        self.callers: dict[str, Caller] = {}  # by shape of the exception
        self._fulfilled: dict[str, Asked] = {}
        self._meanings: dict[str, tuple[Told, ...]] = {}  # of exceptions: every process that raises one has it

    @property
    def full(self) -> bool:
        """Is a line that is no exception not asked any more?"""
        return not self._wanted or len(self._shapes) >= MAX_SHAPES

    def rows(self, lines: WindowLines, start: int, eol: int, place: Place) -> tuple[Told, ...]:
        """What a line says, if it reports an error: its meaning of the first one of a shape, an exception of every one."""
        if not _tells(place):
            return ()
        shape, shown = template(place.text), place
        found = self._raised.of(shape, lines, start, eol) if place.kind != "plog" and EXCEPTION.match(place.text) else None
        told: tuple[Told, ...] = ()
        if found is not None:
            shown = place._replace(text=evidence(found, place.text))
            if found.said is None:
                shape = f"{shape}\n"  # without its frames: what these say is asked when they come
            if shape not in self.callers and (made := caller(found, place)) is not None:
                self.callers[shape] = made
            if leaves := self._fulfilled.get(shape, self._rows[RAISED]):
                told = (Told(row(found, place.text), shown, leaves, shape),)
        meant_by = place.text if _FIGURES in place.text else shape
        if meant_by in self._meanings:
            return told + tuple(t._replace(place=shown) for t in self._meanings[meant_by])
        if self.full or meant_by in self._shapes:
            return told
        self._shapes.add(meant_by)
        said = found.said if found is not None and meant_by == shape else None
        meant = self._meant(said or self._said(lines, eol, place), shown)
        if found is not None:
            self._meanings[meant_by] = meant
        return told + meant

    def fulfils(self, shape: str, leaves: Asked) -> None:
        """Other leaves need not be asked again about an exception of this shape."""
        self._fulfilled[shape] = leaves

    def _meant(self, said: meaning.Said, place: Place) -> tuple[Told, ...]:
        from parsers import meaning  # most logs hold no error

        readings = meaning.read(said) if meaning.asks(said) else ()
        return tuple(Told((("table", r.table), *r.cells), place, self._rows[r.table]) for r in readings)

    def _said(self, lines: WindowLines, eol: int, place: Place) -> meaning.Said:
        from parsers import meaning

        text = place.text if place.kind != "plog" else _HEAD.sub("", place.text, count=1)
        said = meaning.Said(_PANICKED.sub("", text, count=1) if "panicked at " in text else text)
        return said._replace(following=_following(lines, eol)) if meaning.asks(said) else said


def _tells(place: Place) -> bool:
    """Does a line report an error? Blocks of CANN do, which carry no level; those of its warnings begin with a W."""
    if place.kind == "message":
        return place.level not in ("info", "debug", "warning") and not place.text.lstrip().startswith(_NO_ERROR)
    return is_error(place)


def _following(lines: WindowLines, eol: int) -> tuple[str, ...]:
    """A few lines below, peeled."""
    below = lines.window.data[eol + 1 : eol + 1 + _BELOW].split(b"\n")[:_FOLLOWING]
    return tuple(read_line(decode(raw)).text for raw in below)
