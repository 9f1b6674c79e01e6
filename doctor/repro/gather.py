"""The part of logs that can name an operator: read in chunks, only the lines around certain words are kept.

Log trees are gigabytes and operators stand on few lines; a record is read whole. Per file at most a few megabytes of
lines are kept, from the first on: the first error is the one to reproduce.
"""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from doctor.base.errors import UsageError
from doctor.read import discover
from doctor.repro import read_record
from doctor.repro.call import Operator
from doctor.repro.extract import operators, worth

# Words that name an operator or an error, and how many lines after them belong to it. Tracebacks are the longest.
WORDS: dict[bytes, int] = {
    word.encode(): after
    for after, group in (
        (160, ("Traceback (most recent call last)",)),
        (100, ("[AIC_INFO] node_name",)),
        (
            40,
            (
                "kernel_name=", "launch kernel failed", "[ASSERT]", "call aclnn", "GetWorkspaceSize failed", "GetWorkspaceSize call failed",
                "not in libopapi", "(workspaceAddr", "Optype [", "optype", "Cannot find bin", "opType: ", "launch failed for",
                "does not has any", "LaunchAicore", "iling failed", "Failed to execute op", "working operator name", "Failed to compile Op",
                "on the NPU backend", "Could not run '", "EZ1001", "Tried to allocate", "ExchangeDevice", "TaskExecStage", "WorkHCCL(",
                "was not compiled", "not implemented for",
            ),
        ),
    )
    for word in group
}  # fmt: skip
DESCRIBED = b"aclOp = OpType: "  # by thousands in INFO logs: the last ones before an error say what its shapes were
_GONE = re.compile(r"(?i)tim(?:ed|e)[- ]?out|peer|connection (?:closed|reset|refused)|broken pipe|sigterm|aborted by|watchdog")
MAX_DESCRIBED = 400
BEFORE = 4
CHUNK = 1 << 20
MAX_KEPT = 4 << 20
MAX_RECORD = 32 << 20
MAX_FILES = 2000
GAP = 40  # empty lines between files: no reader looks that far ahead


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was kept: the records whole, and one text of the rest whose lines know where they come from."""

    records: tuple[tuple[str, str], ...]
    text: str
    places: tuple[tuple[str, int], ...]
    stdin: str

    def operators(self) -> tuple[Operator, ...]:
        """Every operator named, the likeliest first, with the file and line it stands on."""
        found = [replace(one, path=name) for name, text in self.records for one in operators(text)]
        for one in operators(self.text):
            name, line = self.places[one.line - 1] if 0 < one.line <= len(self.places) else ("", 0)
            found.append(replace(one, path=name, line=line))
        return tuple(sorted(found, key=lambda o: (not o.failed, _is_victim(o), -worth(o))))


def _is_victim(one: Operator) -> bool:
    """Did it fail, as its own record tells, because another process was gone; or is it only known to have been running?"""
    return one.how == "record" and (not one.error or _GONE.search(one.error) is not None)


def evidence(paths: Sequence[str]) -> Evidence:
    """Reads the paths in their order; `-` is standard input."""
    records: list[tuple[str, str]] = []
    lines: list[str] = []
    places: list[tuple[str, int]] = []
    stdin = ""
    for path in paths:
        if path == "-":
            stdin = sys.stdin.buffer.read(MAX_RECORD).decode("utf-8", "replace")
            sources: Iterable[tuple[str, Iterator[tuple[int, str]] | str]] = [("<stdin>", _text(stdin))]
        else:
            sources = _files(path)
        for name, content in sources:
            if isinstance(content, str):
                records.append((name, content))
                continue
            for number, line in content:
                lines.append(line)
                places.append((name, number))
            lines += [""] * GAP
            places += [(name, 0)] * GAP
    return Evidence(tuple(records), "\n".join(lines), tuple(places), stdin)


def _text(text: str) -> Iterator[tuple[int, str]] | str:
    return text if read_record.is_record(text) else enumerate(text.split("\n"), 1)


def _beginning(path: Path, top: Path) -> bytes:
    """Of a record; nothing of what is no plain file, and of a folder nothing of what leads out of it."""
    if not path.is_file() or not path.resolve().is_relative_to(top.resolve()):
        return b""
    with path.open("rb") as file:
        return file.read(MAX_RECORD)


def _files(path: str) -> Iterator[tuple[str, Iterator[tuple[int, str]] | str]]:
    """Each file of a path: a record as its text, another file as its numbered lines."""
    top = Path(path).expanduser()
    if not top.exists():
        raise UsageError(
            f"there is no such file or folder: {path}", "npu-doctor repro --from PATH; - reads standard input"
        )
    rings = sorted(top.rglob("ops-*.ring"))[:MAX_FILES] if top.is_dir() else [top] if top.suffix == ".ring" else []
    for ring in rings:  # binary padding: the ordinary way takes them for no text
        yield str(ring), _beginning(ring, top).decode("latin-1")
    if top.suffix == ".ring":
        return
    for whole in sorted(top.rglob("ops-*.json"))[:MAX_FILES] if top.is_dir() else []:  # nor is JSON a log of its own
        text = _beginning(whole, top).decode("utf-8", "replace")
        if read_record.is_record(text):
            yield str(whole), text
    for source in islice((one for one in discover.discover([str(top)]).sources if not one.only_adds), MAX_FILES):
        if source.name.endswith(".ring"):
            continue
        with source.open() as stream:
            head = stream.read(CHUNK)
            if read_record.MARK.encode() in head[:200]:
                yield source.name, (head + stream.read(MAX_RECORD)).decode("utf-8", "replace")
            else:
                yield source.name, _lines(head, stream)


def _lines(head: bytes, stream: BinaryIO) -> Iterator[tuple[int, str]]:
    """The numbered lines around the words. Blocks end with a line; what a block cannot show of the next one is left out."""
    size, number, tail = 0, 1, b""
    described: deque[tuple[int, str]] = deque(maxlen=MAX_DESCRIBED)
    while head and size < MAX_KEPT:
        data = tail + head
        head = stream.read(CHUNK)
        cut = data.rfind(b"\n") + 1 if head else len(data)
        block, tail = (data[:cut], data[cut:]) if cut else (data, b"")
        for begin, end, only in _pieces(block):
            first = number + block.count(b"\n", 0, begin)
            found = (
                (first + i, line.decode("utf-8", "replace")) for i, line in enumerate(block[begin:end].split(b"\n"))
            )
            if only:
                described.extend(found)
                continue
            yield from described
            described.clear()
            size += end - begin
            yield from found
        number += block.count(b"\n")
    yield from described


def _pieces(block: bytes) -> Iterator[tuple[int, int, bool]]:
    """Begin and end of the pieces around the words, and of the lines that only describe an operator (True), in order."""
    around = _around(block)
    described = [(block.rfind(b"\n", 0, at) + 1, _forth(block, at, 0)) for at in _places(block, DESCRIBED)]
    inside = [(begin, end, False) for begin, end in around]
    alone = [(b, e, True) for b, e in described if not any(begin <= b < end for begin, end in around)]
    yield from sorted(inside + alone)


def _around(block: bytes) -> list[tuple[int, int]]:
    """The pieces around the words, merged where they touch. INFO and DEBUG lines of CANN name operators that are well."""
    places = sorted((at, after) for word, after in WORDS.items() for at in _places(block, word))
    pieces: list[tuple[int, int]] = []
    for at, after in places:
        start = block.rfind(b"\n", 0, at) + 1
        front = block[start : min(start + 80, at)]
        if (b"[INFO]" in front or b"[DEBUG]" in front) and b"[AIC_INFO]" not in block[start:at]:
            continue
        begin, end = _back(block, at), _forth(block, at, after)
        if pieces and begin <= pieces[-1][1]:
            pieces[-1] = (pieces[-1][0], max(end, pieces[-1][1]))
        else:
            pieces.append((begin, end))
    return pieces


def _back(block: bytes, at: int) -> int:
    for _ in range(BEFORE + 1):
        at = block.rfind(b"\n", 0, at)
        if at < 0:
            return 0
    return at + 1


def _forth(block: bytes, at: int, lines: int) -> int:
    for _ in range(lines + 1):
        at = block.find(b"\n", at + 1)
        if at < 0:
            return len(block)
    return at


def _places(block: bytes, word: bytes) -> Iterator[int]:
    at, count = block.find(word), 0
    while at >= 0 and count < 5000:
        yield at
        count += 1
        at = block.find(word, at + len(word))
