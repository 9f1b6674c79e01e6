"""What error lines and exceptions mean, read once for each shape of them: rows like those of tables, for lines nobody knows.

Asked about lines that report an error, whoever claims them: a signal may know no more of a line than a part. An exception
is read with its frames, which stand above it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.read.encoding import decode
from doctor.scan.clusters import template
from doctor.scan.error_lines import is_error
from doctor.scan.harvest import Place
from doctor.scan.tablescan import Cells
from doctor.scan.window_lines import WindowLines, line_breaks
from doctor.scan.windows import LOOK_BACK
from kb.model import Signal
from parsers.lazy import lazy
from parsers.line import read_line
from parsers.traceback_forms import EXCEPTION

if TYPE_CHECKING:
    from parsers import meaning

MAX_SHAPES = 200
MAX_EXCEPTIONS = 40
_FOLLOWING = 6
_BELOW = 4 << 10  # bytes of an exception's message that may follow
_HEAD = lazy(
    r"^\[ ?[A-Z]{3,10} ?\] ?[A-Z0-9_]{1,32}(?:\([^)\n]{0,120}\))?: ?[\d:.T -]{19,32}(?:\[[^\]\n]{1,300}\])? ?\d{0,12} ?(?:\[[\w:. -]{1,60}\] ?){0,4}"
)
"""What stands before the words of a line of CANN: level, time, where it was written, and in which thread."""
_TABLE = "meaning."
_NO_ERROR = ("W", "Possible Cause", "Solution", "TraceBack", "Rectify", "The function call", "- Ascend")  # of CANN's blocks


class MeaningScan:
    """The rows of meaning of one range of a source."""

    def __init__(self, signals: tuple[Signal, ...]) -> None:
        self._wanted = any(s.table.startswith(_TABLE) for s in signals)
        self._shapes: set[str] = set()
        self._exceptions = 0

    def rows(self, lines: WindowLines, start: int, eol: int, place: Place) -> tuple[Cells, ...]:
        """What a line says, if it reports an error and is the first one of its shape."""
        if not self._wanted or len(self._shapes) >= MAX_SHAPES or not _tells(place):
            return ()
        shape = template(place.text)
        if shape in self._shapes:
            return ()
        self._shapes.add(shape)
        from parsers import meaning  # most logs hold no error

        said = self._said(lines, start, eol, place)
        if not meaning.asks(said):
            return ()
        found = meaning.read(said if said.type else said._replace(following=_following(lines, eol)))
        return tuple((("table", reading.table), *reading.cells) for reading in found)

    def _said(self, lines: WindowLines, start: int, eol: int, place: Place) -> meaning.Said:
        from parsers.meaning import Said

        if self._exceptions < MAX_EXCEPTIONS and EXCEPTION.match(place.text) is not None:
            self._exceptions += 1
            if (said := _raised(lines, start, eol)) is not None:
                return said
        text = place.text if place.kind != "plog" else _HEAD.sub("", place.text, count=1)
        return Said(text)


def _tells(place: Place) -> bool:
    """Does a line report an error? Blocks of CANN do, which carry no level; those of its warnings begin with a W."""
    if place.kind == "message":
        return place.level not in ("info", "debug", "warning") and not place.text.lstrip().startswith(_NO_ERROR)
    return is_error(place)


def _following(lines: WindowLines, eol: int) -> tuple[str, ...]:
    """A few lines below, peeled."""
    below = lines.window.data[eol + 1 : eol + 1 + _BELOW].split(b"\n")[:_FOLLOWING]
    return tuple(read_line(decode(raw)).text for raw in below)


def _raised(lines: WindowLines, start: int, eol: int) -> meaning.Said | None:
    """The exception that a line names, with its frames."""
    from parsers.meaning import said_by
    from parsers.traceback import failures

    data = lines.window.data
    above = data[max(0, start - LOOK_BACK) : start]
    if len(above) < LOOK_BACK:
        above = lines.window.before[len(above) - LOOK_BACK :] + above
    text = above + data[start : eol + _BELOW]
    at = line_breaks(above, 0, len(above)) + 1
    for failure in failures(decode(raw) for raw in text.split(b"\n")):
        for part in failure.parts:
            if part.at == at:
                return said_by(failure, part)
    return None
