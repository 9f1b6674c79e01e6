"""What dumps of processes say, as hits of the entries that ask for it: each kind of dump has a room that makes rows of it."""

from __future__ import annotations

from collections.abc import Mapping

from doctor.read.dumps import FLIGHT, MEMORY, STACKS, VERDICT
from doctor.scan.harvest import Dump, Hit, Place
from kb.model import Signal

Rows = tuple[tuple[dict[str, str], Place], ...]


def hits(dumps: tuple[Dump, ...], asked: Mapping[str, tuple[Signal, ...]]) -> tuple[Hit, ...]:
    """The leaves that the rows of the dumps fulfil."""
    from doctor.scan.tablescan import hits_of

    return hits_of(_rows(dumps), asked)


def _rows(dumps: tuple[Dump, ...]) -> Rows:
    kinds = {dump.kind for dump in dumps}
    found: Rows = ()
    if kinds & {FLIGHT, STACKS, VERDICT}:
        from doctor.hang.table import rows as of_hang

        found += of_hang(dumps)
    if MEMORY in kinds:
        from doctor.memory.table import rows as of_memory

        found += of_memory(dumps)
    return found
