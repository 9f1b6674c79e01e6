"""A job as a document: where it began, who ended how, who has no log, how far the clocks are apart, what happened when."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from doctor.base import notation
from doctor.base.words import word
from doctor.render.document import Event, Group, Job, Lane
from doctor.render.grid import grid
from parsers.parsed import seconds

Json = dict[str, Any]
Key = tuple[str, str]  # the state of a process, and what it is about
STATES = ("root", "fault", "stopped", "erring", "silent", "waiting", "gave-up", "alive", "ended")
MARKS = {
    "root": "failed", "fault": "failed", "stopped": "failed", "erring": "failed", "waiting": "waits", "gave-up": "waits", "silent": "silent",
}  # fmt: skip
FEW = 3  # roots of which sentences are made
_CODE = re.compile(r"[A-Z]{3}\d{3}")


def compose(made: Json, lang: str) -> Job:
    """The processes by what they did, the root's first."""
    groups: dict[Key, list[Json]] = {}
    for row in made["ranks"]:
        groups.setdefault((row["state"], row["about"] or ""), []).append(row)
    ordered = sorted(groups.items(), key=lambda g: (STATES.index(g[0][0]), -len(g[1]), g[0][1]))
    times = [t for row in made["ranks"] for key in ("first_seen", "last_seen") if (t := _at(row, key)) is not None]
    begin = min(times, default=0.0)
    events = tuple(_event(e, begin, lang) for e in made["timeline"])
    length = max([*(t - begin for t in times), *(e.at for e in events)], default=0.0)
    absent = made["missing_ranks"]
    return Job(
        head=_head(made, lang),
        told=tuple(_sentences(made, lang)),
        groups=tuple(_group(key, members, made, lang) for key, members in ordered),
        missing=_missing(absent, lang) if absent else None,
        clocks=_clocks(made["skew"], lang),
        events=events,
        grid=grid(made, lambda row: (mark(row["state"]), said((row["state"], row["about"] or ""), [row], made, lang)), lang),
        lanes=tuple(_lanes(ordered, made, begin, lang)),
        seconds=length,
    )


def mark(state: str) -> str:
    """failed | waits | silent | fine: what of a state a picture shows."""
    return MARKS.get(state, "fine")


def _group(key: Key, members: list[Json], made: Json, lang: str) -> Group:
    state, about = key
    ranks = notation.spans([m["rank"] for m in members if m["rank"] is not None])
    return Group(len(members), word(f"state-{state}", lang, about=about), ranks, mark(state), said(key, members, made, lang))


def _missing(absent: list[int], lang: str) -> Group:
    told = word("job.group:missing", lang, who=_several(len(absent), True, absent[0], lang))
    return Group(len(absent), word("state-missing", lang), notation.spans(absent), "absent", told)


def said(key: Key, members: list[Json], made: Json, lang: str) -> str:
    """What several processes did, in a sentence: `62 ranks waited for rank 28`."""
    state, about = key
    who = _several(len(members), all(m["rank"] is not None for m in members), members[0], lang)
    if state != "root":
        return word(f"job.group:{state}", lang, who=who, about=about)
    root = next((r for r in made["roots"] if about in (r["verdict"], *r["codes"][:1])), None)
    verdict = root["verdict"] if root is not None else "fault"
    told = word(f"job.root:{verdict}", lang, who=who)
    if not _CODE.fullmatch(about):
        return told
    return f"{told}（{about}）" if lang == "zh" else f"{told} ({about})"


def _several(number: int, ranks: bool, one: Json | int, lang: str) -> str:
    if number == 1:
        return f"rank {one}" if isinstance(one, int) else name(one)
    return word("job.ranks" if ranks else "job.processes", lang, n=number)


def name(row: Json) -> str:
    """What a person calls a process."""
    if row["rank"] is not None:
        return f"rank {row['rank']}"
    if row["device"] is not None:
        return f"device {row['device']}"
    return f"pid {row['pid']}" if row["pid"] is not None else "?"


def _sentences(made: Json, lang: str) -> Iterator[str]:
    """Where it began and who waited; further roots; who has no log."""
    for number, root in enumerate(made["roots"][:FEW]):
        told = [word(_began(root, number, made), lang, who=root["who"], about=", ".join(root["codes"][:1]))]
        if not number and (root["seconds_before_first_timeout"] or 0) >= 1:
            told.append(word("job.earlier", lang, time=notation.duration(root["seconds_before_first_timeout"], lang)))
        comma = word("comma", lang)
        waited = [word("job.waited", lang, who=_waiters(root, made, lang))] if root["waiters"] else []
        yield word("semicolon", lang).join([comma.join(told), *waited])
    if {f"rank {rank}" for rank in made["missing_ranks"]} - {root["who"] for root in made["roots"][:FEW]}:
        absent = _missing(made["missing_ranks"], lang)
        yield f"{absent.said} ({absent.ranks})" if absent.processes > 1 else absent.said


def _began(root: Json, number: int, made: Json) -> str:
    """The name of the sentence about a root: the first of several only failed first as far as clocks tell."""
    if root["verdict"] != "fault":
        return f"job.root:{root['verdict']}"
    return "job.group:fault" if number else "job.root:open" if root.get("unordered") or _was_over(made) else "job.root:fault"


def _was_over(made: Json) -> bool:
    """Did a process fail and end before those began that are told as the root: an attempt before this one?"""
    began = [at for row in made["ranks"] if row["state"] == "root" and (at := _at(row, "first_seen")) is not None]
    ended = [at for row in made["ranks"] if row["state"] == "fault" and (at := _at(row, "last_seen")) is not None]
    return bool(began and ended) and min(ended) < min(began)


def _waiters(root: Json, made: Json, lang: str) -> str:
    waiting = [r for r in made["ranks"] if r["state"] == "waiting" and r["about"] == root["who"]]
    if len(waiting) == root["waiters"] == 1:
        return name(waiting[0])
    return word("job.ranks" if all(r["rank"] is not None for r in waiting) else "job.processes", lang, n=root["waiters"])


def _lanes(ordered: list[tuple[Key, list[Json]]], made: Json, begin: float, lang: str) -> Iterator[Lane]:
    for key, members in ordered:
        starts = [t for m in members if (t := _at(m, "first_seen")) is not None]
        ends = [t for m in members if (t := _at(m, "last_seen")) is not None]
        if ends:
            yield Lane(said(key, members, made, lang), mark(key[0]), min(starts, default=begin) - begin, max(ends) - begin)


def _at(row: Json, key: str) -> float | None:
    """A time of a process on the common line."""
    return seconds(row[key]) - (row.get("ahead") or 0.0) if row[key] else None


def _event(one: Json, begin: float, lang: str) -> Event:
    at = max(0.0, seconds(one["time"]) - (one["ahead"] or 0.0) - begin) if begin else 0.0
    waits = one["what"] in ("notify", "link", "agent", "server", "lost", "stuck", "cqe", "watchdog")
    return Event(
        notation.short_moment(one["time"]), one["node"] or "?", one["ahead"] or 0.0, one["text"][lang], at,
        "waits" if waits else "failed",
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
