"""Logs of small runs for the tests of the pace: every rank with its own work, in the words of real programs."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

BEGIN = 1772444000
OWN = r"step (?P<step>\d+) wall (?P<total_s>[\d.]+) load (?P<data_s>[\d.]+) work (?P<compute_s>[\d.]+)"
Late = Callable[[int, int], float]


def stamp(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds)) + f",{int(seconds % 1 * 1000):03d}"


def megatron(path: Path, *, ranks: int = 8, steps: int = 120, late: Late = lambda rank, step: 0.0, more: Late = lambda rank, step: 0.0, extra: Callable[[int], str] = lambda step: "", timers: bool = True) -> Path:
    """One log with the timers of all ranks. `late`: further seconds of computing of a rank; `more`: of the whole step (rank is -1)."""
    rng, now, rows = random.Random(7), float(BEGIN), []
    for step in range(1, steps + 1):
        work = [1.0 + rng.gauss(0, 0.01) + late(rank, step) for rank in range(ranks)]
        took = max(work) + 0.1 + more(-1, step)
        now += took
        rows.append(f" [{stamp(now)[:19]}] iteration {step:8d}/{steps:8d} | consumed samples: {step * 64:12d} | elapsed time per iteration (ms): {took * 1000:.1f} | learning rate: 1.0E-05 |")
        if timers:
            rows += ["times across ranks (ms):", "  forward-compute:", *(f"     rank {rank:2d}: {value * 1000:.2f}" for rank, value in enumerate(work))]
        if told := extra(step):
            rows.append(told)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(rows) + "\n")
    return path


def mindformers(folder: Path, *, ranks: int = 8, steps: int = 100, late: Late = lambda rank, step: 0.0) -> Path:
    """A log for each rank that tells the whole step alone, which all ranks share."""
    rng = random.Random(9)
    course = [1.0 + rng.gauss(0, 0.01) + max(late(rank, step) for rank in range(ranks)) for step in range(1, steps + 1)]
    for rank in range(ranks):
        now, rows = float(BEGIN), []
        for step, took in enumerate(course, 1):
            now += took
            rows.append(
                f"{stamp(now)} - mindformers[mindformers/core/callback/callback.py:560] - INFO - {{ Epoch:[  1/  1], step:[{step:5d}/{steps:5d}], loss: 2.500, "
                f"per_step_time: {took * 1000:.0f}ms, lr: 1e-05, overflow cond: False, loss_scale: 1.0"
            )
        path = folder / f"node-{rank // 4}" / f"rank_{rank}" / "info.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(rows) + "\n")
    return folder


def vllm(path: Path, rates: list[tuple[float, int]], engines: int = 1) -> Path:
    """Statistics every ten seconds: tokens a second and requests, of so many engines that do the same."""
    rows = []
    for at, (rate, running) in enumerate(rates):
        for engine in range(engines):
            told = stamp(BEGIN + 10 * at)[5:19]
            rows.append(f"(APIServer pid=7) INFO {told} [loggers.py:127] Engine {engine:03d}: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: {rate:.1f} tokens/s, Running: {running} reqs, Waiting: 0 reqs, GPU KV cache usage: 5.9%, Prefix cache hit rate: 0.0%")
    path.write_text("\n".join(rows) + "\n")
    return path
