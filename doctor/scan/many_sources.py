"""Scanning many sources: in this process for small jobs, in forked workers for large ones."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from doctor.base import interrupts
from doctor.read.source import Source
from doctor.scan.gathering import Gathered
from doctor.scan.harvest import Harvest
from doctor.scan.plan import Plan
from doctor.scan.progress import Progress
from doctor.scan.ranges import Range, Ranges, scan_here
from doctor.scan.scanner import Scanner
from doctor.scan.select import Select
from kb.knowledge import Knowledge

PARALLEL_FROM = 24 << 20  # below this much input, making workers costs more than it saves
A_FILE = 64 << 10  # opening a file and reading how it begins and ends costs as much as so many bytes


def scan_all(
    sources: Sequence[Source], knowledge: Knowledge, select: Select, jobs: int | None, lang: str, meanwhile: Callable[[], None] | None = None
) -> tuple[list[Harvest], bool]:
    """What was harvested from all sources, and whether the user interrupted (then: of those read so far).

    `meanwhile`: what this process does while workers read.
    """
    ranges = Ranges(sources)
    total = ranges.size + ranges.likely
    scanner = Scanner(Plan(knowledge.sought()), select, digest=knowledge.digest)
    workers = worker_count(jobs, ranges, total)
    if total > PARALLEL_FROM // 8:
        scanner.engine.prepare(total, workers)
    progress = Progress(ranges.size, len(sources), lang)
    gathered = Gathered(ranges)
    interrupted = False
    try:
        if workers > 1:
            from doctor.scan import situation
            from doctor.scan.pool import run_pool  # a traceback on standard input must not pay for it

            situation.prepare(scanner.plan.situation)
            run_pool(ranges, scanner, workers, gathered, progress, meanwhile)
        else:
            scan_here(enumerate(ranges), scanner, gathered, progress)
    except KeyboardInterrupt:
        interrupted = True
        interrupts.acted()
    progress.end()
    return [gathered.result()], interrupted


def worker_count(jobs: int | None, ranges: Sequence[Range], total: int) -> int:
    """As asked; else one for each core when there is enough to read."""
    if jobs is not None:
        return max(1, min(jobs, len(ranges), 256))
    if total + A_FILE * len(ranges) < PARALLEL_FROM or not hasattr(os, "fork"):
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, len(ranges), 16))
