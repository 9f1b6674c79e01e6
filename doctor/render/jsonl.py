"""The report as JSON lines: a head, then one line a harvest, a finding, an unexplained cluster; the harvests can be merged."""

from __future__ import annotations

import json
from typing import Any


def render(report: dict[str, Any], harvest: dict[str, Any]) -> str:
    head = {
        k: report[k] for k in ("schema_version", "tool", "knowledge", "verdict", "stats", "missing_evidence", "skipped")
    }
    head.update({k: report[k] for k in ("job", "redacted") if k in report})
    rows = [{"type": "report", **head}, {"type": "harvest", **harvest}]
    rows += [{"type": "finding", **f} for f in report["findings"]]
    rows += [{"type": "unexplained", **c} for c in report["unexplained"]]
    # The harvest keeps log text as it was; escaped to ASCII, nothing in it reaches a terminal.
    return "".join(json.dumps(row, ensure_ascii=row["type"] == "harvest", separators=(",", ":")) + "\n" for row in rows)
