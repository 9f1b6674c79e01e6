"""The error block of CANN, and the lines torch_npu puts before it.

    [ERROR] 2026-03-02-10:21:44 (PID:51877, Device:2, RankID:-1) ERR00100 PTA call acl api failed
    [Error]: The vector core execution is abnormal.
            Rectify the fault based on the error information in the ascend log.
    EZ9999: Inner Error!
    EZ9999: [PID: 51877] 2026-03-02-10:21:44.118.305 The error from device(chipId:2) ...[FUNC:F][FILE:f.cc][LINE:7]
            TraceBack (most recent call last):
            Kernel launch failed.[FUNC:Launch][FILE:kernel.cc][LINE:41]

Codes moved with the releases: `EI0006: text`, `EI0006: [PID: n] time text`, `EI0006[PID: n] time Title(EI0006):
text`, and since 8.5 `[PID: n] time Title(EI0006): text` without a code in front. A block ends at a blank line, at
another code, at any other log line.

>>> from textwrap import dedent
>>> block = blocks(dedent(chr(10).join(__doc__.splitlines()[2:9])).splitlines())[0]
>>> block.codes, block.pid, block.device, block.trace[-1].function
(('ERR00100', 'EZ9999'), 51877, 2, 'Launch')
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from parsers.lazy import lazy
from parsers.line import read_line
from parsers.parsed import Line, Record
from parsers.runs import Format, begins_with, runs, same_owner

KIND = "message"

_CODE = lazy(
    r"(?:Warning: ?)?(?:(?P<front>[EW][0-9A-Z]\d{4})(?=[:\[ (])|\[ERROR\].{0,120}?\) (?P<torch>ERR\d{5})\b"
    r"|\[PID: ?\d+\] \S{10,30} (?P<title>[^():\n]{0,120}?)\((?P<titled>[EW][0-9A-Z]\d{4})\):)"
)
_PLACE = lazy(
    r"\[FUNC: ?(?P<function>[^\]]{0,200})\] ?\[FILE: ?(?P<file>[^\]]{0,300})\] ?\[LINE: ?(?P<line>\d{1,7})\](?:\[THREAD: ?\d{1,19}\])?\s*$"
)
_CAUSE = lazy(r"\s*Possible Cause ?: ?(?P<cause>.*?)(?:\s+Solution ?: ?(?P<solution>.*))?$")
_SOLUTION = lazy(r"\s*Solution ?: ?(?P<solution>.*)$")


@dataclass(frozen=True, slots=True)
class Place:
    """One line of a block's TraceBack; the first is the deepest."""

    text: str
    function: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Block:
    """What an error block says, codes in the order of printing. A place on the code's own line is part of the trace."""

    codes: tuple[str, ...]
    pid: int | None
    time: str | None
    device: int | None
    rank: int | None
    cause: str
    solution: str
    trace: tuple[Place, ...]


def blocks(lines: Iterable[str]) -> tuple[Block, ...]:
    """The error blocks in the lines."""
    return tuple(_block(record.text.split("\n")) for record in parse(lines) if record.kind == KIND)


def code(text: str) -> str | None:
    """The code a line opens with, or that stands in its title."""
    found = _CODE.match(text[:400])
    return None if found is None else found["front"] or found["torch"] or found["titled"]


def _block(texts: Sequence[str]) -> Block:
    codes: list[str] = []
    trace: list[Place] = []
    pid = device = rank = None
    time = None
    cause = solution = ""
    for text in texts:
        line = read_line(text)
        pid = pid if pid is not None else line.pid
        time = time or line.time
        device = device if device is not None else line.device
        rank = rank if rank is not None else line.rank
        named = code(text)
        if named is not None and named not in codes:
            codes.append(named)
        if (place := _PLACE.search(text[-700:])) is not None:
            said = text[: len(text) - len(place[0])].strip()
            trace.append(Place(said, place["function"], place["file"], int(place["line"])))
        if (found := _CAUSE.match(text)) is not None:
            cause, solution = found["cause"], found["solution"] or solution
        elif (found := _SOLUTION.match(text)) is not None:
            solution = found["solution"]
    return Block(tuple(codes), pid, time, device, rank, cause, solution, tuple(trace))


def _begins(line: Line) -> bool:
    return line.kind == "message"


def _continues(open_lines: Sequence[Line], line: Line, gap: int) -> bool:
    if gap or not same_owner(open_lines[-1], line):
        return False
    if line.kind == "message":
        new = code(line.text)
        if new is None:
            return True
        if new.startswith("ERR"):
            return False
        old = next((known for known in map(_code_of, reversed(open_lines)) if known is not None), None)
        return old is None or new == old or old.startswith("ERR")
    return line.kind in ("text", "launcher") and line.text[:1] in (" ", "\t")


def _code_of(line: Line) -> str | None:
    return code(line.text)


FORMAT = Format(KIND, _begins, _continues)


def sniff(lines: Iterable[str]) -> bool:
    """Whether the text opens with an error block."""
    return begins_with(FORMAT, lines)


def parse(lines: Iterable[str]) -> Iterator[Record]:
    """Error blocks as records of this kind, everything else as text."""
    return runs((FORMAT,), lines)
