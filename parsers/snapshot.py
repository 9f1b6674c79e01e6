"""A memory snapshot of PyTorch or torch_npu: who holds what, how it grew, what was asked for last.

    {"segments": [{"address": 1, "total_size": 8388608, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0),
                   "blocks": [{"address": 1, "size": 4194304, "state": "active_allocated", "frames": [{"filename": "train.py", "line": 8, "name": "step"}]}]}],
     "device_traces": [[{"action": "alloc", "addr": 1, "size": 4194304, "stream": 0, "time_us": 17, "frames": [...]}]]}

What a snapshot is made of goes through here once, while the pickle is read, and is forgotten: a trace of millions of entries takes no
room. Of it are kept the blocks that live, what each place in the code holds, some 128 points of the curve, and the peak.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from parsers.named import NamedTuple
from parsers.pickle_state import MAX_BYTES, PickleError, Why
from parsers.pickles import load

POINTS: Final = 128  # of the curve, at most
LISTED: Final = 50  # holders that a digest has
MAX_SITES: Final = 20_000  # places in the code that are told apart
ELSEWHERE: Final = "(elsewhere)"
UNKNOWN: Final = "(no frames were recorded)"
_LARGEST: Final = 1 << 50  # bytes: no device has more
_PEAK_STEP: Final = 1.01  # by how much the peak must grow until what it is made of is worked out anew

# What a stack is of, whatever the user's place in it: words of its functions, and of files beneath a package; the most telling first.
# Folders of users are called "workspace" as well: of files only the end counts.
TOPICS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("hccl", re.compile(r"ProcessGroupHCCL|hccl_?comm|createHCCLComm", re.IGNORECASE)),
    ("workspace", re.compile(r"(?:^| )\S*(?:allocate|malloc|get|unsafe_empty|empty)_?workspace|(?:^| )workspace_alloc", re.IGNORECASE)),
    ("kv-cache", re.compile(r"kv_?caches?(?:_tensors)?(?= |$)|cache_engine\.py|allocate_kv|mem_cache/memory_pool\.py", re.IGNORECASE)),
    ("optimizer", re.compile(r"(?<![\w-])optim/\w+\.py|distrib_optimizer\.py|_init_group(?= |$)|init_optimizer_states", re.IGNORECASE)),
)
_OF_LIBRARY: Final = frozenset({"kv-cache"})  # topics whose place is the function that is told by it, not who started it

_TORCH = re.compile(r"(?:^|[/\\])(?:torch|torch_npu|functorch)[/\\]|(?:^|[/\\])python3?[^/\\]*[/\\](?!site-packages|dist-packages)[^/\\]*\.py$|\.(?:c|cc|cpp|cxx|h|hpp|so)(?:$|\.\d)|^(?:\?\?)?$|^<")
_LIBRARY = re.compile(r"[/\\](?:site|dist)-packages[/\\]|(?:^|[/\\])lib[/\\]python3")


_WANTED: Final = frozenset(
    {"action", "addr", "size", "frames", "device_free", "filename", "line", "name", "blocks", "total_size", "segment_pool_id", "state", "history", "real_size"}
)


class Site(NamedTuple):
    """A place in the code that allocates, and what the stack around it is of."""

    place: str  # "train.py:88 forward"
    topic: str  # of TOPICS, or ""
    own: bool  # in the user's code


class Holder(NamedTuple):
    """What one place holds: at the end, at the peak, and what it held at the points of the curve."""

    site: Site
    held: int
    blocks: int
    at_peak: int
    curve: tuple[int, ...]
    beside: int = 0  # free bytes in the segments in which it holds something
    pending: int = 0  # freed, but another stream may still use it
    pooled: int = 0  # in pools of captured graphs


class Request(NamedTuple):
    """The request that the device could not serve."""

    size: int
    free: int  # on the device, as the allocator was told
    site: Site


class Snapshot(NamedTuple):
    """What a snapshot says."""

    reserved: int
    allocated: int
    pending: int
    pooled: int  # reserved by pools of captured graphs
    split: int  # free pieces of segments in which something lives
    cached: int  # whole segments in which nothing lives
    largest_free: int
    segments: int
    entries: int  # of the trace
    traced_peak: int
    curve: tuple[int, ...]
    holders: tuple[Holder, ...]  # the largest first
    failed: Request | None


def site_of(frames: object) -> Site:
    """The innermost frame of the user's code; else of a library that is not torch's; else the innermost one."""
    told = [f for f in frames if type(f) is tuple] if isinstance(frames, list) else []
    if not told:
        return Site(UNKNOWN, "", False)
    words = [f"{name} {_end(file)}" for file, _, name in told[:40]]
    topic, at = next(((name, n) for name, pattern in TOPICS for n, said in enumerate(words) if pattern.search(said)), ("", 0))
    if topic in _OF_LIBRARY and not _TORCH.search(told[at][0]):
        return Site(_shown(told[at]), topic, not _LIBRARY.search(told[at][0]))
    library: tuple[str, int, str] | None = None
    for frame in told:
        if _TORCH.search(frame[0]):
            continue
        if _LIBRARY.search(frame[0]):
            library = library or frame
            continue
        return Site(_shown(frame), topic, True)
    return Site(_shown(library or told[0]), topic, False)


def _shown(frame: tuple[str, int, str]) -> str:
    file, line, name = frame
    return f"{_end(file)}:{line} {name}"[:200]


def _end(file: str) -> str:
    """The last parts of a path: enough to find it."""
    return "/".join(re.split(r"[/\\]", file)[-3:])


def _size(value: object) -> int:
    return value if type(value) is int and 0 <= value < _LARGEST else 0


class _Reader:
    """Takes the dictionaries of a snapshot as they become whole, and keeps sums."""

    def __init__(self) -> None:
        self.sites: dict[Site, int] = {}
        self.names: list[Site] = []
        self.known: dict[int, tuple[object, int]] = {}  # by the identity of a list of frames, which is kept for it
        self.frames: dict[tuple[str, int, str], tuple[str, int, str]] = {}
        self.live: dict[int, tuple[int, int]] = {}
        self.held: list[int] = []
        self.total = self.entries = self.peak = self.composed = 0
        self.at_peak: list[int] = []
        self.every = 1
        self.points: list[tuple[int, tuple[int, ...]]] = []
        self.failed: Request | None = None
        self.reserved = self.allocated = self.pending = self.pooled = self.split = self.cached = self.largest = self.segments = 0
        self.blocks: dict[int, list[int]] = {}  # by site: bytes, blocks, beside, pending, pooled

    def fold(self, value: dict[Any, Any]) -> Any:
        if "action" in value:
            self.entry(value)
            return None
        if "filename" in value and "line" in value:
            line = value["line"]
            made = (str(value["filename"])[:400], line if type(line) is int else 0, str(value.get("name", ""))[:120])
            return self.frames.setdefault(made, made)
        if "blocks" in value and "total_size" in value:
            self.segment(value)
            return None
        if "size" in value and "state" in value:
            history = value.get("history")
            frames = value.get("frames")
            if not frames and isinstance(history, list) and history and isinstance(history[-1], tuple):
                return (str(value["state"]), _size(value["size"]), history[-1][1])
            return (str(value["state"]), _size(value["size"]), self.site(frames))
        if "real_size" in value:  # releases before 2.1 tell the frames of a block in its history
            return ("history", self.site(value.get("frames")))
        return value

    def site(self, frames: object) -> int:
        known = self.known.get(id(frames))
        if known is not None and known[0] is frames:
            return known[1]
        made = site_of(frames)
        number = self.sites.get(made)
        if number is None:
            if len(self.names) >= MAX_SITES:
                made = Site(ELSEWHERE, "", False)
            number = self.sites.setdefault(made, len(self.names))
            if number == len(self.names):
                self.names.append(made)
                self.held.append(0)
        if len(self.known) < 4 * MAX_SITES:
            self.known[id(frames)] = (frames, number)
        return number

    def entry(self, value: dict[Any, Any]) -> None:
        """One event of the allocator."""
        action = value["action"]
        if action == "alloc":
            size = _size(value.get("size"))
            number = self.site(value.get("frames"))
            address = value.get("addr")
            if type(address) is int:
                if address in self.live:
                    self.free(address)
                self.live[address] = (size, number)
                self.held[number] += size
                self.total += size
                if self.total > self.peak:
                    self.peak = self.total
                    if self.total > self.composed * _PEAK_STEP:
                        self.composed, self.at_peak = self.total, self.held.copy()
        elif action == "free_completed" or action == "free":
            self.free(value.get("addr"))
        elif action == "oom":
            free = value.get("device_free", value.get("addr"))
            self.failed = Request(_size(value.get("size")), _size(free), self.names[self.site(value.get("frames"))])
        else:
            return
        self.entries += 1
        if self.entries % self.every == 0:
            self.points.append((self.total, tuple(self.held)))
            if len(self.points) >= POINTS:
                self.points = self.points[1::2]
                self.every *= 2

    def free(self, address: object) -> None:
        known = self.live.pop(address, None) if type(address) is int else None
        if known is not None:
            self.held[known[1]] -= known[0]
            self.total -= known[0]

    def segment(self, value: dict[Any, Any]) -> None:
        size, blocks = _size(value.get("total_size")), value.get("blocks")
        if not size or not isinstance(blocks, list):
            return
        pool = value.get("segment_pool_id")
        pooled = isinstance(pool, list) and any(pool)
        self.segments += 1
        self.reserved += size
        self.pooled += size if pooled else 0
        told = [b for b in blocks if type(b) is tuple and len(b) == 3]
        free = [b[1] for b in told if b[0] == "inactive"]
        lives = [b for b in told if b[0] != "inactive"]
        if lives:
            self.split += sum(free)
        else:
            self.cached += size
        self.largest = max(self.largest, *free, 0) if free else self.largest
        for state, held, number in lives:
            sums = self.blocks.setdefault(number, [0, 0, 0, 0, 0])
            sums[0] += held
            sums[1] += 1
            sums[2] += sum(free) // len(lives)
            if state == "active_allocated":
                self.allocated += held
            else:
                self.pending += held
                sums[3] += held
            if pooled:
                sums[4] += held

    def result(self) -> Snapshot:
        points = self.points if self.points and self.points[-1][0] == self.total else [*self.points, (self.total, tuple(self.held))]
        numbers = sorted(range(len(self.names)), key=lambda n: -(self.blocks.get(n, [0])[0] or max(self.held[n], 0)))
        holders = []
        for n in numbers:
            held, blocks, beside, pending, pooled = self.blocks.get(n, [0, 0, 0, 0, 0])
            peak = self.at_peak[n] if n < len(self.at_peak) else 0
            curve = tuple(at[n] if n < len(at) else 0 for _, at in points) if self.entries else ()
            if held or peak or any(curve):
                holders.append(Holder(self.names[n], held, blocks, peak, curve, beside, pending, pooled))
        return Snapshot(
            self.reserved, self.allocated, self.pending, self.pooled, self.split, self.cached, self.largest, self.segments, self.entries,
            self.peak, tuple(total for total, _ in points) if self.entries else (), tuple(holders), self.failed,
        )  # fmt: skip


class NoSnapshotError(ValueError):
    """A pickle that is whole and plain, and no memory snapshot."""


Load = Callable[..., Any]


def snapshot(data: bytes, read: Load = load) -> Snapshot:
    """What a pickled snapshot says; `PickleError` or `NoSnapshotError` says why not."""
    reader = _Reader()
    whole = read(data, fold=reader.fold, wanted=_WANTED)
    if not isinstance(whole, dict) or not {"segments", "device_traces"} & whole.keys():
        raise NoSnapshotError("it is a pickle of plain values, and no memory snapshot: it has neither 'segments' nor 'device_traces'")
    told = (whole.get("segments"), whole.get("device_traces"))
    if any(not isinstance(one, list) for one in told if one is not None) or (told[0] and not reader.segments and not reader.entries):
        raise NoSnapshotError("it is a pickle of plain values, and no memory snapshot: its segments or its events are none")
    return reader.result()


def written(made: Snapshot) -> dict[str, Any]:
    """A snapshot as JSON has it; of its holders the largest."""
    return {**made._asdict(), "holders": [[list(h.site), *h[1:]] for h in made.holders[:LISTED]], "failed": [*made.failed[:2], list(made.failed.site)] if made.failed else None}


def again(told: Any) -> Snapshot:
    """The inverse of `written`, after a trip through JSON; a ValueError when it is none."""
    try:
        row = dict(told)
        holders = tuple(Holder(_site(site), held, blocks, peak, tuple(map(_size, curve)), *rest) for site, held, blocks, peak, curve, *rest in row["holders"][:LISTED])
        failed = Request(_size(row["failed"][0]), _size(row["failed"][1]), _site(row["failed"][2])) if row["failed"] else None
        sums = {name: _size(row[name]) for name in Snapshot._fields if name not in ("holders", "failed", "curve")}
        if not all(type(n) is int and abs(n) < _LARGEST for h in holders for n in (h.held, h.blocks, h.at_peak, h.beside, h.pending, h.pooled)):
            raise ValueError("no sizes")
        return Snapshot(**sums, curve=tuple(map(_size, row["curve"][:2 * POINTS])), holders=holders, failed=failed)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError("it is no digest of a memory snapshot") from error


def _site(told: Any) -> Site:
    place, topic, own = told
    return Site(str(place)[:200], str(topic)[:20], own is True)


__all__ = ["MAX_BYTES", "Holder", "NoSnapshotError", "PickleError", "Request", "Site", "Snapshot", "Why", "again", "snapshot", "written"]
