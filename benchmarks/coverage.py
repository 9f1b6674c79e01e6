"""How many of the application-level faults that ascend-fd names have an equivalent entry here, by family and in total.

    python -m benchmarks.coverage

The table beside this file was made by reading: for every identifier the wording that makes it fire was put into a log line of the real
format, the engine answered, and a person judged whether the answer is the same fault. Only identifiers and codes are kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import yaml

from kb.knowledge import load

TABLE = Path(__file__).with_name("coverage.yaml")


class Share(NamedTuple):
    """One family's figures; `causes` counts the faults that an entry answers which may name a root, no mere symptom or wrapper."""

    family: str
    covered: int
    total: int
    causes: int = 0

    @property
    def ratio(self) -> float:
        return self.covered / self.total


def table(path: Path = TABLE) -> dict[str, dict[str, list[str] | str]]:
    """Family to fault to our codes, or to the reason why there are none."""
    loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(loaded, dict):
        raise ValueError(f"{path} is not a table of families")
    return loaded


def shares(rows: dict[str, dict[str, list[str] | str]], roots: frozenset[str] = frozenset()) -> tuple[Share, ...]:
    """By family, in the order of the table; only a list of codes counts as covered."""
    found = []
    for family, faults in rows.items():
        lists = [codes for codes in faults.values() if isinstance(codes, list)]
        found.append(Share(family, len(lists), len(faults), sum(not roots.isdisjoint(codes) for codes in lists)))
    return tuple(found)


def total(parts: tuple[Share, ...]) -> Share:
    """All families together."""
    return Share("total", sum(p.covered for p in parts), sum(p.total for p in parts), sum(p.causes for p in parts))


def main() -> None:
    knowledge = load()
    entries = [entry for code in knowledge.codes_of_entries if (entry := knowledge.entry(code)) is not None]
    parts = shares(table(), frozenset(e.code for e in entries if e.role in ("cause", "ambiguous")))
    for part in (*parts, total(parts)):
        print(
            f"{part.family:<34} {part.covered:>4} of {part.total:>4}  {part.ratio:7.1%}   may name a root {part.causes:>4}"
        )


if __name__ == "__main__":
    main()
