"""What memory snapshots say as rows of the table `memory`, which entries ask for like any other row."""

from __future__ import annotations

import json
from collections.abc import Iterable

from doctor.base.notation import size
from doctor.memory.classes import NAMED, Found, Kind, judge
from doctor.memory.evidence import Evidence
from doctor.read.dumps import MEMORY
from doctor.scan.harvest import Dump, Place
from parsers import snapshot

TABLE = "memory"


def rows(dumps: Iterable[Dump]) -> tuple[tuple[dict[str, str], Place], ...]:
    """A row for each snapshot in which something stands out."""
    out = []
    for dump in dumps:
        if dump.kind != MEMORY:
            continue
        try:
            found = judge(Evidence(snapshot.again(json.loads(dump.told)), None, {}))
        except ValueError:  # a harvest of another version
            continue
        if found.kind is not Kind.EVEN:
            out.append((_cells(found), _place(dump, found)))
    return tuple(out)


def _cells(found: Found) -> dict[str, str]:
    places = [holder.site.place for holder, _ in found.holders[:NAMED]]
    return {
        "table": TABLE,
        "class": found.kind.value,
        "size": size(found.size),
        "whole": size(found.of),
        "where": places[0] if places else "?",
        "others": "; ".join(places[1:]) or "-",
    }


def _place(dump: Dump, found: Found) -> Place:
    text = f"memory snapshot: {found.kind.value}, {size(found.size)} of {size(found.of)}" + (f", {found.holders[0][0].site.place}" if found.holders else "")
    return Place(dump.path, 1, 1, None, None, TABLE, "table", dump.node, dump.pid, dump.rank, None, None, text)
