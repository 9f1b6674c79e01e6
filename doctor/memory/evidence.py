"""What stands beside a snapshot: the message of the failed request, and the table of CANN's components.

>>> message("RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.96 GiB total capacity; 20.00 GiB already allocated; 20.00 GiB current active; 1.50 GiB free; 21.00 GiB reserved in total by PyTorch)").outside >> 30
38
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from parsers.snapshot import Snapshot

HEAD = "moduleName,curMemSize(MB)"  # of the table that torch_npu writes beside a snapshot when memory runs out
LITERAL = "out of memory. Tried to allocate"
MAX_ROWS = 1000

_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
_SIZE = r"([\d.]{1,12}) ?([KMGT]?)i?B(?:ytes)?"
_TRIED = re.compile(rf"{LITERAL} {_SIZE}")
_TOLD = {
    "capacity": re.compile(rf"{_SIZE} total capacity"),
    "allocated": re.compile(rf"{_SIZE} already allocated"),
    "free": re.compile(rf"{_SIZE} (?:is )?free"),
    "reserved": re.compile(rf"{_SIZE} reserved in total by PyTorch"),
}


class Message(NamedTuple):
    """An out-of-memory message in bytes; 0 for what it does not tell."""

    tried: int
    capacity: int
    allocated: int
    free: int
    reserved: int
    path: str = ""
    line: int = 0

    @property
    def outside(self) -> int:
        """Of the device, and neither free nor in this process's allocator: other processes, HCCL, the runtime."""
        return max(0, self.capacity - self.free - self.reserved) if self.capacity and self.reserved else 0


class Evidence(NamedTuple):
    """All that is known of one device's memory."""

    snapshot: Snapshot | None
    message: Message | None
    components: Mapping[str, int]  # bytes by the name of CANN's module


def message(line: str, path: str = "", number: int = 0) -> Message | None:
    """The figures of an out-of-memory line."""
    tried = _TRIED.search(line)
    if tried is None:
        return None
    sizes = {name: _bytes(found) if (found := pattern.search(line)) is not None else 0 for name, pattern in _TOLD.items()}
    return Message(_bytes(tried), sizes["capacity"], sizes["allocated"], sizes["free"], sizes["reserved"], path, number)


def _bytes(found: re.Match[str]) -> int:
    try:
        return int(float(found[1]) * (1 << _UNITS[found[2]]))
    except ValueError:
        return 0


def last_message(lines: Iterable[str], path: str) -> Message | None:
    """The last message of a log that tells the device's capacity; else the last one."""
    whole = any_one = None
    for number, line in enumerate(lines, 1):
        if LITERAL in line and (told := message(line, path, number)) is not None:
            any_one = told
            whole = told if told.capacity else whole
    return whole or any_one


def components(lines: Iterable[str]) -> dict[str, int]:
    """Bytes by component, of the table `device_N_memUsageInfo_TIME.csv`."""
    out: dict[str, int] = {}
    for row in csv.reader(lines):
        if len(out) >= MAX_ROWS:
            break
        try:
            size = float(row[1]) if len(row) > 1 else -1.0
        except ValueError:
            continue
        if 0 <= size < 1 << 30:
            out[row[0].strip()[:40]] = int(size * (1 << 20))
    return out
