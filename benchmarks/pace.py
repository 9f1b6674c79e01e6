"""How well is a slow run understood? Jobs are simulated, their logs written in the words of real programs, and `npu-doctor pace` judges them.

    python -m benchmarks.pace --seed 4711 --jobs 300      who is slow, where the pace changes, false alarms
    python -m benchmarks.pace --silence --jobs 100        of even jobs one rank's log ends early: does a scan name it, and leave whole ones alone?
    python -m benchmarks.pace --scale 1024 10000          processor seconds and memory for so many ranks and steps

The simulation knows nothing of the judge: a rank computes, loads data and then waits in communication for the slowest one, all of
it with noise of several kinds, single long steps, a slow start, checkpoints. A seed draws everything; figures are reported for new seeds.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

from doctor.judge.diagnosis import conclude
from doctor.pace.quiet import heard
from doctor.pace.reading import Reader
from doctor.pace.runs import assemble
from doctor.pace.verdict import Pace, judge
from doctor.pace.wordings import Wording, wordings
from doctor.read.discover import discover
from kb.knowledge import load

Rows = list[list[float]]
DIALECTS = ("megatron", "deepspeed", "mmengine", "own")
OWN_LINE = r"step (?P<step>\d+) wall (?P<total_s>[\d.]+) load (?P<data_s>[\d.]+) work (?P<compute_s>[\d.]+)"


class Job(NamedTuple):
    """A simulated job: what it does, step by step and rank by rank, and what is wrong with it."""

    ranks: int
    steps: int
    per_node: int
    data: Rows
    compute: Rows
    total: list[float]
    slow: frozenset[int]
    measure: str
    since: int  # step from which the slow ones are slow
    change: int  # step at which the whole job changes, 0: never
    saves: int  # a checkpoint every so many steps, 0: none
    dialect: str


def simulate(rng: random.Random, fault: str, small: bool = False) -> Job:
    """A job that is even, has a straggler (`rank`, `group`), or changes its pace (`change`)."""
    per_node = rng.choice((2, 4, 8, 8, 8))
    ranks = per_node * rng.choice((1, 2, 2, 3, 4, 8)) if fault != "group" else per_node * rng.choice((2, 3, 4, 8))
    steps = rng.choice((120, 200, 400, 800, 1500))
    if small:
        ranks, steps = per_node * 2, 200
    base = 10 ** rng.uniform(-0.7, 0.9)
    load, wait = rng.uniform(0.005, 0.06) * base, rng.uniform(0.02, 0.35) * base
    common, single, own = rng.uniform(0.002, 0.02), rng.uniform(0.002, 0.03), rng.uniform(0, 0.01)
    heavy, slowly = rng.random() < 0.4, rng.uniform(0, 0.8) if rng.random() < 0.5 else 0.0
    slow, measure, excess, since = frozenset[int](), "", 0.0, 1
    if fault in ("rank", "group"):
        slow = _group(rng, ranks, per_node) if fault == "group" else frozenset([rng.randrange(ranks)])
        measure = rng.choice(("compute", "compute", "data"))
        excess = rng.uniform(0.08, 0.5) * base
        since = 1 if rng.random() < 0.6 else round(rng.uniform(0.2, 0.7) * steps)
    change = round(rng.uniform(0.15, 0.85) * steps) if fault == "change" else 0
    share = rng.uniform(0.08, 0.6)
    in_wait = rng.random() < 0.4
    traits = [1 + rng.gauss(0, own) for _ in range(ranks)]
    warm, saves = rng.choice((0, 0, 1, 3, 8)), rng.choice((0, 0, 50, 100))
    data, compute, total = [], [], []
    drift = 0.0
    for step in range(1, steps + 1):
        drift = slowly * drift + rng.gauss(0, common)
        shared = (1 + drift) * (rng.uniform(2, 10) if step <= warm else 1.0)
        more = 1 + share if change and step >= change else 1.0
        d, c = [], []
        for rank in range(ranks):
            noise = rng.lognormvariate(0, single) if heavy else 1 + rng.gauss(0, single)
            if rng.random() < 0.0005:
                noise *= rng.uniform(1.5, 4)
            late = excess if rank in slow and step >= since else 0.0
            work = base * shared * traits[rank] * noise * (1.0 if in_wait else more)
            c.append(max(1e-4, work + (late if measure == "compute" else 0)))
            d.append(max(1e-5, load * (1 + abs(rng.gauss(0, 0.3))) + (late if measure == "data" else 0)))
        stop = max(a + b for a, b in zip(d, c, strict=True))
        talk = wait * (1 + abs(rng.gauss(0, 0.1))) + (base * (more - 1) if in_wait else 0.0)
        data.append(d)
        compute.append(c)
        total.append(stop + talk + (rng.uniform(4, 6) * base if saves and step % saves == 0 else 0.0))
    dialect = rng.choice([d for d in DIALECTS if (measure == "data" or d != "mmengine") and (measure != "data" or d != "deepspeed")])
    return Job(ranks, steps, per_node, data, compute, total, slow, measure, since, change, saves, dialect)


def _group(rng: random.Random, ranks: int, per_node: int) -> frozenset[int]:
    if rng.random() < 0.6:
        node = rng.randrange(ranks // per_node)
        return frozenset(range(node * per_node, (node + 1) * per_node))
    return frozenset(range(rng.randrange(per_node), ranks, per_node))


def write(job: Job, folder: Path, rng: random.Random) -> None:
    """The logs of a job in the words of one program."""
    begin = 1772444000 + rng.randrange(10**6)
    stamps, now = [], float(begin)
    for value in job.total:
        now += value
        stamps.append(time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(now)) + f",{int(now % 1 * 1000):03d}")
    if job.dialect == "megatron":
        (folder / "train.log").write_text("".join(_megatron(job, stamps)))
        return
    for rank in range(job.ranks):
        path = folder / f"node-{rank // job.per_node}" / f"rank_{rank}" / "train.log"
        path.parent.mkdir(parents=True)
        path.write_text("".join(_line(job, rank, at, stamps[at]) for at in range(job.steps)))


def _megatron(job: Job, stamps: list[str]) -> list[str]:
    rows = []
    for at in range(job.steps):
        rows.append(f" [{stamps[at][:19]}] iteration {at + 1:8d}/{job.steps:8d} | consumed samples: {at * 64:12d} | elapsed time per iteration (ms): {job.total[at] * 1000:.1f} | learning rate: 1.0E-05 | lm loss: 2.5E+00 |\n")
        rows.append("times across ranks (ms):\n")
        half = [[0.4 * v for v in job.compute[at]], [0.6 * v for v in job.compute[at]], job.data[at]]
        for name, values in zip(("forward-compute", "backward-compute", "batch-generator"), half, strict=True):
            rows.append(f"  {name}:\n")
            rows += (f"     rank {rank:2d}: {value * 1000:.2f}\n" for rank, value in enumerate(values))
        if job.saves and (at + 1) % job.saves == 0:
            rows.append(f"saving checkpoint at iteration {at + 1:7d} to /ckpt in torch_dist format\n")
    return rows


def _line(job: Job, rank: int, at: int, stamp: str) -> str:
    total, load, work = job.total[at], job.data[at][rank], job.compute[at][rank]
    if job.dialect == "deepspeed":
        told = f"fwd: {400 * work:.2f} | bwd: {600 * work + 1000 * (total - work - load):.2f} | bwd_inner: {600 * work:.2f} | bwd_allreduce: {1000 * (total - work - load):.2f} | step: 0.50"
        return (
            f"[{stamp}] [INFO] [logging.py:128:log_dist] [Rank {rank}] step={at + 1}, skipped=0, lr=[1e-05], mom=[(0.9, 0.95)]\n"
            f"[{stamp}] [INFO] [timer.py:264:stop] epoch=0/micro_step={at + 1}/global_step={at + 1}, RunningAvgSamplesPerSec=1.0, CurrSamplesPerSec={64 / total:.6f}, MemAllocated=0.2GB\n"
            f"[{stamp}] [INFO] [logging.py:128:log_dist] [Rank {rank}] time (ms) | {told}\n"
        )
    if job.dialect == "mmengine":
        return f"{stamp[5:7]}/{stamp[8:10]} {stamp[11:19]} - mmengine - INFO - Iter(train) [{at + 1:5d}/{job.steps}]  lr: 9.0001e-05  eta: 0:31:46  time: {total:.4f}  data_time: {load:.4f}  memory: 12762  loss: 2.6900\n"
    return f"{stamp} step {at + 1} wall {total:.4f} load {load:.4f} work {work:.4f}\n"


def look(folder: Path, known: tuple[Wording, ...]) -> Pace:
    reader = Reader(known)
    for source in discover([str(folder)]).sources:
        reader.read(source)
    return judge(assemble(reader.made))


def right(job: Job, pace: Pace, fault: str) -> bool:
    """Is what is wrong with the job what is said of it, and nothing else?"""
    named = {lane.rank for one in pace.slow for lane in one.lanes}
    if fault in ("rank", "group"):
        return named == job.slow
    if fault == "change":
        return any(abs(pace.run.steps[turn.change.at] - job.change) <= 2 and turn.change.share > 0 for turn in pace.turns)
    return not pace.slow and not pace.turns and pace.course.drift is None


def measure(seed: int, jobs: int, faults: tuple[str, ...], chatty: bool) -> dict[str, object]:
    forms = load(()).pace()
    made: dict[str, object] = {"seed": seed, "jobs_of_each": jobs}
    for fault in faults:
        good = 0
        for number in range(jobs):
            rng = random.Random(f"{seed} {fault} {number}")
            job = simulate(rng, fault)
            with tempfile.TemporaryDirectory() as folder:
                write(job, Path(folder), rng)
                pace = look(Path(folder), wordings(forms, OWN_LINE if job.dialect == "own" else None))
            fine = right(job, pace, fault)
            good += fine
            if chatty and not fine:
                found = [(sorted(lane.rank for lane in one.lanes), one.measure, round(one.excess, 3)) for one in pace.slow]
                turns = [(pace.run.steps[t.change.at], round(t.change.share, 3)) for t in pace.turns]
                print(fault, number, job.dialect, job.ranks, job.steps, "wanted", sorted(job.slow), job.measure, job.since, job.change, "found", found, turns, pace.course.drift)
        made[fault] = round(good / jobs, 4)
    if "even" in made:
        made["false alarms"] = round(1 - float(str(made["even"])), 4)
    return made


def silence(seed: int, jobs: int, small: bool = False) -> dict[str, int]:
    """What a scan that knows no cause says of logs that each rank wrote alone: whole ones, and with one of them cut long before the end."""
    rng, known = random.Random(seed), load(())
    nothing = conclude([], known)
    made = dict.fromkeys(("jobs", "named", "wrongly_named", "whole_ones_alarmed"), 0)
    while made["jobs"] < jobs:
        job = simulate(rng, "even", small)
        if job.dialect not in ("deepspeed", "mmengine") or job.ranks < 2:
            continue
        with tempfile.TemporaryDirectory() as name:
            write(job, Path(name), rng)
            made["jobs"] += 1
            made["whole_ones_alarmed"] += heard(nothing, discover([name]).sources, known) is not nothing
            rank, long = rng.randrange(job.ranks), max(60.0, 20 * median(job.total))
            end = next((at for at in range(job.steps) if sum(job.total[at:]) <= 1.5 * long), 0)
            if end < 10:
                continue
            path = next(Path(name).glob(f"node-*/rank_{rank}/train.log"))
            lines = path.read_text().splitlines(keepends=True)
            path.write_text("".join(lines[: len(lines) * end // job.steps]))
            said = heard(nothing, discover([name]).sources, known)
            ranks = {one.finding.instances[0].scope.rank for one in said.roots}
            made["cut"] = made.get("cut", 0) + 1
            made["named"] += ranks == {rank}
            made["wrongly_named"] += bool(ranks - {rank})
    return made


def scale(ranks: int, steps: int) -> dict[str, object]:
    """Processor seconds from logs to the verdict, and the memory that it took beyond what the program takes anyway."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rng = random.Random(ranks)
        slow, size, now = ranks // 3, 0, 0.0
        course = [max(0.5, rng.gauss(1, 0.02)) * (1.2 if at > 0.6 * steps else 1) for at in range(steps)]
        for rank in range(ranks):
            rows, now = [], 1772444000.0
            for at, value in enumerate(course):
                now += value
                stamp = f"{2 + int(now % 86400 // 43200):02d} {int(now // 3600) % 24:02d}:{int(now // 60) % 60:02d}:{int(now) % 60:02d}"
                waits = (0.15 if rank == slow else 0.03) * (0.9 + 0.2 * rng.random())
                rows.append(f"03/{stamp} - mmengine - INFO - Iter(train) [{at + 1:5d}/{steps}]  lr: 9.0001e-05  eta: 0:31:46  time: {value:.4f}  data_time: {waits:.4f}  memory: 12762  loss: 2.6900\n")
            path = folder / f"node-{rank // 8}" / f"rank_{rank}.log"
            path.parent.mkdir(exist_ok=True)
            path.write_text("".join(rows))
            size += path.stat().st_size
        known = wordings(load(()).pace())
        gc.collect()
        gc.disable()
        before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        pace = look(folder, known)
        spent = time.process_time() - begin
        more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {
        "ranks": ranks, "steps": steps, "lines": ranks * steps, "bytes": size, "processor_s": round(spent, 2), "us_a_line": round(spent / ranks / steps * 1e6, 3),
        "more_memory_mib": round(more / 1024), "slow": [lane.rank for one in pace.slow for lane in one.lanes] == [slow], "change": [pace.run.steps[t.change.at] for t in pace.turns],
    }  # fmt: skip


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--seed", type=int, default=int(time.time()))
    made.add_argument("--jobs", type=int, default=100, help="of each fault")
    made.add_argument("--faults", default="rank,group,change,even")
    made.add_argument("--scale", nargs=2, type=int, metavar=("RANKS", "STEPS"))
    made.add_argument("-v", action="store_true", help="print what was judged wrong")
    made.add_argument("--silence", action="store_true", help="whether a scan names who fell silent")
    args = made.parse_args()
    found = silence(args.seed, args.jobs) if args.silence else scale(*args.scale) if args.scale else measure(args.seed, args.jobs, tuple(args.faults.split(",")), args.v)
    json.dump(found, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
