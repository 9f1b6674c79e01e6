"""A job as a document: who did what, who has no log, how far the clocks are apart, what happened when."""

from __future__ import annotations

from typing import Any, NamedTuple

from doctor.base import notation
from doctor.base.words import word

Json = dict[str, Any]
STATES = ("root", "fault", "stopped", "erring", "silent", "waiting", "gave-up", "alive", "ended")


class Group(NamedTuple):
    """Processes of a job that did the same."""

    processes: int
    state: str
    ranks: str


class Event(NamedTuple):
    """Something that happened, by the clock of its node and how far that is ahead."""

    time: str
    node: str
    ahead: float
    text: str


class Job(NamedTuple):
    """Many processes: who did what, who has no log, how far the clocks are apart, what happened when."""

    head: str
    groups: tuple[Group, ...]
    missing: Group | None
    clocks: str
    events: tuple[Event, ...]


def compose(made: Json, lang: str) -> Job:
    """The processes by what they did, the root's first."""
    groups: dict[tuple[str, str], list[Json]] = {}
    for row in made["ranks"]:
        groups.setdefault((row["state"], row["about"] or ""), []).append(row)
    ordered = sorted(groups.items(), key=lambda g: (STATES.index(g[0][0]), -len(g[1]), g[0][1]))
    absent = made["missing_ranks"]
    return Job(
        _head(made, lang),
        tuple(
            Group(
                len(members), word(f"state-{state}", lang, about=about),
                notation.spans([m["rank"] for m in members if m["rank"] is not None]),
            )
            for (state, about), members in ordered
        ),
        Group(len(absent), word("state-missing", lang), notation.spans(absent)) if absent else None,
        _clocks(made["skew"], lang),
        tuple(
            Event(notation.short_moment(e["time"]), e["node"] or "?", e["ahead"] or 0.0, e["text"][lang])
            for e in made["timeline"]
        ),
    )  # fmt: skip


def _head(made: Json, lang: str) -> str:
    """How many processes are seen, of how many: as a line tells it, or at least as many as the highest rank says."""
    if made["world_size"] or not made["at_least"]:
        return word("job-head", lang, seen=made["processes"], world=made["world_size"] or "?")
    return word("job-head-at-least", lang, seen=made["processes"], world=made["at_least"])


def _clocks(skew: list[Json], lang: str) -> str:
    """How far the clocks of the nodes are apart; nothing when no event tells."""
    if not skew:
        return ""
    ahead = [s["seconds_ahead"] for s in skew]
    spread, within = f"{max(ahead) - min(ahead):.1f}", f"{max(s['within'] for s in skew):.1f}"
    return word("clocks", lang, nodes=len(skew), spread=spread, within=within)
