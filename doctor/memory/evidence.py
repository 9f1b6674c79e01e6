"""What stands beside a snapshot: the message of the failed request, and the table of CANN's components."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping

from parsers.meaning.memory import LITERAL, Figures, figures
from parsers.named import NamedTuple
from parsers.snapshot import Snapshot

HEAD = "moduleName,curMemSize(MB)"  # of the table that torch_npu writes beside a snapshot when memory runs out
MAX_ROWS = 1000


class Message(NamedTuple):
    """An out-of-memory message, and where it stands."""

    figures: Figures
    path: str = ""
    line: int = 0


class Evidence(NamedTuple):
    """All that is known of one device's memory."""

    snapshot: Snapshot | None
    message: Message | None
    components: Mapping[str, int]  # bytes by the name of CANN's module

    @property
    def figures(self) -> Figures | None:
        return self.message.figures if self.message is not None else None


def last_message(lines: Iterable[str], path: str) -> Message | None:
    """The last message of a log that tells the device's capacity; else the last one."""
    whole = any_one = None
    for number, line in enumerate(lines, 1):
        if LITERAL in line and (told := figures(line)) is not None:
            any_one = Message(told, path, number)
            whole = any_one if told.capacity else whole
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
