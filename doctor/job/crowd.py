"""The processes of a harvest, learned from what their lines say of them.

A pid is only unique on one node, and in containers every node has the same ones. So a process is a pid under a folder;
folders, hosts and `rank_7/` in paths are hints that step back when a line says otherwise.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from doctor.job.actor import Actor, actor_order, agree, in_order, join, learn, same_everywhere, shared, size_of
from doctor.job.facts import fact_of
from doctor.job.table import Table, tables
from doctor.read.source import hints, home
from doctor.scan.harvest import RANK_TABLE, Harvest, Hit, Place, Span
from doctor.scan.packed import Packed, Rows
from doctor.scan.window_lines import OF_CHILD


class Crowd:
    """Everybody who printed a line, each process once."""

    def __init__(self, harvest: Harvest) -> None:
        self._by_key: dict[tuple[str, int | None, int | None], Actor] = {}
        self._resolved: dict[tuple[str, int | None, int | None], Actor] = {}
        self._host_pids: dict[str, int | None] = {}
        self.addresses: dict[str, tuple[str, int]] = {}  # address of a device's port -> node and device
        self._hear(harvest.facts)
        for hit in harvest.hits:
            if (actor := self._actor(hit.place)) is not None and OF_CHILD.match(hit.place.text) is None:  # a launcher speaks when the process is gone
                actor.seen(hit.place.time, hit.place.time)
        for span in harvest.spans:
            self._watch(span)
        for actor in self._by_key.values():
            learn(actor)
        self.actors = self._grouped()

    def of(self, place: Place) -> Actor | None:
        """The process that a line belongs to, as far as the line tells."""
        pid = self._pid(place)
        return self._resolved.get((home(place.path), pid, None if pid is not None else place.rank))

    def _grouped(self) -> list[Actor]:
        """Those who are the same process as one, with what they tell about each other."""
        self._join_pids()
        actors = sorted({id(a): a for a in self._resolved.values()}.values(), key=actor_order)
        _same_server(actors)
        _unify_comms(actors)
        _seats_of_links(actors)
        _told_by_table(actors, self.table)
        world, stated = _world(actors)
        self.world_size = world if not self.table.size else max(world or 0, self.table.size)
        self.stated = stated or self.table.size == self.world_size
        return self._join_ranks(actors)

    def _hear(self, facts: Iterable[Hit]) -> None:
        """Gives each process what it tells, and takes in rank tables."""
        told: Rows[tuple[int, Hit], Hit] = Rows(_of_whom_and_when, lambda rows: (hit for _, hit in rows), isinstance(facts, Packed))
        counts: Counter[int] = Counter()
        rank_tables: list[Hit] = []
        for hit in map(_by_its_own_rank, facts):
            if hit.signal == RANK_TABLE:
                rank_tables.append(hit)
            if fact_of(hit) == "device-address":
                got = dict(hit.captures)
                self.addresses.setdefault(got["device_ip"], (hit.place.node or home(hit.place.path), int(got["device"])))
            elif (actor := self._actor(hit.place)) is not None:
                counts[actor.number] += 1
                actor.facts.names.add(fact_of(hit))
                told.add(((actor.number, hit),))
        self.table: Table = tables(rank_tables)
        every, end = told.result(), 0
        for actor in self._by_key.values():
            if count := counts[actor.number]:
                actor.facts.parts.append((every, end, end + count))
                end += count

    def _watch(self, span: Span) -> None:
        if span.pid is None or span.pid < 0:
            return
        actor = self._at(home(span.path), span.pid, None)
        told = hints(span.path)
        actor.node = actor.node if actor.node is not None else told.node
        actor.rank = actor.rank if actor.rank is not None else told.rank
        actor.device = actor.device if actor.device is not None else told.device
        actor.seen(span.first, span.last)

    def _at(self, where: str, pid: int | None, rank: int | None) -> Actor:
        key = (where, pid, rank)
        actor = self._by_key.get(key)
        if actor is None:
            actor = self._by_key[key] = Actor(where, pid, len(self._by_key))
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


def _of_whom_and_when(row: tuple[int, Hit]) -> tuple[int, tuple[str, str, int]]:
    return row[0], in_order(row[1])


def _by_its_own_rank(hit: Hit) -> Hit:
    """A watchdog names its rank: on a screen without prefixes nothing else tells whose line it is."""
    if hit.place.pid is not None or hit.place.rank is not None or fact_of(hit) != "watchdog":
        return hit
    return hit._replace(place=hit.place._replace(rank=int(dict(hit.captures)["rank"])))


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


def _unify_comms(actors: Iterable[Actor]) -> None:
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


def _world(actors: list[Actor]) -> tuple[int | None, bool]:
    """The size of the job: of the one communicator that is larger than all others, or at least so many as ranks are named."""
    comms = {comm for a in actors for comm, _ in a.seats.values()}
    largest = max((size_of(c) for c in comms), default=0)
    world = [c for c in comms if size_of(c) == largest]
    told = max((a.rank + 1 for a in actors if a.rank is not None), default=0)
    if largest > 1 and largest >= told and largest >= len([a for a in actors if a.seats]):
        for actor in actors:
            ranks = {r for c, r in actor.seats.values() if c in world and r is not None}
            if len(ranks) == 1 and (len(world) == 1 or same_everywhere(actors, world)):
                actor.world = next(iter(ranks))
        return largest, True
    return max(told, largest) or None, False


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
