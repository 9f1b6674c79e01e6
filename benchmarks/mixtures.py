"""How fast logs are read whose lines ask for much: `python -m benchmarks.mixtures [--megabytes 12] [--seed 1] [--drawn 20]`.

Each kind of line of tests/doctor/test_work.py alone, again and again with other numbers and words, and some drawn mixtures of them.
Processor seconds of one core, the making of the knowledge left out. Bar: 20 MB/s each. Lines that come to a loop over them cost
one to ten microseconds, so what is below the bar are logs of very short error lines.
"""

from __future__ import annotations

import argparse
import io
import random
import sys
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import machine, table
from doctor.read.source import Source, hints
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb.knowledge import load
from kb.sought import Sought

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))  # where its fixtures are looked for
from tests.doctor.test_work import KINDS, log

BAR = 20.0  # MB/s


class Pace(NamedTuple):
    rate: float  # MB/s
    line: float  # microseconds
    kinds: tuple[str, ...]


def measured(kinds: tuple[str, ...], size: int, sought: Sought) -> Pace:
    """One mixture, read from memory by a scanner of its own."""
    lines = size * len(kinds) // max(1, len(log(list(kinds), len(kinds))))
    data = log(list(kinds), lines)
    scanner = Scanner(Plan(sought))
    scanner.engine.prepare(len(data))
    begin = time.process_time()
    scanner.scan(Source("mem.log", lambda: io.BytesIO(data), len(data), hints("mem.log")))
    spent = time.process_time() - begin
    return Pace(len(data) / spent / 1e6, spent / lines * 1e6, kinds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--drawn", type=int, default=20)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    mixtures = [(kind,) for kind in KINDS if kind] + [tuple(chance.sample(KINDS, chance.randint(2, 5))) for _ in range(options.drawn)]
    sought = load().sought()
    found = sorted(measured(kinds, int(options.megabytes * (1 << 20)), sought) for kinds in mixtures)
    below = sum(pace.rate < BAR for pace in found)
    print(f"{machine()}; {options.megabytes:g} MB each, seed {options.seed}\n")
    print(table(("lines", "MB/s", "us a line"), [(" / ".join(map(repr, p.kinds))[:120].replace("|", r"\|"), f"{p.rate:.1f}", f"{p.line:.2f}") for p in found]))
    print(f"\nbelow {BAR:g} MB/s: {below} of {len(found)}; median {found[len(found) // 2].rate:.1f} MB/s")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
