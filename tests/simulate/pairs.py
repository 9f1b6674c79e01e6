"""Pairs of runs of one kind of job: one healthy, one in which something happens that no entry knows.

The noise is what runs differ in though nothing is wrong: length, number of ranks, names, ids, paths, order, what a rank happens to
print, workers that are started again, requests and their texts.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import NamedTuple

from tests.simulate.strange import Strange

START = datetime(2026, 5, 11, 7, 30, 0)
_WORDS = (
    "amber", "basin", "cedar", "delta", "ember", "fjord", "grove", "harbor", "inlet", "jetty", "knoll", "lagoon", "meadow", "nectar", "orchid", "pebble", "quarry", "ridge", "summit",
    "tundra", "valley", "willow",
)  # fmt: skip
_CONFIG = (
    ("num_layers", (32, 48, 61)), ("hidden_size", (4096, 5120, 7168)), ("micro_batch_size", (1, 2, 4)), ("bf16", ("True",)), ("optimizer", ("adamw",)), ("clip_grad", (1.0,)),
    ("recompute_granularity", ("full", "selective")), ("sequence_parallel", ("True",)), ("swiglu", ("True",)), ("normalization", ("RMSNorm",)),
)  # fmt: skip
# (share of ranks that print it, level, text)
PHASES: dict[str, tuple[tuple[float, str, str], ...]] = {
    "start": (
        (1, "INFO", "launcher {id} starts member {rank} on {host} in {dir}"), (1, "INFO", "using backend hccl, world size {world}, local device {dev}"),
        (1, "INFO", "device {dev} has {n} MiB, {n} MiB free"), (0.3, "WARNING", "OMP_NUM_THREADS is not set, using {d}"), (0.15, "INFO", "picked cached plan {hex}"),
        (0.1, "WARNING", "tokenizer revision {hex} is newer than the cached one"), (0.5, "INFO", "numa node of device {dev} is {d}"),
    ),
    "load": (
        (1, "INFO", "opened shard {n} of {n} from {dir}part-{n}.bin"), (1, "INFO", "loaded {n} tensors in {f} s"), (0.4, "INFO", "reading ahead {n} KiB"),
        (0.2, "WARNING", "reader {d} restarted after {n} records, continuing at offset {n}"), (0.08, "WARNING", "slow read of part-{n}.bin: {n} ms"), (0.3, "INFO", "sample preview: {prose}"),
    ),
    "compile": ((1, "INFO", "compiled {n} kernels in {f} s, cache key {hex}"), (0.5, "INFO", "kernel {id} reused"), (0.1, "WARNING", "fusion of {n} nodes skipped, shapes are dynamic")),
    "ready": ((1, "INFO", "communicator {hex} ready, {world} members"), (1, "INFO", "warm-up finished after {n} ms")),
    "eval": ((1, "INFO", "evaluation at step {step}: accuracy {f}, {n} samples"), (0.2, "INFO", "request {id}: {prose}"), (0.15, "WARNING", "sample {n} truncated to {n} tokens")),
    "save": ((1, "INFO", "checkpoint {step} written to {dir}iter_{n}"), (0.3, "INFO", "pruned old checkpoint iter_{n}"), (0.1, "WARNING", "fsync took {n} ms")),
    "end": ((1, "INFO", "training finished after {step} steps"), (1, "INFO", "goodbye from member {rank}")),
}  # fmt: skip
RARE = (
    "INFO collected {n} objects in {n} ms", "WARNING gradient norm {f} was clipped to 1.0", "INFO loss scale set to {n}", "WARNING heartbeat to store took {n} ms", "INFO rotated log after {n} lines",
    "INFO profiler window {n} closed", "INFO metrics pushed to {host}, {n} points", "WARNING metrics gateway answered 503, retry {d}", "INFO worker {n} joined the pool", "INFO worker {n} left the pool, was idle",
    "WARNING allocator returned {n} MiB to the device", "INFO tensor cache hit rate {f}", "INFO prefetch queue depth {d}", "WARNING step {step} was {pct} percent slower than the median", "INFO dataloader epoch {d} shuffled with seed {n}",
    "INFO lease {hex} renewed for {n} s", "WARNING tracer buffer is {pct} percent full", "INFO config watcher sees no change", "INFO user {name} attached to dashboard", "WARNING dropped {n} trace events",
)  # fmt: skip
DAEMON = (
    "INFO agent tick {n}, {n} containers", "INFO fan zone {d} at {pct} percent", "INFO link {d} up, {n} Gbps", "INFO scrape of {host} took {n} ms", "WARNING scrape of {host} took {n} ms, budget {n}",
    "INFO image layer {hex} unpacked", "INFO volume {id} mounted at {dir}", "INFO chronyd offset {n} ns", "INFO session {n} of user {name} opened", "INFO session {n} of user {name} closed",
)  # fmt: skip


class Noise(NamedTuple):
    """What is said though nothing is wrong: in each phase, now and then, and by the daemon of a node."""

    phases: dict[str, tuple[tuple[float, str, str], ...]]
    rare: tuple[str, ...]
    daemon: tuple[str, ...]


USUAL = Noise(PHASES, RARE, DAEMON)


class Pair(NamedTuple):
    """Logs of a healthy and of another run, name to text; `told`: (file, line number) of the lines that indicate the fault; whose it is."""

    good: tuple[dict[str, str], ...]
    bad: dict[str, str]
    told: frozenset[tuple[str, int]]
    node: str
    rank: int | None
    fault: str


class _Run:
    def __init__(self, pick: random.Random, job: random.Random, nodes: int, per_node: int, combined: bool, noise: Noise) -> None:
        self.pick, self.nodes, self.ranks, self.per_node, self.combined = pick, nodes, nodes * per_node, per_node, combined
        self.noise = noise
        names = pick.sample(_WORDS, 2)
        self.names = [f"{names[0]}-{pick.randrange(10, 99)}-{n}" for n in range(nodes)]
        self.dir = f"/mnt/{names[1]}/run_{pick.randrange(1000, 9999)}/"
        self.begin = START + timedelta(seconds=pick.randrange(0, 80000))
        self.skew = [pick.uniform(-20, 20) for _ in range(nodes)]
        self.steps = pick.randrange(60, 240)
        self.config = {name: job.choice(values) for name, values in _CONFIG}
        self.rows: dict[str, list[tuple[float, int, str, bool]]] = {}
        self.number = 0
        self.step = 0

    def fill(self, text: str, rank: int) -> str:
        r = self.pick
        slots = {
            "n": lambda: str(r.randrange(3, 10 ** r.randrange(2, 7))), "d": lambda: str(r.randrange(16)), "f": lambda: f"{r.uniform(0, 20):.{r.randrange(1, 5)}f}", "pct": lambda: str(r.randrange(1, 101)),
            "hex": lambda: f"{r.randrange(16**12):012x}" if r.random() < 0.5 else f"0x{r.randrange(16**8):x}", "id": lambda: "".join(r.choices("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMN23456789", k=14)),
            "host": lambda: r.choice(self.names), "dir": lambda: self.dir, "name": lambda: r.choice(_WORDS), "prose": lambda: " ".join(r.choices(_WORDS, k=r.randrange(4, 14))),
            "rank": lambda: str(rank), "dev": lambda: str(rank % self.per_node), "world": lambda: str(self.ranks), "step": lambda: str(self.step),
        }  # fmt: skip
        while "{" in text:
            name = text[text.index("{") + 1 : text.index("}")]
            text = text.replace("{" + name + "}", slots[name](), 1)
        return text

    def say(self, rank: int, at: float, level: str, text: str, told: bool = False) -> None:
        node = rank // self.per_node
        stamp = (self.begin + timedelta(seconds=at + self.skew[node])).strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]
        line = f"{stamp} {level} [trainer.py:{80 + len(text) % 700}] {self.fill(text, rank)}"
        name = f"{self.names[node]}/train.log" if self.combined else f"{self.names[node]}/rank_{rank}.log"
        self.write(name, at, f"[rank{rank}]: {line}" if self.combined else line, told)

    def daemon(self, node: int, at: float, level: str, text: str, told: bool = False) -> None:
        stamp = (self.begin + timedelta(seconds=at + self.skew[node])).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        self.write(f"{self.names[node]}/nodeagent.log", at, f"{stamp} {level} {self.fill(text, node * self.per_node)}", told)

    def write(self, name: str, at: float, line: str, told: bool) -> None:
        self.number += 1
        self.rows.setdefault(name, []).append((at, self.number, line, told))

    def phase(self, name: str, at: float) -> None:
        for rank in range(self.ranks):
            moment = at
            for share, level, text in self.noise.phases[name]:
                for _ in range(self.pick.randrange(1, 4) if name == "load" else 1):
                    moment += self.pick.uniform(0.01, 0.8)
                    if self.pick.random() < share:
                        self.say(rank, moment, level, text)

    def live(self, until: float | None = None) -> float:
        """Everything healthy, up to a moment or to the end; how long it took."""
        r = self.pick
        for rank in range(self.ranks):
            for name, value in self.config.items():
                self.say(rank, r.uniform(0, 1), "INFO", f"  {name} {'.' * (32 - len(name))} {value}")
        at = 2.0
        for name, lasts in (("start", 5), ("load", 20), ("compile", 25), ("ready", 6)):
            self.phase(name, at)
            at += lasts * r.uniform(0.7, 1.5)
        for step in range(1, self.steps + 1):
            self.step = step
            if until is not None and at > until:
                break
            for rank in range(self.ranks):
                if rank % self.per_node == 0 or step % 10 == 0:
                    self.say(rank, at + r.uniform(0, 0.3), "INFO", "iteration {step}/ 5000 | elapsed {f} | loss {f} | grad norm {f} | {n} tokens/s")
                if r.random() < 0.02:
                    level, _, text = r.choice(self.noise.rare).partition(" ")
                    self.say(rank, at + r.uniform(0, 2), level, text)
            if step % 50 == 0:
                self.phase("eval", at + 1)
            if step % 60 == 0:
                self.phase("save", at + 2)
            at += r.uniform(1.5, 2.5)
        for node in range(self.nodes):
            moment = r.uniform(0, 4)
            while moment < at:
                level, _, text = r.choice(self.noise.daemon).partition(" ")
                self.daemon(node, moment, level, text)
                moment += r.uniform(1, 9)
        if until is None or at <= until:
            self.phase("end", at + 1)
        return at

    def files(self) -> tuple[dict[str, str], frozenset[tuple[str, int]]]:
        made, told = {}, set()
        for name, rows in self.rows.items():
            rows.sort()
            made[name] = "".join(line + "\n" for _, _, line, _ in rows)
            told |= {(name, number) for number, row in enumerate(rows, 1) if row[3]}
        return made, frozenset(told)


def pair(seed: int, faults: tuple[Strange, ...], healthy: int = 1, fault: Strange | None = None, noise: Noise = USUAL) -> Pair:
    """The pair of a seed; `healthy`: how many healthy runs."""
    job = random.Random(seed)
    fault = fault or job.choice(faults)
    combined, per_node = job.random() < 0.5, job.choice((2, 4, 8))
    config = job.randrange(1 << 30)
    made = []
    for n in range(healthy):
        run = _Run(random.Random(f"{seed}-good-{n}"), random.Random(config), job.choice((2, 3, 4, 6)), per_node, combined, noise)
        run.live()
        made.append(run.files()[0])
    bad = _Run(random.Random(f"{seed}-bad"), random.Random(config), job.choice((2, 3, 4, 6, 8)), per_node, combined, noise)
    return _hurt(bad, job, fault, tuple(made))


def _hurt(run: _Run, pick: random.Random, fault: Strange, good: tuple[dict[str, str], ...]) -> Pair:
    rank = pick.randrange(run.ranks)
    node = rank // run.per_node
    at = pick.uniform(60, 250)
    ends = pick.random() < 0.6
    lasted = run.live(at + pick.uniform(30, 120) if ends else None)
    at = min(at, lasted)
    moment = at
    for _ in range(pick.randint(*fault.times)):
        for level, text in fault.says:
            moment += pick.uniform(0.05, 3)
            if fault.where == "node":
                run.daemon(node, moment, level, text, told=True)
            else:
                run.say(rank, moment, level, text, told=True)
    if fault.others:
        for other in range(run.ranks):
            if other != rank and pick.random() < 0.8:
                for level, text in fault.others:
                    run.say(other, at + pick.uniform(5, 40), level, text, told=True)
    files, told = run.files()
    return Pair(good, files, told, run.names[node], rank if fault.where == "rank" else None, fault.name)
