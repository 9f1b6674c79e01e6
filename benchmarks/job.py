"""How often the root of a simulated job is found: `python -m benchmarks.job [--jobs 500] [--seed 1] [--hide 0.2] [--noise] [-v]`.

`--scale 10000` instead makes one job of that many ranks, a harvest for each node, and measures `npu-doctor merge` of them.

For every job the first root must name a rank (or one of the ranks) where it began, and an entry that fits the fault. Of a
part of the jobs the logs of the root are taken away: then no cause may be claimed, and no other rank.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from doctor.judge.diagnosis import Diagnosis, conclude
from doctor.read import discover
from doctor.scan.harvest import Harvest, merge
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge, load
from tests.simulate.jobs import FAULTS_IN_ORDER, Job, simulate
from tests.simulate.noise import noise


def diagnose(job: Job, scanner: Scanner, knowledge: Knowledge) -> Diagnosis:
    return conclude([scanner.scan(discover.given_text(text, name)) for name, text in job.files.items()], knowledge)


def named(diagnosis: Diagnosis) -> int | None:
    """The rank that the first root names."""
    if diagnosis.job is None or not diagnosis.job.roots:
        return None
    root = diagnosis.job.roots[0]
    if root.process is not None:
        return diagnosis.job.processes[root.process].rank
    found = re.fullmatch(r"rank (\d+)", root.label)
    return int(found[1]) if found else None


def judge(job: Job, diagnosis: Diagnosis) -> tuple[bool, bool, bool]:
    """Is the rank right, is the cause right, is something wrong claimed?"""
    rank = named(diagnosis)
    first = diagnosis.roots[0].finding if diagnosis.roots else None
    code = first.entry.code if first else ""
    rank_ok = rank in job.truth.ranks
    if job.truth.hidden:
        allowed = (
            ("JOB008", "JOB002", "JOB001", "JOB004", "JOB005", "JOB010", "JOB012") if rank is None or rank_ok else ()
        )
        claims = bool(first) and first.entry.role in ("cause", "ambiguous")  # type: ignore[union-attr]
        return rank_ok, True, claims and not code.startswith(allowed)
    told = [r.finding.entry.code for r in diagnosis.roots]
    all_told = all(any(c.startswith(prefix) for c in told) for prefix in job.truth.every)
    return (
        rank_ok,
        code.startswith(job.truth.codes) and all_told,
        not rank_ok and bool(diagnosis.job and diagnosis.job.roots),
    )


def scale(ranks: int, scanner: Scanner, fault: str) -> None:
    """Time and memory of merging and diagnosing the harvests of all nodes of one large job."""
    job = simulate(1, ranks, fault)
    nodes: dict[str, list[Harvest]] = {}
    for name, text in job.files.items():
        node = next((p for p in name.split("/") if any(c.isdigit() for c in p)), "config")
        if node.startswith("rank_"):
            node = str(int(node[5:]) // 8)
        nodes.setdefault(node, []).append(scanner.scan(discover.given_text(text, name)))
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for node, parts in nodes.items():
            files.append(f"{folder}/{node}.jsonl")
            Path(files[-1]).write_text(
                json.dumps({"type": "harvest", **merge(parts).json()}, separators=(",", ":")) + "\n"
            )
        size = sum(Path(f).stat().st_size for f in files)
        begin = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "doctor", "merge", *files, "-f", "json"], capture_output=True, check=False
        )
        spent = time.perf_counter() - begin
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
    made = json.loads(done.stdout)
    root = made["job"]["roots"][0]
    print(f"{ranks} ranks, {len(files)} harvests, {size >> 20} MiB: {spent:.1f} s ({used.ru_utime:.1f} s CPU), {used.ru_maxrss >> 10} MiB; "
          f"truth {sorted(job.truth.ranks)} {job.truth.codes}, first {made['findings'][0]['id']} at {root['who']}: {made['findings'][0]['note']['en']}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type=int, help="one job of so many ranks: time and memory of merging it")
    parser.add_argument("--jobs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ranks", type=int)
    parser.add_argument("--fault", choices=FAULTS_IN_ORDER)
    parser.add_argument("--hide", type=float, default=0.2, help="share of jobs from which the root's logs are taken")
    parser.add_argument("--noise", action="store_true", help="lay records of other times, build files and another job's history beside every job")
    parser.add_argument("-v", action="store_true", help="tell every miss")
    args = parser.parse_args()
    knowledge = load()
    scanner = Scanner(Plan(knowledge.sought()))
    if args.scale:
        scale(args.scale, scanner, args.fault or "oom")
        return
    total: Counter[str] = Counter()
    by_fault: dict[str, Counter[str]] = {}
    begin = time.perf_counter()
    for number in range(args.jobs):
        seed = args.seed * 100_000 + number
        hide = number % 100 < args.hide * 100
        job = simulate(seed, args.ranks, args.fault, hide)
        if args.noise:
            job = job._replace(files={**noise(seed, "beside/"), **job.files})
        diagnosis = diagnose(job, scanner, knowledge)
        rank, cause, wrong = judge(job, diagnosis)
        group = "hidden" if job.truth.hidden else job.truth.fault
        row = by_fault.setdefault(group, Counter())
        for table in (row, total) if group != "hidden" else (row,):
            table["jobs"] += 1
            table["rank"] += rank
            table["cause"] += cause
            table["wrong"] += wrong
        if args.v and (wrong or (not job.truth.hidden and not (rank and cause))):
            roots = [(r.verdict, r.label, r.codes, r.waiters) for r in diagnosis.job.roots] if diagnosis.job else None
            codes = [r.finding.entry.code for r in diagnosis.roots]
            print(f"seed {seed} {job.truth.fault} of {job.ranks}{' hidden' if job.truth.hidden else ''}: "
                  f"truth {sorted(job.truth.ranks)[:4]}, roots {roots}, codes {codes}")  # fmt: skip
    for name, row in [*sorted(by_fault.items()), ("ALL with evidence", total)]:
        n = max(1, row["jobs"])
        print(
            f"{name:20} jobs {row['jobs']:4}  root rank {row['rank'] / n:7.2%}  cause {row['cause'] / n:7.2%}  wrong claims {row['wrong']}"
        )
    print(f"{time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
