"""How well `npu-doctor diff` finds faults that no entry knows: `python -m benchmarks.diff [--pairs 200] [--seed 1000] [--healthy 1 3] [--programs DIR]`.

Pairs of simulated runs (tests/simulate/pairs.py): other lengths, numbers of ranks, names, ids, orders; in one of them something happens
that is told in words of its own (tests/simulate/strange.py). Weights were worked out on the wordings STRANGE and FRESH and on the log calls of
torch (`--programs`), with seeds below 1000; UNSEEN are wordings of which none was looked at for that. `--programs` takes noise and faults from the log calls of installed
Python packages instead (tests/simulate/programs.py): other faults and other healthy noise. A second generator (tests/simulate/jobs.py) makes whole jobs with CANN's lines.

Bar: F1 of the lines that indicate the fault >= 0.90, the faulty node first >= 85 %, among the first five >= 95 %, >= 100 MB/s a core.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from doctor.baseline.shapes import Shapes
from tests.simulate.graded import Grade, f1, grade, verdict
from tests.simulate.jobs import FAULTS, simulate
from tests.simulate.pairs import pair
from tests.simulate.programs import Wordings
from tests.simulate.strange import FRESH, STRANGE, UNSEEN, Strange
from tests.simulate.world import World

OF_ONE_NODE = ("oom", "aicore", "ecc", "killed", "mismatch", "port", "ranktable")


def pairs(name: str, wordings: tuple[Strange, ...] | Wordings, seeds: range, healthy: int) -> None:
    grades, worst = [], Counter[str]()
    for seed in seeds:
        one = pair(seed, wordings.faults(seed), healthy, noise=wordings.noise(seed)) if isinstance(wordings, Wordings) else pair(seed, wordings, healthy)
        grades.append(grade(one))
        if grades[-1].place != 1:
            worst[one.fault] += 1
    summed = Grade(*map(sum, zip(*grades, strict=True)))
    first, five = (sum(1 <= g.place <= n for g in grades) / len(grades) for n in (1, 5))
    print(
        f"{name}, {healthy} healthy, {len(grades)} pairs: F1 of lines {f1(*summed[:3]):.3f}, of wordings {f1(*summed[3:6]):.3f} "
        f"({summed.shapes_hit} right, {summed.shapes_wrong} wrong, {summed.shapes_missed} missed); node first {first:.1%}, in first five {five:.1%}"
        + (f"; not first: {dict(worst.most_common(4))}" if worst else "")
    )


def healthy(seed: int) -> dict[str, str]:
    """A job of the second generator in which nothing happens."""
    world = World(seed, 32)
    world.start()
    world.work(600.0)
    return world.text()


def jobs(seeds: range) -> None:
    """CANN's own lines: who fails must be the first suspect, by the node of the true rank."""
    places: Counter[str] = Counter()
    for seed in seeds:
        fault = OF_ONE_NODE[seed % len(OF_ONE_NODE)]
        world = World(seed, 32)
        made = simulate(seed, 32, fault)
        if world.layout == "rank":
            continue
        true = {f"{world.folder(rank).split('/')[0]}" for rank in made.truth.ranks}
        found, _, _ = verdict([healthy(seed + 1_000_000)], made.files)
        names = [s.name for s in found.suspects]
        places["jobs"] += 1
        places["first"] += bool(true & set(names[:1]))
        places["five"] += bool(true & set(names[:5]))
        if not true & set(names[:1]):
            places[fault] += 1
    assert set(OF_ONE_NODE) <= set(FAULTS)
    print(f"jobs of the second generator, 1 healthy of another seed and another layout: {dict(places)}")


def speed(megabytes: int) -> None:
    """Bytes of logs a second of processor, warm: what a core does with gigabytes."""
    rows = []
    for seed in range(6):
        rows += [line for text in pair(seed, STRANGE).bad.values() for line in text.encode().splitlines(keepends=True)]
        rows += [line for text in simulate(seed, 64, "oom").files.values() for line in text.encode().splitlines(keepends=True)]
    random.Random(1).shuffle(rows)
    text = b"".join(rows)
    blocks = [text[at : at + (1 << 20)] for at in range(0, len(text), 1 << 20)]
    shapes, read = Shapes(), 0
    for block in blocks:
        shapes.of(block)
    begin = time.process_time()
    while read < megabytes * 1_000_000:
        for block in blocks:
            shapes.of(block)
            read += len(block)
    spent = time.process_time() - begin
    print(f"{read / spent / 1e6:.0f} MB/s a core over {read / 1e6:.0f} MB, {len(shapes.texts)} shapes; largest memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--pairs", type=int, default=200)
    asked.add_argument("--seed", type=int, default=1000)
    asked.add_argument("--healthy", type=int, nargs="+", default=[1, 3])
    asked.add_argument("--megabytes", type=int, default=300)
    asked.add_argument("--programs", type=Path, help="a folder of Python packages, site-packages of some environment")
    args = asked.parse_args()
    seeds = range(args.seed, args.seed + args.pairs)
    if args.programs:
        said = Wordings.of(args.programs)
        for number in args.healthy:
            pairs(f"log calls of {len(said.files)} files", said, seeds, number)
        return
    for number in args.healthy:
        pairs("worked out on", STRANGE + FRESH, seeds, number)
        pairs("UNSEEN", UNSEEN, seeds, number)
    jobs(seeds)
    speed(args.megabytes)


if __name__ == "__main__":
    main()
