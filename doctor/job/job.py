"""What is known about a job. Processes are numbered in a stable order; `None` always means: the logs do not say."""

from __future__ import annotations

from collections.abc import Mapping

from doctor.scan.harvest import Place
from kb.model import Text
from parsers.named import NamedTuple

Location = tuple[str, int]  # server address and physical device
WHOLE = "the whole job"  # the communicator of a line that names none but calls every rank by its rank in the job


class Process(NamedTuple):
    """One process of the job, as its logs (or those of others) show it."""

    number: int
    home: str  # the folder that its logs stand under
    pid: int | None
    node: str | None
    server: str | None
    rank: int | None
    device: int | None
    device_ip: str | None
    first: str | None  # first and last sign of life, by its own clock
    last: str | None
    seats: tuple[tuple[str, int], ...]  # communicator and rank inside it
    ended: bool  # it took its communicators down in order
    place: Place | None  # the last line that tells who it is

    @property
    def machine(self) -> str:
        """Where it runs, as far as anything tells."""
        return self.server or self.node or self.home

    @property
    def location(self) -> Location | None:
        return (self.server, self.device) if self.server is not None and self.device is not None else None


class Target(NamedTuple):
    """Somebody who is waited for: a process that has logs, or what the log calls it."""

    process: int | None
    comm: str | None = None
    comm_rank: int | None = None
    location: Location | None = None
    address: str | None = None


class Wait(NamedTuple):
    """One process waits for somebody."""

    by: int
    on: Target | None
    kind: str  # notify | link | agent | server | lost | stuck | cqe | watchdog
    comm: str | None
    place: Place


class Issue(NamedTuple):
    """The collective that a process was in when it gave up."""

    by: int
    comm: str
    op: str | None
    nth: int | None  # index of the collective in its communicator
    elements: str | None
    dtype: str | None
    issued: str | None
    place: Place


class Skew(NamedTuple):
    """How far the clock of a node is ahead of the reference, and how sure that is, both in seconds."""

    node: str
    ahead: float
    within: float


class Root(NamedTuple):
    """Where it began, as far as the logs support it."""

    verdict: str  # fault | unknown | stopped | stuck | silent | late | absent | no-root | no-logs | mismatch | tls | link | cycle | watched-odd | watched-away
    process: int | None
    label: str  # "rank 24", "device 10.1.0.2/6", "pid 4711"
    codes: tuple[str, ...]  # entries that hold at this process, the first cause first
    waiters: int
    peers: tuple[str, ...]  # further processes of the same verdict, or the other end of a link
    place: Place
    before: float | None  # seconds between the fault and the first timeout elsewhere; None: clocks do not allow to say
    last: str | None
    unordered: str | None = None  # another root of which the clocks do not tell whether it came earlier


class Job(NamedTuple):
    processes: tuple[Process, ...]
    waits: tuple[Wait, ...]
    skew: tuple[Skew, ...]
    world_size: int | None
    missing: tuple[int, ...]  # ranks of the world that no log belongs to
    roots: tuple[Root, ...]
    faults: tuple[tuple[int, str], ...]  # process and entry: everything that failed by itself
    stopped: tuple[int, ...]  # processes whose logs end long before the others gave up
    stated: bool = True  # False: the world is at least this large, and no line tells how large
    erring: tuple[int, ...] = ()  # processes that printed an error which no entry knows

    def label(self, number: int) -> str:
        return label(self.processes[number])


class Story(NamedTuple):
    """What a job adds to the relations of findings: its roots in order, and why each is one."""

    order: Mapping[str, int]  # code of an entry -> place among the roots
    notes: Mapping[str, Text]
    waited: bool = True  # does anybody wait for a root? If not, it only is the fault of a process that is known

    def place(self, code: str) -> int:
        return self.order.get(code, len(self.order) + 1)


NO_STORY = Story({}, {}, False)


def label(process: Process) -> str:
    """What a person calls it."""
    if process.rank is not None:
        return f"rank {process.rank}"
    if process.location is not None:
        return f"device {process.location[0]}/{process.location[1]}"
    if process.seats:
        return f"rank {process.seats[0][1]} of {process.seats[0][0].partition('|')[0]}"
    return f"pid {process.pid}" if process.pid is not None else process.home or "?"
