"""Who is who: processes, ranks, devices, servers and communicators, from what the lines themselves say.

A pid is only unique on one node, and in containers every node has the same ones. So a process is a pid under a folder;
folders, hosts and `rank_7/` in paths are hints that step back when a line says otherwise.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from doctor.job.actor import Actor, actor_order, agree, join, learn, process_of, same_everywhere, shared, size_of
from doctor.job.job import Location, Process, Target
from doctor.job.table import Table, tables
from doctor.read.source import hints, home
from doctor.scan.harvest import Harvest, Hit, Place


class Who:
    """All processes of a harvest, and how to find one by what a line calls it."""

    def __init__(self, harvest: Harvest) -> None:
        self._by_key: dict[tuple[str, int | None, int | None], Actor] = {}
        self._resolved: dict[tuple[str, int | None, int | None], Actor] = {}
        self._host_pids: dict[str, int | None] = {}
        addresses: dict[str, tuple[str, int]] = {}
        for fact in harvest.facts:
            hit = _by_its_own_rank(fact)
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
            learn(actor)
        self._join_pids()
        actors = sorted({id(a): a for a in self._resolved.values()}.values(), key=actor_order)
        _same_server(actors)
        self._unify_comms(actors)
        _seats_of_links(actors)
        self.table: Table = tables(harvest.facts)
        _told_by_table(actors, self.table)
        self.world_size = self._world(actors) if not self.table.size else max(self._world(actors) or 0, self.table.size)
        actors = self._join_ranks(actors)
        self.actors = actors
        self.number = {id(a): n for n, a in enumerate(actors)}
        self.processes = tuple(process_of(n, a) for n, a in enumerate(actors))
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
                self.sizes[comm] = size_of(comm)
        self.address_of = addresses
        for address, (node, device) in addresses.items():
            found = [p.number for p in self.processes if p.device == device and node in (p.node, p.server)]
            if len(found) == 1:
                self.by_ip.setdefault(address, found[0])
        for location, address in self.table.addresses.items():
            if location in self.at:
                self.by_ip.setdefault(address, self.at[location])
        self._nics = {
            (_node(p), ip): device for p, a in zip(self.processes, actors, strict=True) for ip, device in a.nics
        }
        self._of_node: dict[tuple[str, int], list[int]] = defaultdict(list)
        for p in self.processes:
            if p.device is not None:
                self._of_node[_node(p), p.device].append(p.number)
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
                best = max(shared(self.processes[n].home, path) for n in found)
                near = [n for n in found if shared(self.processes[n].home, path) == best and best]
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

    def beside(self, number: int, device: int) -> int | None:
        """The process that holds another device of the same server."""
        found = self._of_node.get((_node(self.processes[number]), device), [])
        return found[0] if len(found) == 1 else None

    def by_address(self, number: int, address: str) -> int | None:
        """Who listens on an address, as a process says it. Addresses of virtual NICs are the same on every server."""
        device = self._nics.get((_node(self.processes[number]), address))
        found = self.beside(number, device) if device is not None else None
        return found if found is not None else self.by_ip.get(address)

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
        """The rank of somebody without logs, where a rank table tells it or the others leave no choice."""
        if target.location is not None and target.location in self.table.ranks:
            return self.table.ranks[target.location]
        if target.address is not None and target.address in self.table.rank_of_address:
            return self.table.rank_of_address[target.address]
        missing = [r for r in range(self.world_size or 0) if r not in self.by_rank]
        if target.comm is not None and target.comm_rank is not None and size_of(target.comm) == self.world_size:
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
        """The process on the host. The name of its log tells: lines of a device log carry the pid of a process on the
        device, and threads and children that write into a plog may carry another one. Rows of tables are about whom they name."""
        if place.kind == "table" or ("device-" not in place.path and "plog-" not in place.path):
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
                    fits = [s for s in strong if agree(actor, s)]
                    best = max((shared(s.home, actor.home) for s in fits), default=0)
                    near = [s for s in fits if shared(s.home, actor.home) == best]
                    if len(near) == 1 and (best or len(strong) == 1):
                        target = near[0]
                        join(target, actor)
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
        largest = max((size_of(c) for c in comms), default=0)
        world = [c for c in comms if size_of(c) == largest]
        told = max((a.rank + 1 for a in actors if a.rank is not None), default=0)
        if largest > 1 and largest >= told and largest >= len([a for a in actors if a.seats]):
            for actor in actors:
                ranks = {r for c, r in actor.seats.values() if c in world and r is not None}
                if len(ranks) == 1 and (len(world) == 1 or same_everywhere(actors, world)):
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
                join(owners[rank][0], actor)
                for key, known in self._resolved.items():
                    if known is actor:
                        self._resolved[key] = owners[rank][0]
            else:
                kept.append(actor)
        return kept


def _by_its_own_rank(hit: Hit) -> Hit:
    """A watchdog names its rank: on a screen without prefixes nothing else tells whose line it is."""
    if hit.place.pid is not None or hit.place.rank is not None or not hit.signal.startswith("fact:watchdog/"):
        return hit
    return hit._replace(place=hit.place._replace(rank=int(dict(hit.captures)["rank"])))


def _node(process: Process) -> str:
    return process.server or process.node or process.home


def _same_server(actors: Iterable[Actor]) -> None:
    """A process that does not say its server is on that of the others below the same node's folder."""
    servers: dict[str, set[str]] = defaultdict(set)
    actors = list(actors)
    for actor in actors:
        if actor.node is not None and actor.server is not None:
            servers[actor.node].add(actor.server)
    for actor in actors:
        if actor.server is None and actor.node is not None and len(servers[actor.node]) == 1:
            actor.server = next(iter(servers[actor.node]))


def _seats_of_links(actors: Iterable[Actor]) -> None:
    """Without its run log a process still tells its address and rank where links fail; with one communicator that is a seat."""
    actors = list(actors)
    nics = {(a.server, ip): device for a in actors for ip, device in a.nics}
    for actor in actors:
        held = {nics[actor.server, ip] for ip in actor.link_ips if (actor.server, ip) in nics}
        if actor.device is None and actor.logic is None and len(held) == 1:
            actor.device = next(iter(held))
    comms = {comm for a in actors for comm, _ in a.seats.values()}
    if len(comms) != 1:
        return
    comm = next(iter(comms))
    taken = {rank for a in actors for _, rank in a.seats.values()}
    for actor in actors:
        if not actor.seats and len(actor.link_ranks) == 1 and not actor.link_ranks & taken:
            rank = next(iter(actor.link_ranks))
            if rank < size_of(comm):
                actor.seats[comm.partition("|")[0]] = (comm, rank)


def _told_by_table(actors: Iterable[Actor], table: Table) -> None:
    """What a rank table tells about processes that name their device or its address but not their rank."""
    for actor in actors:
        if actor.device_ip is not None and actor.device_ip in table.location_of_address:
            server, device = table.location_of_address[actor.device_ip]
            actor.server, actor.device = actor.server or server, actor.device if actor.device is not None else device
        if actor.server is not None and actor.device is not None and actor.rank is None:
            actor.rank = table.ranks.get((actor.server, actor.device))
