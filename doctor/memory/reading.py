"""Files to evidence: snapshots, logs with out-of-memory messages, tables of CANN's components, told by their bytes."""

from __future__ import annotations

import csv
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import BinaryIO, TypeVar, cast

from doctor.memory import evidence
from doctor.memory.classes import Case, judge
from doctor.memory.evidence import Evidence, Message
from doctor.read.discover import files_under
from doctor.read.inflate import Inflated, Meter
from doctor.read.unread import Unread
from parsers.named import NamedTuple
from parsers.pickle_state import MAX_BYTES, PickleError, Why
from parsers.snapshot import NoSnapshotError, Snapshot, snapshot

T = TypeVar("T")
MAX_FILES = 2000
MAX_LINE = 1 << 20
"""Characters of a line of a log or a table; what follows is read as a line of its own."""
_HEAD = 1 << 16
_DEVICE = re.compile(r"(?:device|rank|npu)_?(\d{1,5})")
_WHY = {
    Why.HOSTILE: "not read: it asks for {asked}, and a snapshot holds nothing but plain values (nothing was run)",
    Why.TRUNCATED: "a snapshot that was cut off: not read",
    Why.FOREIGN: "no pickle that a program has written: not read",
    Why.LARGE: "a snapshot larger than what is read of one: not read",
}


class Read(NamedTuple):
    """What was found among the files, and what was not read."""

    cases: tuple[Case, ...]
    refused: tuple[tuple[str, str], ...]
    files: tuple[str, ...]  # that were looked at


def read(paths: Iterable[str]) -> Read:
    """A case for each snapshot; logs and tables stand beside them, and alone where there is no snapshot."""
    snapshots: list[tuple[str, Snapshot]] = []
    messages: list[tuple[str, Message]] = []
    tables: list[tuple[str, Mapping[str, int]]] = []
    refused: list[tuple[str, str]] = []
    files: list[str] = []
    for path, asked_for in _files(paths, refused):
        files.append(path)
        try:
            head = _head(path)
            if head[:1] == b"\x80":
                snapshots.append((path, snapshot(_whole(path))))
            elif head.startswith(evidence.HEAD.encode()):
                tables.append((path, evidence.components(_lines(path))))
            elif (said := evidence.last_message(_lines(path), path)) is not None:
                messages.append((path, said))
            elif asked_for:
                refused.append((path, "neither a memory snapshot nor a log with an out-of-memory message"))
        except PickleError as error:
            refused.append((path, _WHY[error.why].format(asked=error.asked)))
        except NoSnapshotError:
            refused.append((path, "a pickle of plain values, and no memory snapshot"))
        except csv.Error:
            refused.append((path, "a table that was cut off or changed: not read"))
        except OSError as error:
            refused.append((path, error.strerror or str(error)))
    cases = [Case(path, made, judge(made)) for path, made in _together(snapshots, messages, tables)]
    return Read(tuple(cases), tuple(refused), tuple(files))


def _together(
    snapshots: list[tuple[str, Snapshot]], messages: list[tuple[str, Message]], tables: list[tuple[str, Mapping[str, int]]]
) -> Iterator[tuple[str, Evidence]]:
    for path, made in snapshots:
        yield path, Evidence(made, _beside(path, messages, len(snapshots)), _beside(path, tables, len(snapshots)) or {})
    if not snapshots:
        for path, said in messages:
            yield path, Evidence(None, said, _beside(path, tables, len(messages)) or {})


def _beside(path: str, others: Sequence[tuple[str, T]], number: int) -> T | None:
    """What belongs to a snapshot: the only one, or that of the same device."""
    if number == 1 and len(others) == 1:
        return others[0][1]
    own = _DEVICE.search(os.path.basename(path))
    return next((told for name, told in others if own and (its := _DEVICE.search(os.path.basename(name))) and its[1] == own[1]), None)


def _files(paths: Iterable[str], refused: list[tuple[str, str]]) -> Iterator[tuple[str, bool]]:
    """Files that were named, and those of folders; whether somebody named them."""
    for path in paths:
        unread = Unread()
        found = files_under(path, unread, None)
        for name, why in islice(found, MAX_FILES):
            if why or not _regular(name):
                refused.append((name, why or "no regular file"))
            else:
                yield name, name == path
        if next(found, None) is not None:
            refused.append((path, f"more than {MAX_FILES} files: the rest is not looked at"))
        refused.extend((one.path, one.reason) for one in unread.told())


def _regular(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return True  # reading it tells why


def _opened(path: str) -> BinaryIO:
    """A file, unpacked where it is compressed: what grows too much is refused on the way."""
    file = open(path, "rb")
    packed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    return cast("BinaryIO", Inflated(file, Meter())) if packed else file


def _head(path: str) -> bytes:
    with _opened(path) as file:
        return _at_most(file, _HEAD)


def _whole(path: str) -> bytes:
    if os.path.getsize(path) > MAX_BYTES:
        raise PickleError(Why.LARGE, 0, "larger than what is read")
    with _opened(path) as file:
        return _at_most(file, MAX_BYTES + 1)


def _at_most(file: BinaryIO, size: int) -> bytes:
    pieces = []
    while size > 0 and (piece := file.read(min(size, 1 << 20))):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _lines(path: str) -> Iterator[str]:
    with open(path, encoding="utf-8", errors="replace") as file:
        while line := file.readline(MAX_LINE):
            yield line
