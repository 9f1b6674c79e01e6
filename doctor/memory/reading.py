"""Files to evidence: snapshots, logs with out-of-memory messages, tables of CANN's components, told by their bytes."""

from __future__ import annotations

import gzip
import os
import re
import stat
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from doctor.memory import evidence
from doctor.memory.classes import Case, judge
from doctor.memory.evidence import Evidence, Message
from parsers.pickles import MAX_BYTES, PickleError, Why
from parsers.snapshot import NoSnapshotError, Snapshot, snapshot

T = TypeVar("T")
MAX_FILES = 2000
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


def read(paths: Iterable[str]) -> Read:
    """A case for each snapshot; logs and tables stand beside them, and alone where there is no snapshot."""
    snapshots: list[tuple[str, Snapshot]] = []
    messages: list[tuple[str, Message]] = []
    tables: list[tuple[str, Mapping[str, int]]] = []
    refused: list[tuple[str, str]] = []
    for path, asked_for in _files(paths, refused):
        try:
            head = _head(path)
            if head[:1] == b"\x80":
                snapshots.append((path, snapshot(_whole(path, head))))
            elif head.startswith(evidence.HEAD.encode()):
                with open(path, encoding="utf-8", errors="replace") as lines:
                    tables.append((path, evidence.components(lines)))
            elif (said := _said(path)) is not None:
                messages.append((path, said))
            elif asked_for:
                refused.append((path, "neither a memory snapshot nor a log with an out-of-memory message"))
        except PickleError as error:
            refused.append((path, _WHY[error.why].format(asked=error.asked)))
        except NoSnapshotError:
            refused.append((path, "a pickle of plain values, and no memory snapshot"))
        except (OSError, EOFError, zlib.error) as error:
            refused.append((path, getattr(error, "strerror", None) or str(error)))
    cases = [Case(path, made, judge(made)) for path, made in _together(snapshots, messages, tables)]
    return Read(tuple(cases), tuple(refused))


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
        try:
            if not os.path.isdir(path):
                if not stat.S_ISREG(os.stat(path).st_mode):
                    refused.append((path, "no regular file"))
                    continue
                yield path, True
                continue
            found = sorted(str(p) for p in Path(path).rglob("*") if p.is_file() and not p.is_symlink())
        except OSError as error:
            refused.append((path, error.strerror or str(error)))
            continue
        if len(found) > MAX_FILES:
            refused.append((path, f"more than {MAX_FILES} files: the rest is not looked at"))
        yield from ((name, False) for name in found[:MAX_FILES])


def _head(path: str) -> bytes:
    with open(path, "rb") as file:
        head = file.read(_HEAD)
    if head[:2] == b"\x1f\x8b":
        with gzip.open(path) as unpacked:
            return unpacked.read(_HEAD)
    return head


def _whole(path: str, head: bytes) -> bytes:
    with open(path, "rb") as file:
        plain = file.read(1) == head[:1]
    if plain:
        if os.path.getsize(path) > MAX_BYTES:
            raise PickleError(Why.LARGE, 0, "larger than what is read")
        with open(path, "rb") as file:
            return file.read(MAX_BYTES + 1)
    with gzip.open(path) as unpacked:
        return unpacked.read(MAX_BYTES + 1)


def _said(path: str) -> Message | None:
    with open(path, encoding="utf-8", errors="replace") as lines:
        return evidence.last_message(lines, path)
