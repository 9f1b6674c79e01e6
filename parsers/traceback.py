"""Python tracebacks, and the last words of C++ and of the interpreter, from many processes that share a terminal.

    (Worker_TP0 pid=611) ERROR 08-22 12:00:00 [core.py:100] Traceback (most recent call last):
    (Worker_TP1 pid=612) ERROR 08-22 12:00:00 [core.py:100] Traceback (most recent call last):
    (Worker_TP0 pid=611) ERROR 08-22 12:00:00 [core.py:100]   File "/w/run.py", line 7, in step
    (Worker_TP0 pid=611) ERROR 08-22 12:00:00 [core.py:100]     self.model(batch)
    (Worker_TP0 pid=611) ERROR 08-22 12:00:00 [core.py:100] RuntimeError: NPU function error: x, error code is 507035

A record is a run of lines of one writer; `tracebacks` joins what interleaving tore apart and says what was raised
where.

>>> first = tracebacks(__doc__.splitlines())[0]
>>> first.type, first.message, first.frames[-1].function, first.lines
('RuntimeError', 'NPU function error: x, error code is 507035', 'step', (3, 5, 6, 7))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from parsers.lazy import lazy
from parsers.line import read_line
from parsers.parsed import Line, Record
from parsers.runs import Format, begins_with, runs, same_owner

KIND = "traceback"

_HEADER = lazy(r"[^\n]{0,400}?Traceback \(most recent call last\):?\s*$")
_MARGIN = lazy(r"\s*(?:[|+] |\+-\+-{4,} ?\d{0,4} ?-{0,40}|\|\s*$|\+-{4,}\s*$)")
_FRAME = lazy(r'\s*File "(?P<file>[^"\n]{1,600})", line (?P<line>\d{1,9})(?:,? in (?P<function>[^\n]{1,200}))?')
_C_FRAME = lazy(
    r"\s*frame #\d+: (?P<function>.{1,400}?)(?: \+ 0x[0-9a-f]+)?(?: \((?:0x[0-9a-f]+ )?in "
    r"(?P<file>[^)\n]{1,300})\))?\s*$"
)
_CARETS = lazy(r"\s*[~^][~^\s]*$")
_RAISED = lazy(
    r"\s*(?P<type>(?:[A-Za-z_]\w{0,60}\.){0,12}[A-Z]\w{0,80}(?:\([A-Za-z_.]{1,80}\))?)(?::(?: (?P<message>.*))?)?\s*$"
)
_TERMINATE = lazy(
    r"\s*terminate called (?:after throwing an instance of '(?P<type>[^']{1,200})'|recursively"
    r"|without an active exception)"
)
_WHAT = lazy(r"\s*what\(\): +(?P<message>.*)")
_FATAL = lazy(
    r"\s*(?P<type>Fatal Python error|Segmentation fault|Bus error|Illegal instruction|Aborted)\b:? ?(?P<message>.*)"
)
_CHAIN = lazy(r"\s*(?:During handling of the above exception|The above exception was the direct cause)")
_REPEATS = lazy(r"\s*\[Previous line repeated (?P<count>\d{1,9}) more times?\]")


@dataclass(frozen=True, slots=True)
class Frame:
    """One place of the call chain, outermost first; `code` is the printed source line, "" when it was not printed."""

    file: str
    line: int
    function: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class Traceback:
    """What one writer printed of one failure. `causes` are the exceptions it was chained from, the original first."""

    head: Line
    lines: tuple[int, ...]
    frames: tuple[Frame, ...]
    type: str | None
    """None when the text ends before the exception is named."""
    message: str
    causes: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class _Open:
    head: Line
    lines: list[int] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    type: str | None = None
    message: str = ""
    causes: list[tuple[str, str]] = field(default_factory=list)
    chained: bool = False
    native: bool = False

    def closed(self) -> Traceback:
        return Traceback(self.head, tuple(self.lines), tuple(self.frames), self.type, self.message, tuple(self.causes))


def tracebacks(lines: Iterable[str], first_line: int = 1) -> tuple[Traceback, ...]:
    """The failures in the lines in the order in which they begin, each writer's lines joined."""
    open_of: dict[tuple[str | None, int | None] | int, _Open] = {}
    done: list[Traceback] = []
    for number, raw in enumerate(lines, first_line):
        line = read_line(raw)
        if line.kind == "plog":
            continue
        owner = line.pid if line.pid is not None and line.worker else (line.worker, line.rank)
        current = open_of.get(owner)
        text = _bare(line.text)
        if _HEADER.match(text) or (
            (native := _TERMINATE.match(text) or _FATAL.match(text)) and line.kind == "traceback"
        ):
            if current is not None and current.chained:
                if current.type is not None:
                    current.causes.append((current.type, current.message))
                current.frames, current.type, current.message, current.chained = [], None, "", False
            elif current is None or current.type is not None or not _HEADER.match(text):
                if current is not None:
                    done.append(current.closed())
                current = open_of[owner] = _Open(line)
            if not _HEADER.match(text) and native:
                current.native = True
                current.type = native.groupdict().get("type") or "terminate"
                current.message = native.groupdict().get("message") or ""
            current.lines.append(number)
        elif current is not None and _take(current, text, line):
            current.lines.append(number)
        elif current is not None and current.type is not None and text.strip() and not _CHAIN.match(text):
            done.append(current.closed())
            del open_of[owner]
    done += [current.closed() for current in open_of.values()]
    return tuple(sorted(done, key=_start))


