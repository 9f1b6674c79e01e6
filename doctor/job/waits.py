"""Who waits for whom, from what the victims printed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from doctor.job.actor import size_of
from doctor.job.facts import fact_of
from doctor.job.identity import Who
from doctor.job.job import WHOLE, Issue, Location, Target, Wait
from doctor.scan.harvest import Hit, Place
from parsers.named import NamedTuple

NO_RANK = "4294967295"
KEEP_OF_OWNER = 40  # so many lines of one kind are kept of a process: a longer list may have lost its end
_OP = re.compile(r"^(?:Hcom|Hccl)?([A-Za-z]+?)_")
_RANKS = re.compile(r"\d+")
_STATUS = {"lost": "lost", "heartbeat lost": "lost", "stuck": "stuck", "error cqe": "cqe"}


class Graph(NamedTuple):
    waits: tuple[Wait, ...]
    issues: tuple[Issue, ...]
    calls: tuple[Issue, ...]  # collectives as each process asked for them, in its order
    watched: tuple[Issue, ...]  # what the watchdog of each process gave up in


def graph(who: Who) -> Graph:
    """All waits of all processes, each wait once."""
    waits: list[Wait] = []
    issues: list[Issue] = []
    calls: list[Issue] = []
    watched: list[Issue] = []
    for number, actor in enumerate(who.actors):
        reader = _Reader(who, number)
        for hit in actor.facts.in_time():
            waits += reader.read(hit)
        waits += reader.finish()
        issues += reader.issues
        calls += reader.calls
        watched += reader.watched
    unique: dict[tuple[object, ...], Wait] = {}
    for wait in waits:
        unique.setdefault((wait.by, wait.on, wait.kind, wait.comm), wait)
    return Graph(tuple(unique.values()), tuple(issues), tuple(calls), tuple(watched))


def location(text: str | None) -> Location | None:
    """`10.1.0.2/6`, as HCCL calls a device of a server."""
    if not text:
        return None
    server, _, device = text.rpartition("/")
    return (server.partition("%")[0], int(device)) if server and device.isdigit() else None


class _Reader:
    """The facts of one process, in order: some messages are spread over several lines."""

    def __init__(self, who: Who, number: int) -> None:
        self.who, self.number = who, number
        self.issues: list[Issue] = []
        self._listed = False  # the root rank lists who is missing
        self._comm: str | None = None  # the communicator that was last spoken of
        self._tag: tuple[str, Place] | None = None
        self.calls: list[Issue] = []
        self.watched: list[Issue] = []
        self._have: set[int] = set()  # who reached the root rank, how many it counts, and how many it wants
        self._total = self._size = self._lists = 0
        self._server: Place | None = None
        self._open: list[
            tuple[str, Place, str | None]
        ] = []  # peers without a communicator yet, and the rank that waits

    def read(self, hit: Hit) -> Iterator[Wait]:
        got = dict(hit.captures)
        if "comm" in got:
            self._comm = self.who.comm(self.number, got["comm"]) or self._comm
        read = _READERS.get(fact_of(hit))
        return read(self, got, hit.place) if read is not None else iter(())

    def _wait(self, kind: str, on: Target | None, comm: str | None, place: Place) -> Wait:
        if on is not None and on.process == self.number:
            on = None
        return Wait(self.number, on, kind, comm, place)

    def _seat(self, comm: str | None, rank: int, own: str | None = None) -> Target | None:
        """The peer at a seat. Without run logs communicators are unknown: then a rank that counts like the job's is one."""
        if comm is not None:
            if rank >= size_of(comm):
                return None  # of another communicator than the lines around are about
            found = self.who.seat(comm, rank, self.number)
            return Target(self.who.by_rank.get(rank) if found is None and size_of(comm) == self.who.world_size else found, comm, rank)
        mine = self.who.processes[self.number].rank
        if own is not None and (mine is None or own != str(mine)):
            return None
        number = self.who.by_rank.get(rank)
        return Target(number) if number is not None else None

    # execution: notify wait timeouts

    def _notify(self, got: dict[str, str], place: Place) -> Iterator[Wait]:
        comm = (
            self.who.comm(self.number, got.get("comm"))
            or self.who.comm_of_tag(self.number, got.get("tag"))
            or self._comm
        )
        if "tag" in got and comm:
            self._issue(comm, got["tag"], {}, place)
        if "on" in got:
            yield self._wait("notify", self._seat(comm, int(got["on"])), comm, place)
        elif "op" in got and comm:
            self.issues.append(Issue(self.number, comm, got["op"].lower(), None, None, None, None, place))

    def _task_base(self, got: dict[str, str], place: Place) -> Iterator[Wait]:
        self._tag = (got["tag"], place)
        comm = self.who.comm_of_tag(self.number, got["tag"])
        if comm is not None:
            self._issue(comm, got["tag"], got, place)
        yield self._wait("notify", None, comm, place)

    def _task_para(self, got: dict[str, str], place: Place) -> Iterator[Wait]:
        if got["on"].isdigit():
            tag = got.get("tag") or (self._tag[0] if self._tag else None)
            comm = self.who.comm_of_tag(self.number, tag)
            if comm is None:
                self._open.append((got["on"], place, None))
            else:
                yield self._wait("notify", self._seat(comm, int(got["on"])), comm, place)

    def _task_group(self, got: dict[str, str], place: Place) -> Iterator[Wait]:
        comm = self.who.comm(self.number, got["comm"])
        for rank, at, own in self._open:
            yield self._wait("notify", self._seat(comm, int(rank), own), comm, at)
        self._open = []
        yield self._wait("notify", None, comm, place)

    # execution on the device: the scheduler of the AI CPU tells what its tasks waited for

    def _aicpu_task(self, got: dict[str, str], place: Place) -> Iterator[Wait]:
        self._open = []
        if got["task"].startswith("NOTIFY"):
            self._open = [(got["on"], place, got["local"])]
        return iter(())

    def _aicpu_op(self, got: dict[str, str], place: Place) -> Iterator[Wait]:
        comm = self.who.comm(self.number, got["comm"])
        for rank, at, own in self._open:
            on = self._seat(comm, int(rank), own) if rank != NO_RANK else None
            yield self._wait("notify", on, comm, at)
            if comm is not None and "sendrecv" not in got["tag"].lower():
                self._issue(comm, got["tag"], got, place)
        self._open = []

    def _task_op(self, got: dict[str, str], place: Place) -> Iterator[Wait]:
        if self._comm is not None and self._tag is not None:
            self._issue(self._comm, self._tag[0], got, place)
        return iter(())

    def _issue(self, comm: str, tag: str, got: dict[str, str], place: Place) -> None:
        op = _OP.match(tag)
        index = got.get("index")
        self.issues.append(
            Issue(self.number, comm, op[1].lower() if op else None, int(index) if index else None, got.get("count"),
                  got.get("dtype"), _iso(got.get("issued")), place)
        )  # fmt: skip

    def _call(self, got: dict[str, str], place: Place) -> Iterator[Wait]:
        comm = self.who.comm(self.number, got.get("comm")) or self.who.comm_of_tag(self.number, got["tag"])
        if comm is not None:
            self.calls.append(
                Issue(self.number, comm, got["op"].lower(), None, got["count"], got["dtype"], place.time, place)
            )
        return iter(())

    def _watchdog(self, got: dict[str, str], place: Place) -> Iterator[Wait]:
        whole = self.who.processes[self.number].rank == int(got["rank"])  # else it counts in a smaller group
        self.watched.append(
            Issue(self.number, WHOLE if whole else "", got["op"].lower(), int(got["index"]), None, None, None, place)
        )
        yield self._wait("watchdog", None, None, place)

    # set-up of links

    def _socket(self, _: dict[str, str], place: Place) -> Iterator[Wait]:
        yield self._wait("link", None, self._comm, place)

    def _link_row(self, got: dict[str, str], place: Place) -> Iterator[Wait]:
        number = self.who.by_address(self.number, got["on_ip"])
        target = Target(number, address=got["on_ip"]) if number is not None else None
        if target is None:
            seat = self._seat(self._comm, int(got["on"]), got["comm_rank"]) or Target(None)
            target = seat._replace(address=got["on_ip"])
        yield self._wait("link", target, self._comm, place)

    def _link_pair(self, got: dict[str, str], place: Place) -> Iterator[Wait]:
        comm = self.who.comm_of_tag(self.number, got.get("tag")) or self._comm
        at = _peer(got)
        number = self.who.at.get(at) if at is not None else None
        if number is None:
            seat = self._seat(comm, int(got["on"]), got["comm_rank"])
            number = seat.process if seat is not None else None
        yield self._wait("link", Target(number, comm, int(got["on"]), at), comm, place)

    def _first_pair(self, got: dict[str, str], place: Place) -> Iterator[Wait]:
        source, target = (got["server"], int(got["device"])), (got["on_server"], int(got["on_device"]))
        number = self.who.at.get(source)
        if number is not None:  # the pair may be two others: the detector passes on what it was told
            yield Wait(number, Target(self.who.at.get(target), location=target), "link", None, place)

    def _p2p(self, got: dict[str, str], place: Place) -> Iterator[Wait]:
        process, device = self.who.processes[self.number], int(got["on_device"])
        at = (process.server, device) if process.server is not None else None
        yield self._wait("link", Target(self.who.beside(self.number, device), location=at), self._comm, place)

    # set-up of communicators

    def _root_unreachable(self, got: dict[str, str], place: Place) -> Iterator[Wait]:
        yield self._wait(
            "agent",
            self._seat(self._comm, 0) if self._comm else Target(None, address=got["on_server"]),
            self._comm,
            place,
        )

    def _no_answer(self, _: dict[str, str], place: Place) -> Iterator[Wait]:
        """It reached the root rank, which never told it about the others."""
        if self._comm is not None:
            yield self._wait("agent", self._seat(self._comm, 0), self._comm, place)

    def _server_timeout(self, _: dict[str, str], place: Place) -> Iterator[Wait]:
        self._have, self._total, self._size, self._lists, self._server = set(), 0, 0, 0, place
        yield self._wait("server", None, self._comm, place)

    def _missing_agents(self, got: dict[str, str], place: Place) -> Iterator[Wait]:
        if self._comm is None:
            return
        for rank in map(int, _RANKS.findall(got["missing"])):
            self._listed = True
            yield self._wait("server", self._seat(self._comm, rank), self._comm, place)

    def _connected(self, got: dict[str, str], _: Place) -> Iterator[Wait]:
        self._have |= set(map(int, _RANKS.findall(got["have"])))
        self._lists += 1
        return iter(())

    def _connected_total(self, got: dict[str, str], _: Place) -> Iterator[Wait]:
        self._total = int(got["count"])
        return iter(())

    def _wanted(self, got: dict[str, str], _: Place) -> Iterator[Wait]:
        self._size = int(got["size"])
        return iter(())

    def finish(self) -> Iterator[Wait]:
        """Where the root rank only lists who came, the others are missing; not when a part of the list was not kept."""
        comm, place = self._comm, self._server
        if comm is None or place is None or self._listed or not self._have:
            return
        if len(self._have) != self._total if self._total else self._lists >= KEEP_OF_OWNER:
            return
        for rank in sorted(set(range(self._size or size_of(comm))) - self._have):
            yield self._wait("server", self._seat(comm, rank), comm, place)

    # what HCCL itself accuses

    def _heartbeat(self, got: dict[str, str], place: Place) -> Iterator[Wait]:
        at = location(got.get("who")) or _peer(got)
        kind = next((v for k, v in _STATUS.items() if got["status"].lower().startswith(k)), None)
        if at is not None and kind is not None:
            number = self.who.at.get(at)
            if number != self.number:
                yield Wait(self.number, Target(number, location=at), kind, None, place)

    def _cqe(self, got: dict[str, str], place: Place) -> Iterator[Wait]:
        at = _peer(got)
        number = self.who.at.get(at) if at is not None else None
        if number is None and got.get("on_ip"):
            number = self.who.by_ip.get(got["on_ip"])
            at = at or self.who.address_of.get(got["on_ip"])
        yield self._wait("cqe", Target(number, location=at, address=got.get("on_ip")), self._comm, place)


