"""What the knowledge has on lines that differ."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from doctor.baseline.indicating import Ranked
from doctor.judge.diagnosis import conclude
from doctor.read.discover import given_text
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb import plain
from kb.knowledge import Knowledge

MAX_CODES = 2  # of one line


def codes(rows: Iterable[Ranked], known: Knowledge) -> dict[str, tuple[dict[str, Any], ...]]:
    """By the shape of a line the entries that it is evidence of, in one scan of all lines; a blank keeps each one apart."""
    shown = [(row.difference.shape, row.difference.seen.text.replace("\n", " ")) for row in rows if row.difference.seen is not None]
    if not shown:
        return {}
    text = "".join(f"{line}\n" for _, line in shown)
    found: dict[str, dict[str, dict[str, Any]]] = {}
    diagnosis = conclude([Scanner(Plan(known.sought())).scan(given_text(text))], known)
    for related in diagnosis.related:
        entry = related.finding.entry
        for hit in related.finding.hits:
            if 0 < hit.place.line <= len(shown):
                shape = shown[hit.place.line - 1][0]
                found.setdefault(shape, {})[entry.code] = {"id": entry.code, "title": plain.text(entry.title).json()}
    return {shape: tuple(told.values())[:MAX_CODES] for shape, told in found.items()}
