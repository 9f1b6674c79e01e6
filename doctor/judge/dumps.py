"""What dumps of processes say, as hits of the entries that ask for it: each kind of dump has a room that makes rows of it."""

from __future__ import annotations

from collections.abc import Iterable

from doctor.read.dumps import FLIGHT, STACKS
from doctor.scan.harvest import Dump, Hit, Place
from kb.model import Signal

Rows = tuple[tuple[dict[str, str], Place], ...]


def hits(dumps: tuple[Dump, ...], signals: Iterable[Signal]) -> tuple[Hit, ...]:
    """The leaves that the rows of the dumps fulfil."""
    from doctor.scan.tablescan import holds

    made = [(tuple(cells.items()), place) for cells, place in _rows(dumps)]
    tables = {dict(row)["table"] for row, _ in made}
    wanted = [s for s in signals if s.form == "fields" and s.table in tables] if made else []
    return tuple(
        Hit(signal.id, place, tuple((k, v) for k, v in row if k != "table")) for row, place in made for signal in wanted if holds(signal, row)
    )


def _rows(dumps: tuple[Dump, ...]) -> Rows:
    kinds = {dump.kind for dump in dumps}
    found: Rows = ()
    if kinds & {FLIGHT, STACKS}:
        from doctor.hang.table import rows as of_hang

        found += of_hang(dumps)
    return found
