"""The job as the report tells it: who is there and in which state, who waited, how far the clocks are apart, what happened when."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from doctor.base.words import both
from doctor.findings.evaluate import Finding
from doctor.job.job import Job, Process, Wait, label
from parsers.parsed import seconds

Json = dict[str, Any]
MAX_WAITS = 100
MAX_EVENTS = 200
MAX_NAMES = 8
ACCUSED = ("lost", "stuck", "cqe")


def summary(job: Job, findings: Sequence[Finding]) -> Json:
    titles = {f.entry.code: f.entry.title.json() for f in findings}
    states = _states(job)
    return {
        "world_size": job.world_size if job.stated else None,
        "at_least": job.world_size,
        "processes": len(job.processes),
        "roots": [
            {
                "verdict": root.verdict, "who": root.label, "codes": list(root.codes), "waiters": root.waiters,
                "peers": list(root.peers), "seconds_before_first_timeout": round(root.before, 3) if root.before is not None else None,
            }
            for root in job.roots
        ],
        "ranks": [
            {
                "rank": p.rank, "device": p.device, "node": p.node, "pid": p.pid, "state": states[p.number][0],
                "about": states[p.number][1], "first_seen": p.first, "last_seen": p.last,
            }
            for p in job.processes
        ],
        "missing_ranks": list(job.missing),
        "waits": _waits(job),
        "skew": [{"node": s.node, "seconds_ahead": s.ahead, "within": s.within} for s in job.skew],
        "timeline": _timeline(job, titles),
    }  # fmt: skip


def called(job: Job, wait: Wait) -> str | None:
    """Whom a wait is for, in words."""
    if wait.on is None:
        return None
    if wait.on.process is not None:
        return job.label(wait.on.process)
    if wait.on.location is not None:
        return f"device {wait.on.location[0]}/{wait.on.location[1]}"
    if wait.on.comm is not None and wait.on.comm_rank is not None:
        if int(wait.on.comm.split("|")[1]) == job.world_size:
            return f"rank {wait.on.comm_rank}"
        return f"rank {wait.on.comm_rank} of {wait.on.comm.partition('|')[0]}"
    return wait.on.address


def _states(job: Job) -> list[tuple[str, str | None]]:
    """root | fault | waiting | gave-up | stopped | erring | silent | ended | alive, and the entry or the peer that it is about."""
    waits: dict[int, Wait] = {}
    for wait in job.waits:
        if wait.kind not in ACCUSED and (wait.by not in waits or (waits[wait.by].on is None and wait.on is not None)):
            waits[wait.by] = wait
    faults: dict[int, str] = {}
    for number, code in job.faults:
        faults.setdefault(number, code)
    roots = {r.process: r for r in reversed(job.roots) if r.process is not None}
    behind = _behind(job)
    out: list[tuple[str, str | None]] = []
    for process in job.processes:
        number = process.number
        if number in roots:
            out.append(("root", roots[number].codes[0] if roots[number].codes else roots[number].verdict))
        elif number in waits:
            peer = behind.get(number) or called(job, waits[number])
            out.append(("waiting", peer) if peer is not None else ("gave-up", None))
        elif number in faults:
            out.append(("fault", faults[number]))
        else:
            out.append((_quiet(job, process, bool(waits)), None))
    return out


def _quiet(job: Job, process: Process, waits: bool) -> str:
    """The state of a process that no entry says anything of."""
    if process.ended:
        return "ended"
    return "erring" if process.number in job.erring else "silent" if waits else "alive"


def _behind(job: Job) -> dict[int, str]:
    """For each process the root at which its chain of waiting ends."""
    back: dict[str, set[int]] = defaultdict(set)
    for wait in job.waits:
        if wait.kind not in ACCUSED and (name := called(job, wait)) is not None:
            back[name].add(wait.by)
    found: dict[int, str] = {}
    for root in job.roots:
        queue = [root.label]
        while queue:
            for number in sorted(back.get(queue.pop(), ())):
                if number not in found:
                    found[number] = root.label
                    queue.append(job.label(number))
    return found


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
    events: list[tuple[str, Process, str, Json]] = []
    counted: Counter[tuple[str, str]] = Counter()
    for root in job.roots:
        if root.place.time is not None and root.process is not None:
            process = job.processes[root.process]
            title = titles.get(root.codes[0]) if root.codes else None
            text = title or {"en": f"{root.label}: {root.verdict}", "zh": f"{root.label}: {root.verdict}"}
            time = root.last if root.verdict in ("stopped", "stuck") and root.last else root.place.time
            events.append((time, process, root.codes[0] if root.codes else root.verdict, text))
    for wait in sorted(job.waits, key=lambda w: (w.place.time or "~", w.by)):
        name = called(job, wait)
        if wait.place.time is None or name is None:
            continue
        counted[name, wait.kind] += 1
        if counted[name, wait.kind] == 1:
            process = job.processes[wait.by]
            events.append((wait.place.time, process, wait.kind, both(f"job.{wait.kind}", by=job.label(wait.by), on=name)))
    rows: list[tuple[float, Json]] = []
    for time, process, what, text in events:
        late = ahead.get(process.server or process.node or process.home)
        row: Json = {
            "time": time,
            "node": process.node,
            "who": label(process),
            "what": what,
            "text": text,
            "ahead": late,
        }
        rows.append((seconds(time) - (late or 0.0), row))
    rows.sort(key=lambda r: (r[0], r[1]["who"], r[1]["what"]))
    return [row for _, row in rows[:MAX_EVENTS]]

