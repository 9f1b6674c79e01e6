"""A job in text: ranks folded by what they did, and the timeline."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.base.words import word
from doctor.render.job import Group, Job
from doctor.render.layout import Style, cells, cut, paint, wrap

FEW = 12  # groups of ranks that are shown


def ranks(job: Job, lang: str, style: Style, everything: bool) -> Iterator[str]:
    """One line for all processes in the same state: `30 ranks: waiting for rank 24    0-23, 25-30`."""
    yield paint(job.head, "bold", style)
    shown = job.groups if everything else job.groups[:FEW]
    for group in shown:
        yield "  " + cut(_group(group, lang), max(30, style.width - 2))
    if len(job.groups) > len(shown):
        yield f"  ... {len(job.groups) - len(shown)} {word('more', lang)} (--all)"
    if job.missing:
        yield "  " + cut(f"{job.missing.processes}: {job.missing.state}  {job.missing.ranks}", style.width - 2)
    if job.clocks:
        yield "  " + job.clocks
    yield ""


def _group(group: Group, lang: str) -> str:
    said = f"{group.processes}: {group.state}"
    pad = " " * max(2, 40 - cells(said))
    return f"{said}{pad}{word('rank', lang)} {group.ranks}" if group.ranks else said


def timeline(job: Job, lang: str, style: Style) -> Iterator[str]:
    """What happened when. Times are those of each node's own clock; how far it is ahead stands behind."""
    yield paint(word("timeline-head", lang), "bold", style)
    for event in job.events:
        ahead = f"  ({event.ahead:+.1f} s)" if event.ahead else ""
        head = f"  {event.time}  "
        for number, row in enumerate(wrap(f"{event.text}  [{event.node}]{ahead}", max(30, style.width - len(head)))):
            yield (head if not number else " " * len(head)) + row
    yield ""
