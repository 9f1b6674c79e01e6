"""The job as the report tells it: who is there and in which state, who waited, how far the clocks are apart, what happened when."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from doctor.base.words import both
from doctor.findings.evaluate import Finding
from doctor.job.job import Job, Process, Wait, label
from doctor.job.states import called, states
from parsers.parsed import seconds

Json = dict[str, Any]
MAX_WAITS = 100
MAX_EVENTS = 200
MAX_NAMES = 8


def summary(job: Job, findings: Sequence[Finding]) -> Json:
    titles = {f.entry.code: f.entry.title.json() for f in findings}
    ends = states(job)
    ahead = {s.node: s.ahead for s in job.skew}
    return {
        "world_size": job.world_size if job.stated else None,
        "at_least": job.world_size,
        "processes": len(job.processes),
        "roots": [
            {
                "verdict": root.verdict, "who": root.label, "codes": list(root.codes), "waiters": root.waiters,
                "peers": list(root.peers), "seconds_before_first_timeout": round(root.before, 3) if root.before is not None else None,
                "unordered": root.unordered,
            }
            for root in job.roots
        ],
        "ranks": [
            {
                "rank": p.rank, "device": p.device, "node": p.node, "pid": p.pid, "state": ends[p.number][0],
                "about": ends[p.number][1], "first_seen": p.first, "last_seen": p.last,
                "ahead": ahead.get(_clock(p)),
            }
            for p in job.processes
        ],
        "missing_ranks": list(job.missing),
        "waits": _waits(job),
        "skew": [{"node": s.node, "seconds_ahead": s.ahead, "within": s.within} for s in job.skew],
        "timeline": _timeline(job, titles),
    }  # fmt: skip


def _waits(job: Job) -> list[Json]:
    """Waits for the same peer, folded."""
    groups: dict[tuple[str, str, str | None], list[Wait]] = defaultdict(list)
    for wait in job.waits:
        name = called(job, wait)
        if name is not None:
            groups[name, wait.kind, wait.comm].append(wait)
    rows = []
    for (name, kind, comm), waits in sorted(
        groups.items(), key=lambda g: (-len(g[1]), g[0][0], g[0][1], g[0][2] or "")
    ):
        by = sorted({w.by for w in waits})
        rows.append(
            {
                "on": name, "kind": kind, "communicator": comm.partition("|")[0] if comm else None, "waiters": len(by),
                "by": [job.label(n) for n in by[:MAX_NAMES]], "first": min((w.place.time for w in waits if w.place.time), default=None),
            }
        )  # fmt: skip
    return rows[:MAX_WAITS]


def _timeline(job: Job, titles: Mapping[str, Json]) -> list[Json]:
    """What happened when, by the clock of each node; `at` is on the common line where clocks could be compared."""
    ahead = {s.node: s.ahead for s in job.skew}
    events: list[tuple[str, str | None, str, str, str, Json]] = []  # time, node, clock, who, what, text
    counted: Counter[tuple[str, str]] = Counter()
    for root in job.roots:
        time = root.last if root.verdict in ("stopped", "finished", "stuck") and root.last else root.place.time
        if time is None:
            continue
        process = job.processes[root.process] if root.process is not None else None
        title = titles.get(root.codes[0]) if root.codes else None
        what = root.codes[0] if root.codes else root.verdict
        text = title or both(f"job.root:{root.verdict}", who=root.label)
        node = process.node if process else root.place.node
        events.append((time, node, _clock(process) or node or "", root.label, what, text))
    for wait in sorted(job.waits, key=lambda w: (w.place.time or "~", w.by)):
        name = called(job, wait)
        if wait.place.time is None or name is None:
            continue
        counted[name, wait.kind] += 1
        if counted[name, wait.kind] == 1:
            process = job.processes[wait.by]
            text = both(f"job.{wait.kind}", by=job.label(wait.by), on=name)
            events.append((wait.place.time, process.node, _clock(process), label(process), wait.kind, text))
    rows: list[tuple[float, Json]] = []
    for time, node, clock, who, what, text in events:
        late = ahead.get(clock)
        row: Json = {"time": time, "node": node, "who": who, "what": what, "text": text, "ahead": late}
        rows.append((seconds(time) - (late or 0.0), row))
    rows.sort(key=lambda r: (r[0], r[1]["who"], r[1]["what"]))
    return [row for _, row in rows[:MAX_EVENTS]]


def _clock(process: Process | None) -> str:
    """The name under which the clock of a process is compared with others."""
    return process.server or process.node or process.home if process is not None else ""
