"""Exceptions as rows, and the leaves that ask for them: what was raised, whose code raised it, whose code called that."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from doctor.read.encoding import decode
from doctor.scan.harvest import Caller, Place
from doctor.scan.plan import PLAIN, REGEX_TIMEOUT_S
from doctor.scan.tablescan import Cells
from doctor.scan.window_lines import WindowLines, line_breaks
from doctor.scan.windows import LOOK_BACK
from kb.model import RAISED, Signal
from parsers.lazy import lazy
from parsers.named import NamedTuple
from parsers.patterns import compiled
from parsers.traceback_forms import EXCEPTION

if TYPE_CHECKING:  # most logs hold no exception: what reads them is only loaded for one
    from parsers.meaning import Said
    from parsers.raised import Blame

MAX_SHAPES = 200
"""Exceptions of different wording in one range; of each the frames of the first one are read."""
_AGAIN = 4
"""How often one of which no frames were seen is looked at again."""
BELOW = 4 << 10
"""Bytes of an exception's message that may follow its line."""
_CAPTURED = 180
"""Characters of what an exception says that titles and fixes name."""
_LONGEST = 2000
DROPPED = "ignored"
"""How an exception came that the interpreter dropped: only leaves that ask for that are told of it."""


class Thrown(NamedTuple):
    """One exception: who has a part in it, and what its words are when they are asked for their meaning."""

    who: Blame
    said: Said | None
    """None: the line stands alone, no frame above it."""
    below: str = ""
    """The first line of its words, where its own line has none."""


class RaisedScan:
    """The exceptions of one range of a source."""

    def __init__(self) -> None:
        self._known: dict[str, Thrown] = {}
        self._alone: dict[str, int] = {}  # how often an exception was read whose line stands alone

    def of(self, shape: str, lines: WindowLines, start: int, eol: int) -> Thrown | None:
        """The exception that a line names; of one wording the first frames stand for all. None: enough was read."""
        key = f"{shape}@{start}" if shape.rstrip().endswith("Error:") else shape  # whose words stand below are not alike by their line
        known = self._known.get(key)
        if known is None and len(self._known) < MAX_SHAPES:
            known = self._known[key] = _read(lines, start, eol)
        elif known is not None and known.said is None and (tries := self._alone.get(key, 0)) < _AGAIN:  # many log the message first, and then the traceback
            self._alone[key] = tries + 1
            known = self._known[key] = _read(lines, start, eol)
        return known


def row(found: Thrown, text: str) -> Cells:
    """The row of an exception, with the words of its own line."""
    from parsers.raised import cells

    named = EXCEPTION.match(text)
    type_, message = (named["type"], (named["message"] or "").strip() or found.below) if named is not None else ("", "")
    return (("table", RAISED), *cells(found.who, type_, message))


def evidence(found: Thrown, text: str) -> str:
    """The line with the place above it that raised: what a program refused stands there."""
    from parsers.raised import quoted

    said = f"{text.rstrip()} {found.below}" if found.below else text
    return (quoted(found.who) + said)[:_LONGEST]


_PASSED_ON = lazy(r"Caught \w{3,60} in (?:DataLoader worker process|replica|pin memory thread)\b")
"""What torch raises again in the parent: its frames are not those in which it failed, which stand below."""


def caller(found: Thrown, place: Place) -> Caller | None:
    """Who made the call that was refused; None where no frame tells."""
    from parsers.raised import place_of, shown

    spot = found.who.spot
    if spot is None or _PASSED_ON.search(place.text):
        return None
    seen = found.who.launch or spot
    return Caller(place.path, place.line, spot.package, f"{place_of(seen)}:{seen.line}"[:_CAPTURED], shown(seen)[:_CAPTURED], found.who.way)


def asked(signal: Signal, told: Cells) -> dict[str, str] | None:
    """What a leaf captures of an exception; None when it asks for another one. A user's pattern may raise TimeoutError."""
    from parsers.raised import PATTERNS, WORDS

    known = dict(told)
    if known["how"] == DROPPED and not any(key == "how" for key, _ in signal.where):
        return None
    captures: dict[str, str] = {}
    for key, wanted in signal.where:
        value = known.get(key)
        if value is None:
            return None
        if key in WORDS:
            if not set(wanted.split("|")) & _words(key, value):
                return None
        elif key in PATTERNS:
            found = _search(signal, wanted, value)
            if found is None:
                return None
            captures |= {name: text for name, text in found.groupdict().items() if text is not None}
    del known["table"]
    return {name: value[:_CAPTURED].rstrip() for name, value in (known | captures).items()}


def _words(key: str, value: str) -> set[str]:
    """By which words a cell answers: any package that was passed; a caller also by what it is."""
    if key == "caller":
        return {value, "user" if value == "user" else "library"}
    return set(value.split()) if key == "through" else {value}


@lru_cache(maxsize=1 << 10)
def _of(pattern: str) -> re.Pattern[str]:
    return compiled(pattern)


def _search(signal: Signal, pattern: str, text: str) -> re.Match[str] | None:
    if signal.trusted and len(text) <= PLAIN:
        return _of(pattern).search(text)
    import regex

    return regex.search(pattern, text, timeout=REGEX_TIMEOUT_S)  # type: ignore[no-any-return]


def _below(message: str) -> str:
    """What an exception says, whose own line says nothing: libraries begin their texts with a new line."""
    own, _, rest = message.partition("\n")
    return "" if own.strip() else next((line.strip() for line in rest.split("\n") if line.strip()), "")[:_CAPTURED]


def _read(lines: WindowLines, start: int, eol: int) -> Thrown:
    """The exception that a line names, with its frames, which stand above it."""
    from parsers.meaning import said_by
    from parsers.prefix import peel
    from parsers.raised import NOBODY, blame
    from parsers.traceback import failures
    from parsers.traceback_forms import IGNORED

    data = lines.window.data
    above = data[max(0, start - LOOK_BACK) : start]
    if len(above) < LOOK_BACK:
        above = lines.window.before[len(above) - LOOK_BACK :] + above
    text = above + data[start : eol + BELOW]
    at = line_breaks(above, 0, len(above)) + 1
    for failure in failures(decode(raw) for raw in text.split(b"\n")):
        # What an exception quotes of another one is a line of its message: it has the same frames.
        part = next((part for part in reversed(failure.parts) if 0 < part.at <= at), None)
        if part is not None and at in failure.lines:
            said = said_by(failure, part) if part.at == at and failure.how != DROPPED else None
            return Thrown(blame(failure, part), said, _below(part.message) if part.at == at else "")
    before = above.rstrip(b"\n").rpartition(b"\n")[2]
    if IGNORED.match(peel(decode(before)).text):  # dropped, and pasted without its frames
        return Thrown(NOBODY._replace(how=DROPPED), None)
    return Thrown(NOBODY, None)
