"""Who is who: processes, ranks, devices, servers and communicators, from what the lines themselves say.

A pid is only unique on one node, and in containers every node has the same ones. So a process is a pid under a folder;
folders, hosts and `rank_7/` in paths are hints that step back when a line says otherwise.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from doctor.harvest import Harvest, Hit, Place
from doctor.job.model import Location, Process, Target
from doctor.source import hints

_TREE = re.compile(r"(?:^|/)(?:debug|run|security)/(?:plog|device-\d+)/[^/]*$|(?:^|/)(?:plog|device-\d+)/[^/]*$|[^/]*$")
NO_ADDRESS = frozenset({"0.0.0.0", "", "::", "127.0.0.1"})  # noqa: S104 - what logs print for "none"


def home(path: str) -> str:
    """The folder under which all logs of a process stand: `a/run/plog/plog-1_2.log` and `a/debug/plog/...` are at `a`."""
    found = _TREE.search(path)
    return path[: found.start()] if found else ""


class Actor:
    """A process while it is being learned."""

    __slots__ = ("device", "device_ip", "ended", "facts", "first", "home", "last", "logic", "node", "paths", "pid", "place", "rank",
                 "seats", "server", "world")  # fmt: skip

    def __init__(self, home: str, pid: int | None) -> None:
        self.home, self.pid = home, pid
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
        self.facts: list[Hit] = []
        self.paths: set[str] = set()

    def seen(self, first: str | None, last: str | None) -> None:
        if first is not None and (self.first is None or first < self.first):
            self.first = first
        if last is not None and (self.last is None or last > self.last):
            self.last = last


class Who:
    """All processes of a harvest, and how to find one by what a line calls it."""

    def __init__(self, harvest: Harvest) -> None:
        self._by_key: dict[tuple[str, int | None, int | None], Actor] = {}
        self._resolved: dict[tuple[str, int | None, int | None], Actor] = {}
        self._host_pids: dict[str, int | None] = {}
        addresses: dict[str, tuple[str, int]] = {}
        for hit in harvest.facts:
            if hit.signal.startswith("fact:device-address/"):
                got = dict(hit.captures)
                addresses.setdefault(got["device_ip"], (hit.place.node or home(hit.place.path), int(got["device"])))
                continue
            if (actor := self._actor(hit.place)) is not None:
                actor.facts.append(hit)
                actor.paths.add(hit.place.path)
        for hit in harvest.hits:
            if (actor := self._actor(hit.place)) is not None:
                actor.seen(hit.place.time, hit.place.time)
        for span in harvest.spans:
            if span.pid is not None and span.pid >= 0:
                actor = self._at(home(span.path), span.pid, None)
                told = hints(span.path)
                actor.node, actor.rank, actor.device = (
                    actor.node if actor.node is not None else told.node,
                    actor.rank if actor.rank is not None else told.rank,
                    actor.device if actor.device is not None else told.device,
                )
                actor.seen(span.first, span.last)
                actor.paths.add(span.path)
        for actor in self._by_key.values():
            _learn(actor)
        self._join_pids()
        actors = sorted({id(a): a for a in self._resolved.values()}.values(), key=_order)
        self._unify_comms(actors)
        self.world_size = self._world(actors)
        actors = self._join_ranks(actors)
        self.actors = actors
        self.number = {id(a): n for n, a in enumerate(actors)}
        self.processes = tuple(_process(n, a) for n, a in enumerate(actors))
        self.sizes: dict[str, int] = {}
        self.at: dict[Location, int] = {}
        self.by_ip: dict[str, int] = {}
        self.by_rank: dict[int, int] = {}
        self._seats: dict[tuple[str, int], list[int]] = defaultdict(list)
        for p in self.processes:
            if p.location is not None:
                self.at.setdefault(p.location, p.number)
            if p.device_ip is not None:
                self.by_ip.setdefault(p.device_ip, p.number)
            if p.rank is not None:
                self.by_rank.setdefault(p.rank, p.number)
            for comm, rank in p.seats:
                self._seats[comm, rank].append(p.number)
                self.sizes[comm] = _size(comm)
        self.address_of = addresses
        for address, (node, device) in addresses.items():
            found = [p.number for p in self.processes if p.device == device and node in (p.node, p.server)]
            if len(found) == 1:
                self.by_ip.setdefault(address, found[0])
        self._by_pid: dict[int, list[int]] = defaultdict(list)
        for p in self.processes:
            if p.pid is not None:
                self._by_pid[p.pid].append(p.number)

    # finding

    def of(self, place: Place) -> int | None:
        """The process that a line belongs to."""
        pid = self._pid(place)
        if pid is None and place.rank is None:
            return None
        key = (home(place.path), pid, None if pid is not None else place.rank)
        actor = self._resolved.get(key)
        if actor is not None:
            return self.number.get(id(actor))
        if place.rank is not None:
            return self.by_rank.get(place.rank)
        return None

    def by_pid(self, pid: int, node: str | None, path: str) -> int | None:
        """A process that another line names by its pid (the kernel, a launcher): of the same node or the only one."""
        found = self._by_pid.get(pid, [])
        if len(found) > 1:
            near = [n for n in found if node is not None and node in (self.processes[n].node, self.processes[n].server)]
            if not near:
                best = max(_shared(self.processes[n].home, path) for n in found)
                near = [n for n in found if _shared(self.processes[n].home, path) == best and best]
            found = near
        return found[0] if len(found) == 1 else None

    def seat(self, comm: str | None, rank: int | None, beside: int) -> int | None:
        """The process with a rank inside a communicator; of several, the one on the asking process's server."""
        if comm is None or rank is None:
            return None
        found = self._seats.get((comm, rank), [])
        if len(found) > 1:
            server = self.processes[beside].server
            found = [n for n in found if self.processes[n].server == server]
        return found[0] if len(found) == 1 else None

    def comm(self, number: int, name: str | None) -> str | None:
        """The communicator that a process calls by this name."""
        if name is None:
            return None
        seat = self.actors[number].seats.get(name)
        return seat[0] if seat else None

    def comm_of_tag(self, number: int, tag: str | None) -> str | None:
        """The communicator in which a collective runs: its tag is made of the operator and the communicator's name."""
        if not tag:
            return None
        names = sorted((n for n in self.actors[number].seats if n in tag), key=len)
        return self.actors[number].seats[names[-1]][0] if names else None

    def guess(self, target: Target) -> int | None:
        """The rank of somebody without logs, where the others leave no choice."""
        missing = [r for r in range(self.world_size or 0) if r not in self.by_rank]
        if target.comm is not None and target.comm_rank is not None and _size(target.comm) == self.world_size:
            return target.comm_rank
        if len(missing) == 1:
            return missing[0]
        known: list[tuple[int, int]] = []  # what the target is called by, and the rank, of its neighbours
        wanted: int | None = None
        if target.location is not None:
            server, wanted = target.location
            known = [
                (p.device, p.rank)
                for p in self.processes
                if p.server == server and p.device is not None and p.rank is not None
            ]
        elif target.comm is not None:
            wanted = target.comm_rank
            known = [
                (r, rank)
                for p in self.processes
                for c, r in p.seats
                if c == target.comm and (rank := p.rank) is not None
            ]
        if wanted is None or len(known) < 2:
            return None
        (a, x), (b, y) = known[0], known[-1]
        if a == b or (y - x) % (b - a) or any((k - a) * (y - x) != (r - x) * (b - a) for k, r in known):
            return None
        rank = x + (wanted - a) * ((y - x) // (b - a))
        return rank if rank in missing else None

    # learning

    def _at(self, where: str, pid: int | None, rank: int | None) -> Actor:
        key = (where, pid, rank)
        actor = self._by_key.get(key)
        if actor is None:
            actor = self._by_key[key] = Actor(where, pid)
            actor.rank = rank
        return actor

    def _pid(self, place: Place) -> int | None:
        """The process on the host: lines of a device log carry the pid of a process on the device."""
        if "device-" not in place.path:
            return place.pid
        if place.path not in self._host_pids:
            self._host_pids[place.path] = hints(place.path).pid
        pid = self._host_pids[place.path]
        return pid if pid is not None else place.pid

    def _actor(self, place: Place) -> Actor | None:
        pid = self._pid(place)
        if pid is None and place.rank is None:
            return None
        actor = self._at(home(place.path), pid, None if pid is not None else place.rank)
        if actor.node is None:
            actor.node = place.node
        if actor.rank is None:
            actor.rank = place.rank
        if actor.device is None:
            actor.device = place.device
        return actor

    def _join_pids(self) -> None:
        """The same pid under two folders is one process when nothing contradicts and exactly one fits best."""
        by_pid: dict[int, list[tuple[tuple[str, int | None, int | None], Actor]]] = defaultdict(list)
        for key, actor in sorted(self._by_key.items(), key=lambda i: (i[0][0], i[0][1] or -1, i[0][2] or -1)):
            if actor.pid is None:
                self._resolved[key] = actor
            else:
                by_pid[actor.pid].append((key, actor))
        for group in by_pid.values():
            strong = [a for _, a in group if a.seats]
            for key, actor in group:
                target = actor
                if not actor.seats and strong:
                    fits = [s for s in strong if _agree(actor, s)]
                    best = max((_shared(s.home, actor.home) for s in fits), default=0)
                    near = [s for s in fits if _shared(s.home, actor.home) == best]
                    if len(near) == 1 and (best or len(strong) == 1):
                        target = near[0]
                        _merge(target, actor)
                self._resolved[key] = target

    def _unify_comms(self, actors: Iterable[Actor]) -> None:
        """A communicator that one process names with its root and another without is the same, if there is only one such."""
        full: dict[str, set[str]] = defaultdict(set)
        actors = list(actors)
        for actor in actors:
            for comm, _ in actor.seats.values():
                if not comm.endswith("|"):
                    full[comm.rpartition("|")[0] + "|"].add(comm)
        for actor in actors:
            for name, (comm, rank) in actor.seats.items():
                if comm.endswith("|") and len(full.get(comm, ())) == 1:
                    actor.seats[name] = (next(iter(full[comm])), rank)

    def _world(self, actors: list[Actor]) -> int | None:
        """The size of the job: of the one communicator that is larger than all others."""
        comms = {comm for a in actors for comm, _ in a.seats.values()}
        largest = max((_size(c) for c in comms), default=0)
        world = [c for c in comms if _size(c) == largest]
        told = max((a.rank + 1 for a in actors if a.rank is not None), default=0)
        if largest > 1 and largest >= told and largest >= len([a for a in actors if a.seats]):
            for actor in actors:
                ranks = {r for c, r in actor.seats.values() if c in world and r is not None}
                if len(ranks) == 1 and (len(world) == 1 or _same_everywhere(actors, world)):
                    actor.world = next(iter(ranks))
            return largest
        return max(told, largest) or None

    def _join_ranks(self, actors: list[Actor]) -> list[Actor]:
        """Lines that know only their rank belong to the process that has it."""
        owners: dict[int, list[Actor]] = defaultdict(list)
        for actor in actors:
            rank = actor.world if actor.world is not None else actor.rank
            if actor.pid is not None and rank is not None:
                owners[rank].append(actor)
        kept = []
        for actor in actors:
            rank = actor.rank
            if actor.pid is None and rank is not None and len(owners.get(rank, ())) == 1:
                _merge(owners[rank][0], actor)
                for key, known in self._resolved.items():
                    if known is actor:
                        self._resolved[key] = owners[rank][0]
            else:
                kept.append(actor)
        return kept


def _size(comm: str) -> int:
    return int(comm.split("|")[1])


def _same_everywhere(actors: list[Actor], world: list[str]) -> bool:
    """Several communicators of all ranks (one a framework): they count as one when every process has one rank in them."""
    return all(len({r for c, r in a.seats.values() if c in world}) <= 1 for a in actors)


def _order(actor: Actor) -> tuple[Any, ...]:
    return (actor.home, actor.pid is None, actor.pid or 0, -1 if actor.rank is None else actor.rank)


def _shared(a: str, b: str) -> int:
    """How many components two paths share, in order from the front or as names anywhere."""
    left, right = [x for x in a.split("/") if x], [x for x in b.split("/") if x]
    return len(set(left) & set(right))


def _agree(a: Actor, b: Actor) -> bool:
    if a.node is not None and b.node is not None and a.node != b.node:
        return False
    return not any(x is not None and y is not None and x != y for x, y in ((a.rank, b.rank), (a.device, b.device)))


def _merge(into: Actor, other: Actor) -> None:
    into.seen(other.first, other.last)
    into.facts += other.facts
    into.paths |= other.paths
    into.ended |= other.ended
    for name in ("node", "server", "rank", "device", "logic", "device_ip", "place"):
        if getattr(into, name) is None:
            setattr(into, name, getattr(other, name))


def _learn(actor: Actor) -> None:
    """Reads the identity facts of one process in the order in which they stand."""
    actor.facts.sort(key=lambda h: (h.place.time or "", h.place.path, h.place.line))
    latest: str | None = None  # the communicator that the lines around are about
    for hit in actor.facts:
        name = hit.signal[5:].partition("/")[0]
        got = dict(hit.captures)
        actor.seen(hit.place.time, hit.place.time)
        if name == "error-head":
            actor.rank, actor.device = (
                int(got["rank"]),
                actor.device if actor.device is not None else int(got["device"]),
            )
            continue
        if name == "comm-destroy":
            actor.ended = True
            continue
        comm = got.get("comm")
        if name in ("comm-entry", "agent", "comm-done", "comm-key", "notify", "task-group") and comm and "size" in got:
            latest = comm
            root = f"{got['root_ip']}:{got['root_port']}" if got.get("root_ip") else ""
            known = actor.seats.get(comm)
            key = f"{comm}|{got['size']}|{root}"
            rank = int(got["comm_rank"]) if "comm_rank" in got else known[1] if known else None
            if known is None or (root and known[0].endswith("|")) or (known[1] is None and rank is not None):
                actor.seats[comm] = (known[0] if known and not root else key, rank)
            actor.place = hit.place
        if name == "local-rank":
            actor.place = hit.place
            if latest is not None and actor.seats[latest][1] is None:
                actor.seats[latest] = (actor.seats[latest][0], int(got["comm_rank"]))
        if name in ("agent", "local-rank", "comm-done", "comm-entry", "link-pair"):
            if got.get("server") and got["server"] not in NO_ADDRESS:
                actor.server = actor.server or got["server"]
            if got.get("device"):
                actor.device = int(got["device"])
            if got.get("device_ip") and got["device_ip"] not in NO_ADDRESS:
                actor.device_ip = actor.device_ip or got["device_ip"]
            if got.get("logic", "-1") != "-1":
                actor.logic = int(got["logic"])


def _process(number: int, actor: Actor) -> Process:
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
        tuple(sorted((c, r) for c, r in actor.seats.values() if r is not None)),
        actor.ended,
        actor.place,
    )
