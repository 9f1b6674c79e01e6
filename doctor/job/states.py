"""How each process of a job ended, in one word, and whom it waited for in the end: the one count of waiting that is told."""

from __future__ import annotations

from collections import Counter, defaultdict

from doctor.job.case import ACCUSED
from doctor.job.job import Job, Process, Wait


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


def states(job: Job) -> list[tuple[str, str | None]]:
    """root | fault | waiting | gave-up | erring | silent | ended | alive, and the entry or the peer that it is about."""
    waits = _waits(job)
    faults: dict[int, str] = {}
    for number, code in job.faults:
        faults.setdefault(number, code)
    roots = {r.process: r for r in reversed(job.roots) if r.process is not None}
    behind = _behind(job, waits)
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


def counted(job: Job) -> Job:
    """The job with each root's waiters counted as its processes are shown: who is said to wait for it."""
    told = Counter(about for state, about in states(job) if state == "waiting")
    return job._replace(roots=tuple(r._replace(waiters=told.get(r.label) or r.waiters) for r in job.roots))


def _waits(job: Job) -> dict[int, Wait]:
    """What each process waited for: its first wait, or the first that names somebody."""
    waits: dict[int, Wait] = {}
    for wait in job.waits:
        if wait.kind not in ACCUSED and (wait.by not in waits or (waits[wait.by].on is None and wait.on is not None)):
            waits[wait.by] = wait
    return waits


def _behind(job: Job, waits: dict[int, Wait]) -> dict[int, str]:
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
    if len(job.roots) == 1 and job.roots[0].waiters and not found:  # no chain names it, and all of them waited for it
        beside = {job.roots[0].label, *job.roots[0].peers}
        found = {number: job.roots[0].label for number in waits if job.label(number) not in beside}
    return found
