"""Which CANN logs a command wrote: the processes it started, and the log files that carry their numbers.

Files are `plog-<pid>_<time>.log` and `device-<pid>_<time>.log` under the log root of the process, which its environment
decides: ASCEND_PROCESS_LOG_PATH, else ASCEND_WORK_PATH/log, else ~/ascend/log.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from parsers.named import NamedTuple

_NAME = re.compile(r"(?:plog|device)-(?P<pid>\d{1,10})_\d{1,20}(?:_act)?\.log$")
_VARIABLES = ("ASCEND_PROCESS_LOG_PATH", "ASCEND_WORK_PATH", "HOME")
MAX_FILES = 5000
GRAIN = 2.0  # seconds: file systems and clocks disagree


class Found(NamedTuple):
    """The logs of a run. `sure` is False when they were chosen by their time alone."""

    paths: tuple[str, ...]
    sure: bool


class Tree:
    """Every process that a command started, as far as it was seen alive, and the log roots that they use."""

    def __init__(self, environment: Mapping[str, str], proc: str = "/proc") -> None:
        self.proc = Path(proc)
        self.began = time.time()
        self.pids: set[int] = set()
        self.roots: dict[Path, None] = {}
        self._root(environment)

    def look(self, pid: int) -> None:
        """Walks down from a process. Cheap where the kernel lists children, one pass over /proc elsewhere."""
        waiting, seen = [pid], set()
        while waiting:
            one = waiting.pop()
            if one in seen:
                continue
            seen.add(one)
            if one not in self.pids:
                self.pids.add(one)
                self._root(self._environment(one))
            waiting += self._children(one)

    def found(self) -> Found:
        """The logs of these processes, else those that changed since the start."""
        known, recent = [], []
        for path, pid in self._files():
            if pid in self.pids:
                known.append(path)
            elif _changed(path) >= self.began - GRAIN:
                recent.append(path)
        chosen = [p for p in known if _changed(p) >= self.began - GRAIN]
        return Found(tuple(map(str, chosen or recent)), bool(chosen))

    def _files(self) -> Iterator[tuple[Path, int]]:
        count = 0
        for root in self.roots:
            for pattern in ("plog/*.log", "*/plog/*.log", "device-*/*.log", "*/device-*/*.log"):
                for path in sorted(root.glob(pattern)):
                    found = _NAME.search(path.name)
                    if found and path.is_file() and count < MAX_FILES:
                        count += 1
                        yield path, int(found["pid"])

    def _root(self, environment: Mapping[str, str]) -> None:
        own, work, home = (environment.get(name, "") for name in _VARIABLES)
        place = Path(own) if own else Path(work) / "log" if work else Path(home) / "ascend" / "log" if home else None
        if place is not None:
            self.roots.setdefault(place)

    def _environment(self, pid: int) -> dict[str, str]:
        try:
            data = (self.proc / str(pid) / "environ").read_bytes()
        except OSError:
            return {}
        pairs = (item.partition(b"=") for item in data.split(b"\0"))
        return {os.fsdecode(n): os.fsdecode(v) for n, _, v in pairs if os.fsdecode(n) in _VARIABLES}

    def _children(self, pid: int) -> list[int]:
        found: list[int] = []
        try:
            tasks = list((self.proc / str(pid) / "task").iterdir())
        except OSError:
            return found
        for task in tasks:
            try:
                found += [int(word) for word in (task / "children").read_text().split()]
            except (OSError, ValueError):
                continue
        return found


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
