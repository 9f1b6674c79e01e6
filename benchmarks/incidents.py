"""Incidents that nobody had prepared for, to be judged by eye: `python -m benchmarks.incidents --out DIR [FAMILY...]`.

Writes for every case of `benchmarks/incidents/FAMILY/NAME/` what the log says, what the answer is and what the label says, side by
side, for somebody who has not read the code. The verdicts that such judges gave stand in `benchmarks/incidents/README.md`; the scale:

A the right root first, with a fix that helps   B right area, but vague, or a fix for another situation
C honest: not known, decisive line and next steps shown   D a wrong root claimed   E "No fault found" although something failed
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent / "incidents"
ROOT = HERE.parent.parent


def answer(log: Path) -> str:
    """The exit code, and what a reader sees."""
    env = {**os.environ, "COLUMNS": "110", "NO_COLOR": "1"}
    call = [sys.executable, "-m", "doctor", "scan", str(log), "--lang", "en", "-j1"]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, env=env, check=False)
    return f"exit code: {done.returncode}\n{done.stdout}"


def sheet(case: Path) -> str:
    """Input, answer and label of a case."""
    log = (case / "input.txt").read_bytes().decode("utf-8", "replace")
    label = json.dumps(json.loads((case / "label.json").read_text(encoding="utf-8")), ensure_ascii=False, indent=1)
    return f"# {case.parent.name}/{case.name}\n\n## log\n{log}\n\n## answer\n{answer(case / 'input.txt')}\n\n## label\n{label}\n"


def main() -> None:
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("--out", type=Path, required=True, help="folder for the sheets, one a case")
    asked.add_argument("families", nargs="*", help="default: all")
    args = asked.parse_args()
    for case in sorted(p.parent for p in HERE.glob("*/*/label.json")):
        if not args.families or case.parent.name in args.families:
            place = args.out / case.parent.name / f"{case.name}.md"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(sheet(case), encoding="utf-8")
    print(f"judge by eye: {args.out}")


if __name__ == "__main__":
    main()
