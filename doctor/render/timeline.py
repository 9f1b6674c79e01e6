"""A job in text: where it began in sentences, the grid of nodes and ranks, the line of time, what happened when."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.base import notation
from doctor.base.words import word
from doctor.render.document import Event, Grid, GridRow, Group, Job, Lane
from doctor.render.layout import Style, cells, cut, paint, wrap

FEW = 12  # groups of ranks and rows of the grid that are shown
NODES = 22  # cells of the column of nodes
SIGNS = {"failed": "X", "waits": "w", "silent": "?", "absent": "-", "fine": ".", "": " "}
ROLES = {"failed": "error", "waits": "warning", "silent": "bold", "absent": "bold", "fine": "dim"}


def ranks(job: Job, lang: str, style: Style, everything: bool) -> Iterator[str]:
    """Who did what: a row for all processes that did the same, and the grid."""
    yield paint(job.head, "bold", style)
    shown = job.groups if everything else job.groups[:FEW]
    for group in shown:
        yield "  " + cut(_group(group), max(30, style.width - 2))
    if len(job.groups) > len(shown):
        yield f"  {word('n-more', lang, n=len(job.groups) - len(shown))} (--all)"
    if job.missing:
        yield "  " + cut(_group(job.missing), style.width - 2)
    if job.clocks:
        yield from (f"  {row}" for row in wrap(job.clocks, style.width - 2))
    yield ""
    if sum(group.processes for group in job.groups) > 2:
        yield from grid(job.grid, lang, style, len(job.grid.rows) if everything else FEW)
        yield ""


def _group(group: Group) -> str:
    """`62 ranks waited for rank 28    0-27, 29-62`: one that is named needs no list."""
    if group.processes == 1 or not group.ranks:
        return group.said
    return f"{group.said}{' ' * max(2, 40 - cells(group.said))}{group.ranks}"


def grid(made: Grid, lang: str, style: Style, most: int, indent: str = "  ") -> Iterator[str]:
    """A row a node; rows in which something failed are never left out."""
    shown = _telling(made.rows, most)
    nodes = max(8, min(NODES, style.width - len(indent) - 2 * made.columns + 1))
    for row in shown:
        marks = " ".join(paint(SIGNS[seat.mark], ROLES[seat.mark], style) if seat.mark else " " for seat in row.seats)
        name = _nodes(row, nodes)
        yield f"{indent}{name}{' ' * max(1, nodes - cells(name))}{marks}"
    left = f"{word('n-more', lang, n=len(made.rows) - len(shown))} (--all)" if len(shown) < len(made.rows) else ""
    legend = "  ".join(f"{paint(SIGNS[mark], ROLES[mark], style)} {told}" for mark, told in made.legend)
    yield f"{indent}{left}{' ' * max(2 if left else 0, nodes - cells(left))}{legend}"


def _telling(rows: tuple[GridRow, ...], most: int) -> list[GridRow]:
    """As many rows as there is room for: those that differ before those in which all only waited."""
    if len(rows) <= most:
        return list(rows)
    told = sorted(range(len(rows)), key=lambda n: (not any(s.mark in ("failed", "silent", "absent") for s in rows[n].seats), n))
    return [rows[n] for n in sorted(told[:most])]


def _nodes(row: GridRow, width: int) -> str:
    first = row.nodes[0]
    if len(row.nodes) == 1:
        return cut(first, width - 1)
    more = f" +{len(row.nodes) - 1}"
    return cut(first, width - 1 - len(more)) + more


def timeline(job: Job, lang: str, style: Style) -> Iterator[str]:
    """The line of time, then what happened when, by each node's own clock; how far that is ahead stands behind."""
    yield paint(word("timeline-head", lang), "bold", style)
    names = max((cells(lane.said) for lane in job.lanes), default=0)
    width = max(20, style.width - 4 - min(names, style.width // 2))
    if job.seconds > 0:
        end = notation.duration(job.seconds, lang)
        yield f"  0{' ' * (width - 1 - len(end))}{end}"
        for lane in job.lanes:
            yield f"  {_bar(lane, job.seconds, width, style)}  {cut(lane.said, style.width - width - 4)}"
        yield ""
    for event in job.events:
        yield from _event(event, style)
    yield ""


def _bar(lane: Lane, seconds: float, width: int, style: Style) -> str:
    """From the first sign of life to the last, with the mark at its end."""
    line = "─" if style.unicode else "-"
    begin, end = (min(width - 1, round(at / seconds * (width - 1))) for at in (lane.begin, lane.end))
    sign = SIGNS[lane.mark] if lane.mark != "fine" else line
    return f"{' ' * begin}{line * (end - begin)}{paint(sign, ROLES[lane.mark], style)}{' ' * (width - 1 - end)}"


def _event(event: Event, style: Style) -> Iterator[str]:
    ahead = f"  ({event.ahead:+.1f} s)" if event.ahead else ""
    head = f"  {event.time}  "
    for number, row in enumerate(wrap(f"{event.text}  [{event.node}]{ahead}", max(30, style.width - len(head)))):
        yield (head if not number else " " * len(head)) + row
