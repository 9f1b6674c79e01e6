"""The roots as CSV, a row each: for spreadsheets and for programs that read no JSON."""

from __future__ import annotations

import csv
import io
from typing import Any

from doctor.render import parts

Json = dict[str, Any]
COLUMNS = (
    "severity", "code", "title", "confidence", "action", "count", "first_seen", "last_seen", "node", "rank", "device", "pid", "path", "line", "explains",
)  # fmt: skip


def render(report: Json, lang: str) -> str:
    """A head and a row for each root, in the order in which to act. A cell never begins a formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for found in parts.roots(report):
        first, scope = found["evidence"][0], found["scope"]
        cells = (
            found["severity"], found["id"], found["title"][lang], found["confidence"], (found.get("action") or {}).get("class"), found["count"], found["first_seen"], found["last_seen"],
            scope["node"], scope["rank"], scope["device"], scope["pid"], first["path"], first["line"], " ".join(found["explains"]),
        )  # fmt: skip
        writer.writerow(["" if cell is None else _plain(cell) for cell in cells])
    return out.getvalue()


def _plain(cell: object) -> str:
    text = str(cell)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t")) and not isinstance(cell, (int, float)) else text
