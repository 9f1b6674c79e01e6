"""Does "95 % sure" mean more than "50 %"? What was claimed, against what judges found: `python -m benchmarks.calibration`.

Reads `benchmarks/incidents/verdicts.tsv`: for each incident the verdict of somebody who had read neither code nor knowledge, the root
that the answer named first, and how sure it said it was. A is right, B half right (the area, not the remedy), C to E are not.
"""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

VERDICTS = Path(__file__).resolve().parent / "incidents" / "verdicts.tsv"
GRADES = "ABCDE"


def table() -> dict[str, Counter[str]]:
    """How often each grade was given, by the certainty that was claimed; decoys are left out."""
    found: dict[str, Counter[str]] = {}
    with VERDICTS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["verdict"][0] in GRADES:
                found.setdefault(row["certainty"], Counter())[row["verdict"][0]] += 1
    return found


def main() -> None:
    print("| claimed | incidents | A | B | C | D | E | A, and half of B |\n|---|--:|--:|--:|--:|--:|--:|--:|")
    for claimed, grades in sorted(table().items(), reverse=True):
        total = sum(grades.values())
        right = (grades["A"] + grades["B"] / 2) / total
        print(f"| {claimed} | {total} | " + " | ".join(str(grades[g]) for g in GRADES) + f" | {right:.0%} |")


if __name__ == "__main__":
    main()
