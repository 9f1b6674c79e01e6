"""What more knowledge costs: one scan with 50 entries and one with all, paired, several rounds, ratio of CPU times.

Facts about the job (who is which rank, who waits for whom) and about the situation are looked for in both: they are no entries.

    python -m benchmarks.growth [--size 64M]
"""

from __future__ import annotations

import argparse
import gc
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks import trees
from doctor.read.discover import discover
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb.knowledge import load
from kb.model import FACT_PREFIX, SITUATION
from kb.sought import gathered


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="64M")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    known = load()
    signals = known.signals()
    few = set(sorted(known.codes_of_entries)[:: max(1, len(known.codes_of_entries) // 50)][:50])
    plans = {"50 entries": [s for s in signals if s.entry in few or s.id.startswith((FACT_PREFIX, SITUATION))], f"all {len(known.codes_of_entries)}": signals}
    with tempfile.TemporaryDirectory() as folder:
        trees.write(Path(folder), "typical", trees.size_of(args.size), 4)
        sources = discover([folder]).sources
        total = sum(s.size or 0 for s in sources)
        scanners = {name: Scanner(Plan(gathered(chosen)), digest=name) for name, chosen in plans.items()}
        for scanner in scanners.values():
            scanner.engine.prepare(max(total, 64 << 20))
        gc.disable()
        spent: dict[str, list[float]] = {name: [] for name in scanners}
        for _ in range(args.rounds):
            for name, scanner in scanners.items():
                begin = time.process_time()
                for source in sources:
                    scanner.scan(source)
                spent[name].append(time.process_time() - begin)
    middle = {name: statistics.median(values) for name, values in spent.items()}
    for name, seconds in middle.items():
        print(f"{name:>12}: {seconds:.3f} s CPU, {total / 1e6 / seconds:.0f} MB/s")
    few_s, all_s = middle.values()
    print(f"all / 50: {all_s / few_s:.2f} (goal 1.3)")


if __name__ == "__main__":
    main()
