"""A process while it is being learned: what its own lines tell of rank, device, server and communicators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import chain
from typing import Any

from doctor.job.facts import fact_of
from doctor.job.job import Process
from doctor.scan.harvest import Hit, Place
from doctor.scan.packed import part

WORLD_GROUP = "hccl_world_group"
NO_ADDRESS = frozenset({"0.0.0.0", "", "::", "127.0.0.1"})  # noqa: S104 - what logs print for "none"


class Facts:
    """What one process tells, by time: parts of what all processes tell, which is too much to be held as it is."""

    __slots__ = ("names", "parts")

    def __init__(self) -> None:
        self.parts: list[tuple[Sequence[Hit], int, int]] = []  # of those who turned out to be this process, each by time
        self.names: set[str] = set()  # of the facts

    def __bool__(self) -> bool:
        return bool(self.parts)

    def __iter__(self) -> Iterator[Hit]:
        return chain.from_iterable(part(*one) for one in self.parts)

    def of(self, *names: str) -> Iterator[Hit]:
        """Those of some names."""
        return iter(()) if self.names.isdisjoint(names) else (hit for hit in self if fact_of(hit) in names)

    def add(self, others: Facts) -> None:
        """Those of another one who turned out to be the same process."""
        self.parts += others.parts
        self.names |= others.names

    def in_time(self) -> Iterator[Hit]:
        """Those of all parts by time."""
        return merge(*(part(*one) for one in self.parts), key=in_order)


def in_order(hit: Hit) -> tuple[str, str, int]:
    """What the facts of a process are sorted by."""
    return hit.place.time or "", hit.place.path, hit.place.line


class Actor:
    """A process while it is being learned."""

    __slots__ = ("device", "device_ip", "ended", "facts", "first", "home", "last", "link_ips", "link_ranks", "logic", "nics", "node", "number", "pid",
                 "place", "rank", "seats", "server", "world")  # fmt: skip

    def __init__(self, home: str, pid: int | None, number: int) -> None:
        self.home, self.pid, self.number = home, pid, number  # `number`: among those that were heard
        self.node: str | None = None
        self.server: str | None = None
        self.rank: int | None = None  # told by a launcher, an error head or a path
        self.world: int | None = None  # rank in the communicator of the whole job
        self.device: int | None = None
        self.logic: int | None = None
        self.device_ip: str | None = None
        self.first: str | None = None
        self.last: str | None = None
        self.seats: dict[str, tuple[str, int | None]] = {}  # name as this process prints it -> communicator, rank in it
        self.ended = False
        self.place: Place | None = None
        self.facts = Facts()
        self.nics: set[tuple[str, int]] = set()  # address and device that listens on it, on this server
        self.link_ranks: set[int] = set()  # as what, and from which addresses, it asks for links
        self.link_ips: set[str] = set()

    def seen(self, first: str | None, last: str | None) -> None:
        if first is not None and (self.first is None or first < self.first):
            self.first = first
        if last is not None and (self.last is None or last > self.last):
            self.last = last


def size_of(comm: str) -> int:
    return int(comm.split("|")[1])


def same_everywhere(actors: list[Actor], world: list[str]) -> bool:
    """Several communicators of all ranks (one a framework): they count as one when every process has one rank in them."""
    return all(len({r for c, r in a.seats.values() if c in world}) <= 1 for a in actors)


def actor_order(actor: Actor) -> tuple[Any, ...]:
    return (actor.home, actor.pid is None, actor.pid or 0, -1 if actor.rank is None else actor.rank)


def shared(a: str, b: str) -> int:
    """How many components two paths share, in order from the front or as names anywhere."""
    left, right = [x for x in a.split("/") if x], [x for x in b.split("/") if x]
    return len(set(left) & set(right))


def agree(a: Actor, b: Actor) -> bool:
    if a.node is not None and b.node is not None and a.node != b.node:
        return False
    return not any(x is not None and y is not None and x != y for x, y in ((a.rank, b.rank), (a.device, b.device)))


def join(into: Actor, other: Actor) -> None:
    into.seen(other.first, other.last)
    into.facts.add(other.facts)
    into.ended |= other.ended
    into.nics |= other.nics
    into.link_ranks |= other.link_ranks
    into.link_ips |= other.link_ips
    for name in ("node", "server", "rank", "device", "logic", "device_ip", "place"):
        if getattr(into, name) is None:
            setattr(into, name, getattr(other, name))


def learn(actor: Actor) -> None:
    """Reads the identity facts of one process in the order in which they stand."""
    latest: str | None = None  # the communicator that the lines around are about
    for hit in actor.facts:
        name = fact_of(hit)
        got = dict(hit.captures)
        actor.seen(hit.place.time, hit.place.time)
        if name == "error-head":
            actor.rank, actor.device = (
                int(got["rank"]),
                actor.device if actor.device is not None else int(got["device"]),
            )
            continue
        if name == "comm-destroy":
            actor.ended, actor.place = True, hit.place
            continue
        if name == "listen":  # not of its own device alone: one process may speak for all of a server
            actor.nics.add((got["device_ip"], int(got["device"])))
            continue
        if name == "link-row":
            actor.link_ranks.add(int(got["comm_rank"]))
            actor.link_ips.add(got["device_ip"])
        comm = got.get("comm") or got.get("name")
        if name == "hcom-init":  # from a rank table: the communicator of the whole job, which has no other name
            comm = WORLD_GROUP
        if (
            name in ("comm-entry", "hcom-init", "agent", "comm-done", "comm-key", "notify", "task-group")
            and comm
            and "size" in got
        ):
            latest = comm
            root = f"{got['root_ip']}:{got['root_port']}" if got.get("root_ip") and got.get("root_port") else ""
            known = actor.seats.get(comm)
            key = f"{comm}|{got['size']}|{root}"
            rank = int(got["comm_rank"]) if "comm_rank" in got else known[1] if known else None
            if known is None or (root and known[0].endswith("|")) or (known[1] is None and rank is not None):
                actor.seats[comm] = (known[0] if known and not root else key, rank)
            if "name" in got:
                actor.seats[got["name"]] = actor.seats[comm]
            actor.place = hit.place
        if name == "local-rank":
            actor.place = hit.place
            if latest is not None and actor.seats[latest][1] is None:
                actor.seats[latest] = (actor.seats[latest][0], int(got["comm_rank"]))
        if name in ("agent", "local-rank", "comm-done", "comm-entry", "hcom-init", "link-pair"):
            if got.get("server") and got["server"] not in NO_ADDRESS:
                actor.server = actor.server or got["server"]
            if got.get("device"):
                actor.device = int(got["device"])
            if got.get("device_ip") and got["device_ip"] not in NO_ADDRESS:
                actor.device_ip = actor.device_ip or got["device_ip"]
            if got.get("logic", "-1") != "-1":
                actor.logic = int(got["logic"])


def process_of(number: int, actor: Actor) -> Process:
    rank = actor.world if actor.world is not None else actor.rank
    return Process(
        number,
        actor.home,
        actor.pid,
        actor.node or actor.server,
        actor.server,
        rank,
        actor.device if actor.device is not None else actor.logic,
        actor.device_ip,
        actor.first,
        actor.last,
        tuple(sorted({(c, r) for c, r in actor.seats.values() if r is not None})),
        actor.ended,
        actor.place,
    )
