"""Which lines the user asked for."""

from __future__ import annotations

from doctor.scan.harvest import Place
from parsers.named import NamedTuple


class Select(NamedTuple):
    """What the user asked to see; a line that does not say (no time, no pid) is kept."""

    since: str | None = None
    until: str | None = None
    levels: frozenset[str] | None = None
    pid: int | None = None
    rank: int | None = None
    device: int | None = None

    def wants(self, place: Place) -> bool:
        if place.time and ((self.since and place.time < self.since) or (self.until and place.time > self.until)):
            return False
        if self.levels is not None and place.level is not None and place.level not in self.levels:
            return False
        return not any(
            asked is not None and told is not None and asked != told
            for asked, told in ((self.pid, place.pid), (self.rank, place.rank), (self.device, place.device))
        )


EVERYTHING = Select()
