"""Everything that is known of a job that does not move, to one verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from doctor.hang import collectives
from doctor.hang.verdict import NOTHING, Verdict
from doctor.read.dumps import FLIGHT
from doctor.scan.harvest import Dump
from parsers import flight
from parsers.flight import Flight


def conclude(dumps: Iterable[Dump], world: int | None = None) -> Verdict:
    """The verdict of the dumps of one job."""
    flights, unread = _flights(dumps)
    if len(flights) < 2:
        return NOTHING._replace(unread=unread)
    made = collectives.decide(flights, world)
    return made._replace(unread=unread)


def _flights(dumps: Iterable[Dump]) -> tuple[Mapping[int, Flight], tuple[str, ...]]:
    """One dump for each rank; of several of one rank the last call decides which is the newer."""
    found: dict[int, Flight] = {}
    unread: list[str] = []
    for dump in dumps:
        if dump.kind != FLIGHT:
            continue
        try:
            one = flight.read(dump.told)
        except (ValueError, KeyError, IndexError):
            unread.append(dump.path)
            continue
        rank = dump.rank
        if rank is None:
            unread.append(dump.path)
        elif rank not in found or _newest(one) > _newest(found[rank]):
            found[rank] = one
    return found, tuple(unread)


def _newest(one: Flight) -> int:
    return max((group.last.created for group in one.groups.values() if group.last), default=0)
