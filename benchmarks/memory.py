"""Who holds the memory: `python -m benchmarks.memory [--seed N] [--each N] [--large MB]`.

Draws snapshots of twelve classes and of programs that have nothing (`tests/simulate/memory_snapshots.py`) from a seed that the clock
gives, and counts how often the class and, among the first three places, the right one are told. `--large` writes a snapshot of that
many megabytes and reads it in a process of its own: processor seconds and the most memory that it held.
"""

from __future__ import annotations

import argparse
import pickle
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from doctor.memory.classes import NAMED, judge
from doctor.memory.evidence import Evidence, components, last_message
from parsers.snapshot import snapshot
from tests.simulate.memory_snapshots import KINDS, Made, Program, make


def told(made: Made) -> tuple[str, tuple[str, ...]]:
    """The class that is told of a snapshot, and the places that are named first."""
    found = judge(Evidence(snapshot(made.data), last_message(made.log.splitlines(), ""), components(made.table.splitlines())))
    return found.kind.value, tuple(holder.site.place for holder, _ in found.holders[:NAMED])


def named(made: Made, places: tuple[str, ...]) -> bool:
    return any(f"{made.site} " in f"{place} " for place in places)


def large(target: Path, megabytes: int) -> None:
    """A snapshot of a long history: every event with a stack of 18 frames, as torch writes them."""
    p = Program(megabytes)
    stacks = [p.stack(f"model/layer{n % 40}.py", 10 + n, "forward", inner=tuple((f"/usr/lib/python3.11/site-packages/torch/m{n + k}.py", k, "f") for k in range(11))) for n in range(600)]
    held: list[int] = []
    for _ in range(megabytes * 7300):
        if len(held) > 3000 and p.random.random() < 0.5:
            at = p.random.randrange(len(held))
            held[at], last = held[-1], held[at]
            held.pop()
            size, frames, _, _ = p.live.pop(last)
            p._event("free_completed", last, size, frames)
        else:
            held.append(p.alloc(p.random.randint(1, 3000) * 512, p.random.choice(stacks)))
    with target.open("wb") as file:
        pickle.dump({"segments": p.segments(), "device_traces": [p.trace]}, file, protocol=4)


def read_large(path: str) -> None:
    """Reads one, and says what it took."""
    from doctor.memory.reading import read

    begin = time.process_time()
    found = read([path])
    used = time.process_time() - begin
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{Path(path).stat().st_size / 1e6:.0f} MB: {used:.1f} processor seconds, {most:.0f} MiB, {found.cases[0].found.kind.value}")


def main() -> int:
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("--seed", type=int, default=int(time.time()))
    asked.add_argument("--each", type=int, default=20)
    asked.add_argument("--large", type=int, default=0, metavar="MB")
    asked.add_argument("--read", help=argparse.SUPPRESS)
    asked.add_argument("--write", help=argparse.SUPPRESS)
    args = asked.parse_args()
    if args.read:
        read_large(args.read)
        return 0
    if args.write:
        large(Path(args.write), args.large)
        return 0
    draw = random.Random(args.seed)
    right: Counter[str] = Counter()
    placed: Counter[str] = Counter()
    wrong: Counter[tuple[str, str]] = Counter()
    with_site = 0
    for kind in (*KINDS, "even"):
        for _ in range(args.each):
            made = make(kind, draw.getrandbits(40))
            said, places = told(made)
            right[kind] += said == kind
            if said != kind:
                wrong[kind, said] += 1
            if made.site:
                with_site += 1
                placed[kind] += named(made, places)
        print(f"{kind:18} class {right[kind]}/{args.each}  place {placed[kind]}")
    for (kind, said), times in wrong.items():
        print(f"  {kind} was told as {said} x{times}")
    total, classes = sum(right.values()), args.each * (len(KINDS) + 1)
    print(f"seed {args.seed}: class {total}/{classes}, place among the first {NAMED} {sum(placed.values())}/{with_site}")
    if args.large:
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/large.pickle"
            subprocess.run([sys.executable, "-m", "benchmarks.memory", "--write", path, "--large", str(args.large)], check=True)
            subprocess.run([sys.executable, "-m", "benchmarks.memory", "--read", path], check=True)
    return 0 if total == classes and sum(placed.values()) >= 0.95 * with_site else 1


if __name__ == "__main__":
    sys.exit(main())
