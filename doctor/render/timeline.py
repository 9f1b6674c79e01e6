"""A job in text: ranks folded by what they did, and the timeline."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from doctor.base.words import word
from doctor.base.notation import spans
from doctor.render.layout import Style, cells, cut, paint, wrap

Json = dict[str, Any]
FEW = 12  # groups of ranks that are shown
STATES = ("root", "fault", "stopped", "silent", "waiting", "gave-up", "alive", "ended")


def ranks(job: Json, lang: str, style: Style, everything: bool) -> Iterator[str]:
    """One line for all processes in the same state: `30 ranks: waiting for rank 24    0-23, 25-30`."""
    ranked = folded(job)
    size = job["world_size"]
    head = word("job", lang).format(seen=job["processes"], world=size or "?")
    yield paint(head, "bold", style)
    shown = ranked if everything else ranked[:FEW]
    for (state, about), members in shown:
        said = f"{len(members)}: {word('state-' + state, lang).format(about=about)}"
        names = spans([m["rank"] for m in members if m["rank"] is not None])
        pad = " " * max(2, 40 - cells(said))
        told = f"{said}{pad}{word('rank', lang)} {names}" if names else said
        yield "  " + cut(told, max(30, style.width - 2))
    if len(ranked) > len(shown):
        yield f"  ... {len(ranked) - len(shown)} {word('more', lang)} (--all)"
    if job["missing_ranks"]:
        yield "  " + cut(
            f"{len(job['missing_ranks'])}: {word('state-missing', lang)}  {spans(job['missing_ranks'])}",
            style.width - 2,
        )
    if skew := skew_line(job, lang):
        yield "  " + skew
    yield ""


def folded(job: Json) -> list[tuple[tuple[str, str], list[Json]]]:
    """The processes by state and by what it is about, the root's first."""
    groups: dict[tuple[str, str], list[Json]] = {}
    for row in job["ranks"]:
        groups.setdefault((row["state"], row["about"] or ""), []).append(row)
    return sorted(groups.items(), key=lambda g: (STATES.index(g[0][0]), -len(g[1]), g[0][1]))


def skew_line(job: Json, lang: str) -> str:
    """How far the clocks of the nodes are apart; nothing when no event tells."""
    if not job["skew"]:
        return ""
    ahead = [s["seconds_ahead"] for s in job["skew"]]
    return word("skew", lang).format(
        nodes=len(job["skew"]),
        spread=f"{max(ahead) - min(ahead):.1f}",
        within=f"{max(s['within'] for s in job['skew']):.1f}",
    )


def timeline(job: Json, lang: str, style: Style) -> Iterator[str]:
    """What happened when. Times are those of each node's own clock; how far it is ahead stands behind."""
    yield paint(word("timeline", lang), "bold", style)
    for event in job["timeline"]:
        ahead = f"  ({event['ahead']:+.1f} s)" if event["ahead"] else ""
        head = f"  {event['time'].replace('T', ' ')[:23]}  "
        for number, row in enumerate(
            wrap(f"{event['text'][lang]}  [{event['node'] or '?'}]{ahead}", max(30, style.width - len(head)))
        ):
            yield (head if not number else " " * len(head)) + row
    yield ""
