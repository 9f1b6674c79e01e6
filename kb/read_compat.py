"""Reads `compat.yaml`: those of its tables that pair the versions of software."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kb import yamldoc
from kb.compat import SOFTWARE, Pairing
from kb.problems import Problem

TABLES = ("torch_npu", "vllm_ascend", "mindspore", "mindie")
UNSURE = "unverified"  # guessed from the naming of releases: nobody's set-up is changed for such a row


def read_compat(path: Path, shown: str) -> tuple[list[Pairing], list[Problem]]:
    """What a layer knows of pairs; nothing when it has no such file."""
    if not path.is_file():
        return [], []
    doc = yamldoc.parse(shown, path.read_bytes())
    if isinstance(doc, Problem):
        return [], [doc]
    found: list[Pairing] = []
    problems: list[Problem] = []
    for table in TABLES:
        rows = doc.value.get(table, []) if isinstance(doc.value, dict) else None
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            problems.append(Problem(shown, 0, f"'{table}' is no list of rows", "write a row as {torch_npu: ..., torch: ..., cann: ...}"))
            continue
        found += [_pairing(table, row) for row in rows if row.get("confidence") != UNSURE]
    return found, problems


def _pairing(table: str, row: Mapping[str, Any]) -> Pairing:
    told = {name: row[name] for name in SOFTWARE if name in row}
    return Pairing(table, {name: tuple(v) if isinstance(v, list) else (str(v),) for name, v in told.items()})