# Who reads which fact. A fact that a user's knowledge adds has no reader, whatever it is called.
_READERS: Mapping[str, Callable[[_Reader, dict[str, str], Place], Iterator[Wait]]] = {
    "notify": _Reader._notify,
    "task-base": _Reader._task_base,
    "task-para": _Reader._task_para,
    "task-group": _Reader._task_group,
    "task-op": _Reader._task_op,
    "aicpu-task": _Reader._aicpu_task,
    "aicpu-op": _Reader._aicpu_op,
    "call": _Reader._call,
    "watchdog": _Reader._watchdog,
    "socket": _Reader._socket,
    "link-row": _Reader._link_row,
    "link-pair": _Reader._link_pair,
    "first-pair": _Reader._first_pair,
    "p2p": _Reader._p2p,
    "root-unreachable": _Reader._root_unreachable,
    "no-answer": _Reader._no_answer,
    "server-timeout": _Reader._server_timeout,
    "missing-agents": _Reader._missing_agents,
    "connected": _Reader._connected,
    "connected-total": _Reader._connected_total,
    "wanted": _Reader._wanted,
    "heartbeat": _Reader._heartbeat,
    "cqe": _Reader._cqe,
}


def _peer(got: dict[str, str]) -> Location | None:
    """The device of a server that a line names as the other end."""
    server, device = got.get("on_server"), got.get("on_device")
    return (server, int(device)) if server and device else None


def _iso(text: str | None) -> str | None:
    """`2025-12-10-19:55:38.490.253` as lines carry times."""
    if not text or len(text) < 19:
        return None
    fraction = text[20:].replace(".", "")[:6]
    return f"{text[:10]}T{text[11:19]}.{fraction:0<6}"
