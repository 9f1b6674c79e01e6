"""A thing that can be read as bytes: a file, a member of an archive, standard input, a text given by a caller."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import BinaryIO

from doctor.read.dumps import BESIDE, STARTED
from parsers.lazy import lazy
from parsers.named import NamedTuple


class Hints(NamedTuple):
    """What a path suggests about its owner. Hints only: what the lines say themselves weighs more."""

    node: str | None = None
    rank: int | None = None
    pid: int | None = None
    device: int | None = None


class Source(NamedTuple):
    """A named stream of bytes. `size` is None when unknown (standard input, compressed members)."""

    name: str
    open: Callable[[], BinaryIO]
    size: int | None
    hints: Hints
    seekable: bool = False  # a regular file: ranges of it can be read
    chained: bool = False  # a member of a compressed archive: cheap to open after the one before it
    once: bool = False  # a pipe: what was read of it is gone
    likely: int = 0  # bytes that it may hold, where its size is not known
    dump: str = ""  # no log but a dump of a process, a script that starts one, or settings: its kind (`doctor.read.dumps`)

    @property
    def only_adds(self) -> bool:
        """Is it a script or settings? Nothing there was printed: a diagnosis alone looks at it, for what it adds to the logs."""
        return self.dump in (STARTED, BESIDE)


class Skipped(NamedTuple):
    """Something that was not read, or not wholly, and why."""

    path: str
    reason: str


_TREE = lazy(r"(?:^|/)(?:debug|run|security)/(?:plog|device-\d+)/[^/]*$|(?:^|/)(?:plog|device-\d+)/[^/]*$|[^/]*$")
_PLOG = lazy(r"(?:^|/)plog-(?:parser-)?(\d+)[_-]\d+")
_DEVICE_LOG = lazy(r"(?:^|/)device-(\d+)/device-(\d+)_\d+")
_RANK = lazy(r"(?:^|[/_.-])rank[_-]?(\d{1,5})(?=[/_.-]|$)", re.IGNORECASE)
_NODE = lazy(
    r"(?:^|/)((?:node|worker|host|server|pod)[_-]?[A-Za-z0-9][\w.-]*|\d{1,3}(?:\.\d{1,3}){3})(?=/)", re.IGNORECASE
)


@lru_cache(maxsize=1 << 14)  # asked for every hit, of few paths
def hints(name: str) -> Hints:
    """What the path of a log tells: `node-3/plog/plog-1234_2026....log`, `rank_76/`, `device-2/device-1234_....log`."""
    pid = device = None
    if m := _PLOG.search(name):
        pid = _number(m[1])
    elif m := _DEVICE_LOG.search(name):
        device, pid = _number(m[1]), _number(m[2])
    rank = _RANK.search(name)
    node = _NODE.search(name)
    return Hints(node[1] if node else None, int(rank[1]) if rank else None, pid, device)


@lru_cache(maxsize=1 << 14)
def home(path: str) -> str:
    """The folder under which all logs of a process stand: `a/run/plog/plog-1_2.log` and `a/debug/plog/...` are at `a`."""
    found = _TREE.search(path)
    return path[: found.start()] if found else ""


def _number(digits: str) -> int | None:
    """Names in archives are as long as somebody likes; no process has a number of a thousand digits."""
    return int(digits) if len(digits) < 19 else None
