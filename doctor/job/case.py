"""What the choice of a root rests on, and how a root is put together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from doctor.findings.evaluate import Finding, Instance, order
from doctor.job.clocks import Clocks
from doctor.job.identity import Who
from doctor.job.job import Process, Root, Target, label
from doctor.job.waits import Graph
from doctor.scan.harvest import Place
from kb.model import Trait
from parsers.named import NamedTuple

MAX_ROOTS = 8
MAX_TERMINALS = 64
SLACK = 2.0  # seconds by which a fault may stand after the first wait of the same process
SILENT = 30.0  # a log that ends so long before the others gave up ended early
SET_UP = ("agent", "server")
ACCUSED = ("lost", "stuck", "cqe")


class Fault(NamedTuple):
    """An entry that holds at one process by itself."""

    process: int
    code: str
    traits: tuple[Trait, ...]  # of the entry's kind
    strong: bool
    time: str | None
    place: Place
    captures: Mapping[str, str]


class Case(NamedTuple):
    """All that the choice rests on."""

    who: Who
    graph: Graph
    clocks: Clocks
    faults: tuple[Fault, ...]
    strange: Mapping[int, Place]  # errors of processes that no entry knows and that are not HCCL's
    exec_timeout: float
    connect_timeout: float
    alive: frozenset[int] = frozenset()  # processes that a launcher had to stop in the end


def owner(who: Who, instance: Instance) -> int | None:
    """The process at which an instance holds: its lines', or the one that they name by pid or device."""
    for hit in instance.hits:
        if hit.place.kind != "kernel" and (number := who.of(hit.place)) is not None:
            return number
    place = instance.hits[0].place
    pid = instance.captures.get("pid")
    if pid is not None and _number(pid) and (number := who.by_pid(int(pid), place.node, place.path)) is not None:
        return number
    device = instance.scope.device
    if device is None and _number(instance.captures.get("device", "")):
        device = int(instance.captures["device"])
    if device is not None and place.node is not None:
        found = [p.number for p in who.processes if p.device == device and place.node in (p.node, p.server)]
        return found[0] if len(found) == 1 else None
    return None


def faults(who: Who, findings: Iterable[Finding]) -> tuple[Fault, ...]:
    """What failed by itself, and at whom; the earliest of each entry and process."""
    found: dict[tuple[int, str], Fault] = {}
    for finding in findings:
        entry = finding.entry
        if entry.role not in ("cause", "ambiguous") or entry.domain == "job":
            continue
        if entry.severity == "info" or (entry.severity == "warning" and "ends_job" not in entry.traits):
            continue
        for instance in finding.instances:
            number = owner(who, instance)
            if number is None or ("shared" in entry.traits and len(instance.pids) > 1):
                continue  # nobody's, or what several processes show together: the waits tell more about that
            place = instance.hits[0].place
            strong = entry.role == "cause" and "downstream" not in entry.traits
            fault = Fault(number, entry.code, entry.traits, strong, place.time, place, instance.captures)
            known = found.get((number, entry.code))
            if known is None or order(place) < order(known.place):
                found[number, entry.code] = fault
    return tuple(sorted(found.values(), key=lambda f: (f.process, order(f.place), f.code)))


def before(case: Case, number: int, time: str | None, first_wait: Mapping[int, Place]) -> float | None:
    """Seconds from a time of one process to the first timeout of another; None when the clocks do not allow to say."""
    gap = to_first(case, number, time, first_wait)
    return gap[0] if gap is not None and (gap[0] > gap[1] or gap[1] == 0) else None


def to_first(case: Case, number: int, time: str | None, first_wait: Mapping[int, Place]) -> tuple[float, float] | None:
    """Seconds from a time of one process to the first timeout of another, and how sure."""
    gaps = (case.clocks.gap(number, time, n, place.time) for n, place in first_wait.items() if n != number)
    return min((g for g in gaps if g is not None), default=None)


def make_root(
    case: Case,
    verdict: str,
    number: int,
    codes: tuple[str, ...],
    waiters: int,
    peers: tuple[str, ...],
    place: Place,
    before: float | None,
) -> Root:
    process = case.who.processes[number]
    return Root(
        verdict, number, label(process), codes, waiters, peers, of_process(place, process), before, process.last
    )


def of_process(place: Place, process: Process) -> Place:
    """The line, told as belonging to the process that it is about."""
    return place._replace(node=process.node, pid=process.pid, rank=process.rank, device=process.device)


def of_target(case: Case, place: Place, target: Target) -> Place:
    at = target.location
    return place._replace(
        node=at[0] if at else target.address, pid=None, rank=case.who.guess(target), device=at[1] if at else None
    )


def called(case: Case, target: Target) -> str:
    if target.process is not None:
        return label(case.who.processes[target.process])
    rank = case.who.guess(target)
    if rank is not None:
        return f"rank {rank}"
    if target.comm is not None and target.comm_rank is not None:
        return f"rank {target.comm_rank} of {target.comm.partition('|')[0]}"
    if target.location is not None:
        return f"device {target.location[0]}/{target.location[1]}"
    if target.comm_rank is not None:
        return f"rank {target.comm_rank} of the communicator"
    if target.address is None:
        return "?"
    seat = _seat_of(case, target.address)
    return target.address if seat is None else f"{target.address} (rank {seat} of the communicator)"


def _seat_of(case: Case, address: str) -> str | None:
    """The rank behind the address of an NPU, `10.20.0.29(27)`, where a line that waits for it tells one."""
    row = re.compile(rf"(?<![\d.]){re.escape(address)}\((\d{{1,6}})\)")
    told = {found[1] for w in case.graph.waits if w.on is not None and w.on.address == address and (found := row.search(w.place.text))}
    if len(told) != 1 or (case.who.stated and int(next(iter(told))) >= (case.who.world_size or 0)):  # a rank that is none says nothing
        return None
    return told.pop()


def node_of(case: Case, number: int) -> str:
    process = case.who.processes[number]
    return process.server or process.node or process.home


def _number(text: str) -> bool:
    return text.isdecimal() and len(text) < 19
