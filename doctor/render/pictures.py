"""The pictures of a job in a page: the grid of its nodes, its line of time. SVG without scripts, coloured by the page's style.

A mark is a shape and a colour: nothing is told by colour alone. Names stand in titles, so that a pointer or a screen reader
tells them.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from doctor.base import notation
from doctor.base.words import word
from doctor.render.document import Event, Grid, GridRow, Job, Lane

SIGNS = {"failed": "×", "waits": "w", "silent": "?", "absent": "−", "fine": ""}
SEAT, STEP = 20, 25  # pixels of a seat, and from one to the next
NAMES = 132  # pixels of the names of nodes
NAME = 17  # characters of them
LENGTH, HEIGHT = 1000, 14  # of a lane: stretched to the width of the page
LANES = 8  # that stand open
FEW = 40  # rows of nodes that are drawn


def grid(made: Grid) -> Iterator[str]:
    """A row a node, a square a rank."""
    rows = made.rows[:FEW]
    width, height = NAMES + made.columns * STEP, len(rows) * STEP
    yield f'<div class="scroll"><svg class="grid" role="img" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
    for number, row in enumerate(rows):
        yield from _row(row, number * STEP)
    yield "</svg></div>"
    told = " ".join(f'<span class="key {mark}"><b>{SIGNS[mark] or "·"}</b> {escape(said)}</span>' for mark, said in made.legend)
    yield f'<p class="legend">{told}</p>'


def _row(row: GridRow, top: int) -> Iterator[str]:
    more = f" +{len(row.nodes) - 1}" if len(row.nodes) > 1 else ""
    name = row.nodes[0]
    kept = name if len(name + more) <= NAME else name[: NAME - len(more) - 1] + "…"
    yield f'<text class="node" x="0" y="{top + 15}">{escape(kept + more)}<title>{escape(", ".join(row.nodes[:FEW]))}</title></text>'
    for column, seat in enumerate(row.seats):
        if seat.mark:
            left = NAMES + column * STEP
            yield (
                f'<g class="seat {seat.mark}"><title>{escape(seat.said)}</title>'
                f'<rect x="{left}" y="{top}" width="{SEAT}" height="{SEAT}" rx="4"/>'
                f'<text x="{left + SEAT // 2}" y="{top + 15}">{SIGNS[seat.mark]}</text></g>'
            )


def times(job: Job, lang: str) -> Iterator[str]:
    """A lane for all processes that did the same, from their first sign of life to their last."""
    if job.seconds <= 0 or not job.lanes:
        return
    yield '<div class="lanes">'
    for lane in job.lanes[:LANES]:
        yield from _lane(lane, job.seconds)
    if rest := job.lanes[LANES:]:
        yield f"<details><summary>{escape(word('n-more', lang, n=len(rest)))}</summary>"
        for lane in rest:
            yield from _lane(lane, job.seconds)
        yield "</details>"
    marks = "".join(_tick(event, job.seconds) for event in job.events if event.mark == "failed")
    if marks:
        yield f'<svg class="ticks" role="img" viewBox="0 0 {LENGTH} {HEIGHT}" preserveAspectRatio="none">{marks}</svg>'
    yield f'<p class="axis"><span>0</span><span>{notation.duration(job.seconds, lang)}</span></p></div>'


def _lane(lane: Lane, seconds: float) -> Iterator[str]:
    yield f'<p>{escape(lane.said)}</p><svg role="img" viewBox="0 0 {LENGTH} {HEIGHT}" preserveAspectRatio="none">'
    yield f"<title>{escape(lane.said)}</title>{_bar(lane, seconds)}</svg>"


def _bar(lane: Lane, seconds: float) -> str:
    begin, end = (round(LENGTH * at / seconds, 1) for at in (lane.begin, lane.end))
    edge = max(0.0, min(end, LENGTH) - 8)
    return (
        f'<rect class="rest" x="0" y="5" width="{LENGTH}" height="4"/>'
        f'<rect class="life" x="{begin}" y="5" width="{max(2.0, end - begin)}" height="4"/>'
        f'<rect class="end {lane.mark}" x="{edge}" y="0" width="8" height="{HEIGHT}"/>'
    )


def _tick(event: Event, seconds: float) -> str:
    at = min(LENGTH - 3.0, round(LENGTH * event.at / seconds, 1))
    told = escape(f"{event.time} {event.text}")
    return f'<rect class="end failed" x="{at}" y="0" width="3" height="{HEIGHT}"><title>{told}</title></rect>'
