"""The picture of a job: a row a node, a seat a rank, a mark a seat. Nodes whose ranks ended alike share a row."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

from doctor.base.words import word
from doctor.render.document import Grid, GridRow, Seat

Json = dict[str, Any]
Told = Callable[[Json], tuple[str, str]]  # the mark of a process, and what is said of it
MARKS = ("failed", "waits", "silent", "absent", "fine")
NOBODY = Seat("", "", "")
WIDEST = 16  # seats of a row; more on one node begin another row


def grid(made: Json, told: Told, lang: str) -> Grid:
    """The grid of a job; ranks without logs stand at their place where that is certain."""
    nodes: dict[str, dict[int, Seat]] = {}
    placed = _by_device(made["ranks"])
    for number, row in enumerate(sorted(made["ranks"], key=lambda r: (r["rank"] is None, r["rank"] or 0, r["pid"] or 0))):
        seats = nodes.setdefault(row["node"] or "?", {})
        mark, said = told(row)
        seats[row["device"] if placed else len(seats)] = Seat(_name(row, number), mark, said)
    homes = _homes(made["ranks"]) if placed else {}
    width = max((max(seats) + 1 for seats in nodes.values()), default=0)
    for rank in made["missing_ranks"]:
        home = homes.get(rank // width) if width else None
        name = f"rank {rank}"
        seat = Seat(name, "absent", word("job.group:missing", lang, who=name))
        if home is not None and rank % width not in nodes[home]:
            nodes[home][rank % width] = seat
    rows = [(node, part) for node, seats in nodes.items() for part in _parts(seats)]
    folded = tuple(
        GridRow(tuple(node for node, _ in same), same[0][1])
        for _, group in groupby(rows, lambda row: tuple(seat.mark for seat in row[1]))
        if (same := list(group))
    )
    used = {seat.mark for row in folded for seat in row.seats}
    legend = tuple((mark, word(f"job.mark:{mark}", lang)) for mark in MARKS if mark in used)
    return Grid(max((len(row.seats) for row in folded), default=0), folded, legend)


def _name(row: Json, number: int) -> str:
    if row["rank"] is not None:
        return f"rank {row['rank']}"
    return f"pid {row['pid']}" if row["pid"] is not None else f"#{number}"


def _by_device(ranks: list[Json]) -> bool:
    """Does every process have a device of its own on its node? Then that is its place."""
    places = [(row["node"], row["device"]) for row in ranks]
    return all(d is not None and 0 <= d < WIDEST for _, d in places) and len(set(places)) == len(places)


def _homes(ranks: list[Json]) -> dict[int, str]:
    """Which node holds which block of ranks, when ranks are numbered node by node in the order of devices."""
    width = max((row["device"] + 1 for row in ranks), default=0)
    found: dict[int, str] = {}
    for row in ranks:
        if row["rank"] is None or row["rank"] % width != row["device"] or row["node"] is None:
            return {}
        if found.setdefault(row["rank"] // width, row["node"]) != row["node"]:
            return {}
    return found


def _parts(seats: dict[int, Seat]) -> list[tuple[Seat, ...]]:
    """The seats of a node in order, in rows that fit."""
    row = [seats.get(at, NOBODY) for at in range(max(seats) + 1)]
    return [tuple(row[at : at + WIDEST]) for at in range(0, len(row), WIDEST)]
