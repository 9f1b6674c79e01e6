"""What every face of a report asks it: which findings are answers, and which are only noise."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def roots(report: Json) -> list[Json]:
    """What went wrong by itself: no symptom, and no harmless line that only looks bad."""
    return [f for f in report["findings"] if f["role"] == "root" and f["kind"] != "noise"]


def noise(report: Json) -> list[Json]:
    return [f for f in report["findings"] if f["kind"] == "noise"]


def further(report: Json) -> list[Json]:
    """Errors that no entry claims, besides the line that is the answer."""
    first = report["decisive"]
    return [c for c in report["unexplained"] if first is None or c["evidence"] != first["evidence"]]
