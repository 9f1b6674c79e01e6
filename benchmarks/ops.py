"""What `npu-doctor ops` costs: seconds and peak memory on plogs of operator descriptions, at two sizes.

    python -m benchmarks.ops [--size 200M] [--folder DIR]

The memory must not grow with the log: the same run is made at a tenth of the size first. Half of the lines are operator
descriptions of a network whose shapes keep changing, the hardest case for folding; the rest are other modules' lines.

Measured on a shared machine of 2 cores, Python 3.11: 20 MiB in 1.1 s at a peak of 70 MiB; 200 MiB in 3.7 s at 81 MiB.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.trees import INFO, Tree, size_of

TYPES = ("MatMul", "Conv2D", "TransData", "Cast", "ReduceMean", "SoftmaxV2", "Gather", "IndexPutV2", "Add", "RealDiv")
RUN = "import resource, sys; from doctor.cli import main; code = main(sys.argv[1:]); sys.stderr.write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)); sys.exit(code)"


def lines(seed: int, pid: int) -> Iterator[str]:
    """An endless plog: about 6 % of the descriptions have a shape that was not there before."""
    r, tree, batch = random.Random(seed), Tree(seed, pid), 64
    while True:
        if r.random() < 0.5:
            yield tree.line("INFO", r.choice(INFO[:10]))
            continue
        kind, size = r.choice(TYPES), 2 ** r.randrange(4, 11)
        if r.random() < 0.06:
            batch = r.randrange(1, 512)
        tensors = "".join(
            f"{side}putDesc[{n}]: [TensorDesc] DataType = 1, Format = 2, StorageFormat = -1, Shape = [{batch}, {size}], "
            "StorageShape = [], shapeRange = [], memtype = 0, isConst = 0 "
            for side, n in (("In", 0), ("In", 1), ("Out", 0))
        )
        head = f"ASCENDCL({pid},python3.10):2026-03-01-09:00:00.000.001"
        yield f"[INFO] {head} [op_compiler.cpp:187]{pid} aclopCompile: aclopCompile::aclOp = OpType: {kind}, {tensors}Attr: {{transpose_x1: 0}}\n"
        if r.random() < 0.1:
            yield f"[WARNING] {head} [op_model_cache.h:101]{pid} MatchOpModel: Match op inputs failed. opType = {kind}, inputDesc = 1~2~[]\n"
            yield f"[INFO] {head} [op_compiler.cpp:208]{pid} CompileOp: To compile op: {kind}, compileFlag is 0\n"


def write(folder: Path, size: int, files: int = 8) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    total = 0
    for number in range(files):
        source = lines(number, 5000 + number)
        with (folder / f"plog-{5000 + number}_20260301090000000.log").open("w") as out:
            written = 0
            while written < size // files:
                line = next(source)
                out.write(line)
                written += len(line)
            total += written
    return total


def measure(folder: Path) -> tuple[float, float]:
    """(seconds, MiB at most) of one run in a process of its own."""
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", RUN, "ops", str(folder), "-f", "json", "-o", str(folder.parent / "ops.json")],
        capture_output=True, check=False, text=True,
    )  # fmt: skip
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    return time.perf_counter() - begin, int(done.stderr.split()[-1]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="200M")
    parser.add_argument("--folder", type=Path)
    args = parser.parse_args()
    full = size_of(args.size)
    with tempfile.TemporaryDirectory(dir=args.folder) as work:
        for size in (full // 10, full):
            folder = Path(work) / str(size)
            written = write(folder, size)
            seconds, peak = measure(folder)
            sys.stdout.write(
                f"{written / 2**20:8.0f} MiB  {seconds:6.2f} s  {written / 2**20 / seconds:6.0f} MiB/s  peak {peak:6.0f} MiB\n"
            )


if __name__ == "__main__":
    main()
