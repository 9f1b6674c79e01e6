"""What rank tables (hccl.json) tell: which rank is meant to run on which device of which server, and how it is reached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from doctor.job.job import Location
from doctor.scan.harvest import Hit
from parsers.named import NamedTuple


class Table(NamedTuple):
    """The table of the job; empty when there is none, or when several contradict each other."""

    size: int
    ranks: Mapping[Location, int]
    addresses: Mapping[Location, str]
    location_of_address: Mapping[str, Location]
    rank_of_address: Mapping[str, int]


NO_TABLE = Table(0, {}, {}, {}, {})


def tables(facts: Iterable[Hit]) -> Table:
    """All tables as one. Every node carries a copy of the same file: equal ones count once."""
    rows: set[tuple[str, int, str, int]] = set()
    for written in {dict(hit.captures)["table"] for hit in facts}:
        rows |= set(_rows(written))
    ranks: dict[Location, int] = {}
    places: dict[int, Location] = {}
    addresses: dict[Location, str] = {}
    for server, device, address, rank in sorted(rows):
        at = (server, device)
        if ranks.setdefault(at, rank) != rank or places.setdefault(rank, at) != at:
            return NO_TABLE  # of different jobs, or one for each server: they do not tell who is who here
        if address:
            addresses[at] = address
    back = {address: at for at, address in addresses.items()}
    return Table(len(ranks), ranks, addresses, back, {address: ranks[at] for address, at in back.items()})


def _rows(written: str) -> Iterable[tuple[str, int, str, int]]:
    for part in written.split(";"):
        server, _, devices = part.partition("=")
        for one in devices.split(","):
            device, _, more = one.partition("/")
            address, _, rank = more.rpartition("/")
            if device.isdigit() and rank.isdigit():  # a harvest may have passed through other hands
                yield server, int(device), address, int(rank)