def _start(found: Traceback) -> int:
    return found.lines[0]


def _bare(text: str) -> str:
    """Without the margin that exception groups draw."""
    if text.lstrip()[:1] in ("|", "+") and (margin := _MARGIN.match(text)) is not None:
        return text[margin.end() :]
    return text


def _take(current: _Open, text: str, line: Line) -> bool:
    """Adds a line to the open failure, or says that it is not part of it."""
    if not text.strip():
        return False
    if _CHAIN.match(text):
        current.chained = True
    elif (found := _FRAME.match(text)) is not None:
        current.frames.append(Frame(found["file"], int(found["line"]), (found["function"] or "").strip()))
    elif (found := _C_FRAME.match(text)) is not None:
        current.frames.append(Frame(found["file"] or "", 0, found["function"]))
    elif current.native and (found := _WHAT.match(text)) is not None:
        current.message = found["message"]
    elif (
        (current.native and text.startswith(("Exception raised from ", "Thread 0x", "Current thread 0x")))
        or _CARETS.match(text)
        or _REPEATS.match(text)
    ):
        pass
    elif current.type is None and line.kind in ("traceback", "message") and (found := _RAISED.match(text)) is not None:
        current.type, current.message = found["type"], found["message"] or ""
    elif text[:1] in " \t":
        last = current.frames[-1] if current.frames else None
        if current.type is None and last is not None and not last.code:
            current.frames[-1] = Frame(last.file, last.line, last.function, text.strip())
    elif current.type is None and current.frames and (found := _RAISED.match(text)) is not None:
        current.type, current.message = found["type"], found["message"] or ""
    else:
        return current.type is None and not current.frames
    return True


def _begins(line: Line) -> bool:
    return line.kind == "traceback"


def _continues(open_lines: Sequence[Line], line: Line, gap: int) -> bool:
    if not same_owner(open_lines[0], line):
        return False
    last = next((known.text for known in reversed(open_lines) if known.text.strip()), "")
    if _CHAIN.match(line.text) or _CHAIN.match(last):
        return gap <= 2 and line.kind in ("traceback", "launcher")
    if gap:
        return False
    text = _bare(line.text)
    if line.kind == "traceback":
        return not _HEADER.match(text) or text is not line.text
    if line.kind not in ("text", "launcher"):
        return False
    # An exception whose name does not say so (queue.Empty) is known by its place: right below the frames.
    return text[:1] in (" ", "\t") or (last[:1] in (" ", "\t") and _RAISED.match(text) is not None)


FORMAT = Format(KIND, _begins, _continues)


def sniff(lines: Iterable[str]) -> bool:
    """Whether the text opens with a traceback."""
    return begins_with(FORMAT, lines)


def parse(lines: Iterable[str]) -> Iterator[Record]:
    """Runs of traceback lines as records of this kind, everything else as text."""
    return runs((FORMAT,), lines)
