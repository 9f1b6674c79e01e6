"""Who is who: processes, ranks, devices, servers and communicators, and how to find one by what a line calls it.

What makes two lines of one process is told by `crowd`.
"""

from __future__ import annotations

from collections import defaultdict

from doctor.job.actor import process_of, shared, size_of
from doctor.job.crowd import Crowd
from doctor.job.job import Location, Process, Target
from doctor.scan.harvest import Harvest, Place


class Who:
    """All processes of a harvest."""

    def __init__(self, harvest: Harvest) -> None:
        self._crowd = Crowd(harvest)
        self.actors = self._crowd.actors
        self.table = self._crowd.table
        self.world_size = self._crowd.world_size
        self.stated = self._crowd.stated  # is that the size, or only the highest rank that is named?
        self.address_of = self._crowd.addresses
        self.number = {id(a): n for n, a in enumerate(self.actors)}
        self.processes = self._all_ranked(tuple(process_of(n, a) for n, a in enumerate(self.actors)))
        self.at: dict[Location, int] = {}
        self.by_ip: dict[str, int] = {}
        self.by_rank: dict[int, int] = {}
        self._seats: dict[tuple[str, int], list[int]] = defaultdict(list)
        self._of_node: dict[tuple[str, int], list[int]] = defaultdict(list)
        self._by_pid: dict[int, list[int]] = defaultdict(list)
        for p in self.processes:
            self._enter(p)
        self._enter_addresses()
        self._nics = {
            (p.machine, ip): device for p, a in zip(self.processes, self.actors, strict=True) for ip, device in a.nics
        }

    def _all_ranked(self, found: tuple[Process, ...]) -> tuple[Process, ...]:
        """Of as many processes as there are ranks, the one whose rank no line tells has the one that is left."""
        ranks = {p.rank for p in found if p.rank is not None}
        left = [p.number for p in found if p.rank is None]
        if not self.stated or len(found) != self.world_size or len(left) != 1 or found[left[0]].pid is None or len(ranks) != len(found) - 1:
            return found
        free = set(range(len(found))) - ranks
        return tuple(p._replace(rank=min(free)) if p.number == left[0] and len(free) == 1 else p for p in found)

    def _enter(self, p: Process) -> None:
        if p.location is not None:
            self.at.setdefault(p.location, p.number)
        if p.device_ip is not None:
            self.by_ip.setdefault(p.device_ip, p.number)
        if p.rank is not None:
            self.by_rank.setdefault(p.rank, p.number)
        if p.device is not None:
            self._of_node[p.machine, p.device].append(p.number)
        if p.pid is not None:
            self._by_pid[p.pid].append(p.number)
        for comm, rank in p.seats:
            self._seats[comm, rank].append(p.number)

    def _enter_addresses(self) -> None:
        """Addresses that lines and rank tables tell of devices, not of processes."""
        for address, (node, device) in self.address_of.items():
            found = [p.number for p in self.processes if p.device == device and node in (p.node, p.server)]
            if len(found) == 1:
                self.by_ip.setdefault(address, found[0])
        for location, address in self.table.addresses.items():
            if location in self.at:
                self.by_ip.setdefault(address, self.at[location])

    def of(self, place: Place) -> int | None:
        """The process that a line belongs to."""
        actor = self._crowd.of(place)
        if actor is not None:
            return self.number.get(id(actor))
        return self.by_rank.get(place.rank) if place.rank is not None else None

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
        found = self._of_node.get((self.processes[number].machine, device), [])
        return found[0] if len(found) == 1 else None

    def by_address(self, number: int, address: str) -> int | None:
        """Who listens on an address, as a process says it. Addresses of virtual NICs are the same on every server."""
        device = self._nics.get((self.processes[number].machine, address))
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
