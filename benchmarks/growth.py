"""What more knowledge costs: one scan with 50 entries and one with all, paired, several rounds, ratio of CPU times.

Facts about the job (who is which rank, who waits for whom) and about the situation are looked for in both: they are no entries.

    python -m benchmarks.growth [--size 64M]           reading alone, in this process
    python -m benchmarks.growth --whole [--size 1G]    `npu-doctor scan -j1`, whole processes
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import trees
from doctor.read.discover import discover
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb.knowledge import load
from kb.model import FACT_PREFIX, SITUATION
from kb.sought import gathered

FEW = 50
ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="64M")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--whole", action="store_true", help="whole processes, of two copies of the program")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        tree.mkdir()
        trees.write(tree, "typical", trees.size_of(args.size), 4)
        spent = _whole(tree, Path(folder), args.rounds) if args.whole else _reading(tree, args.rounds)
    middle = {name: statistics.median(values) for name, values in spent.items()}
    for name, seconds in middle.items():
        print(f"{name:>12}: {seconds:.3f} s CPU, {trees.size_of(args.size) / 1e6 / seconds:.0f} MB/s")
    few_s, all_s = middle.values()
    print(f"all / {FEW}: {all_s / few_s:.2f} (goal 1.3)")


def _reading(tree: Path, rounds: int) -> dict[str, list[float]]:
    """Seconds of reading the tree with some and with all entries."""
    known = load()
    signals = known.signals()
    few = set(_some(sorted(known.codes_of_entries)))
    plans = {f"{FEW} entries": [s for s in signals if s.entry in few or s.id.startswith((FACT_PREFIX, SITUATION))], f"all {len(known.codes_of_entries)}": signals}
    sources = discover([str(tree)]).sources
    total = sum(s.size or 0 for s in sources)
    scanners = {name: Scanner(Plan(gathered(chosen)), digest=name) for name, chosen in plans.items()}
    for scanner in scanners.values():
        scanner.engine.prepare(max(total, 64 << 20))
    gc.disable()
    spent: dict[str, list[float]] = {name: [] for name in scanners}
    for _ in range(rounds):
        for name, scanner in scanners.items():
            begin = time.process_time()
            for source in sources:
                scanner.scan(source)
            spent[name].append(time.process_time() - begin)
    return spent


def _whole(tree: Path, folder: Path, rounds: int) -> dict[str, list[float]]:
    """Seconds of whole scans by two copies of the program, of which one has only some entries."""
    copies = {}
    for part in ("few", "all"):
        home = folder / part
        for package in ("doctor", "kb", "parsers"):
            shutil.copytree(ROOT / package, home / package, ignore=shutil.ignore_patterns("__pycache__", "_compiled"))
        entries = sorted((home / "kb" / "entries").rglob("*.yaml"))
        kept = set(_some(entries) if part == "few" else entries)
        for entry in entries:
            if entry not in kept:
                entry.unlink()
        copies[f"{FEW} entries" if part == "few" else f"all {len(entries)}"] = home
    spent: dict[str, list[float]] = {name: [] for name in copies}
    for round_ in range(rounds + 1):
        for name, home in copies.items():
            environment = {**os.environ, "XDG_CACHE_HOME": str(home / "cache"), "PYTHONPATH": ""}
            before = _children()
            subprocess.run([sys.executable, "-m", "doctor", "scan", "-j1", str(tree)], cwd=home, env=environment, capture_output=True, check=False)
            if round_:  # the first one compiles
                spent[name].append(_children() - before)
    return spent


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _some(everything: list[Any]) -> list[Any]:
    return everything[:: max(1, len(everything) // FEW)][:FEW]


if __name__ == "__main__":
    main()
