"""What may a log say while all is well? `python -m benchmarks.calm [--seeds 40] [--first 100000]`.

Files of every kind in tests/simulate/calm.py (jobs that ended well with frightening words, syslogs, Kubernetes, CUDA and ROCm jobs,
builds, source trees), none of them of a seed that the tests use; printed is how often each severity was claimed, for a million lines.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from doctor.judge.diagnosis import conclude
from doctor.read import discover
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb.knowledge import load
from tests.simulate.calm import KINDS, calm

LOUD = ("fatal", "error", "warning")


def main() -> int:
    asked = argparse.ArgumentParser(prog="python -m benchmarks.calm")
    asked.add_argument("--seeds", type=int, default=40, help="files of each kind")
    asked.add_argument("--first", type=int, default=100_000, help="the first seed")
    options = asked.parse_args()
    known = load()
    scanner = Scanner(Plan(known.sought()))
    claimed: Counter[str] = Counter()
    by_entry: Counter[str] = Counter()
    lines = files = unknown = 0
    for name in sorted(KINDS):
        for seed in range(options.first, options.first + options.seeds):
            path, text = calm(name, seed)
            found = conclude([scanner.scan(discover.given_text(text, path))], known)
            files, lines, unknown = files + 1, lines + text.count("\n"), unknown + bool(found.unexplained)
            for related in found.related:
                entry = related.finding.entry
                claimed[entry.severity] += 1
                if related.role == "root" and entry.severity in LOUD and "elsewhere" not in entry.traits:
                    by_entry[f"{entry.severity} {entry.code}"] += 1
    print(f"{len(known.codes_of_entries)} entries, {len(KINDS)} kinds, {files} files, {lines} lines; files with a line that nobody knows: {unknown}")
    for severity in LOUD:
        print(f"{severity}: {claimed[severity]} findings, {claimed[severity] / lines * 1e6:.1f} of a million lines")
    print("roots:", ", ".join(f"{name} x{count}" for name, count in by_entry.most_common(12)) or "none")
    return int(claimed["fatal"] + claimed["error"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
