"""What every face of a report asks it: which findings are answers, which lie beside them, and which are only noise."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def roots(report: Json) -> list[Json]:
    """What went wrong by itself: no symptom, and no harmless line that only looks bad."""
    return [f for f in report["findings"] if f["role"] == "root" and f["kind"] != "noise"]


def noise(report: Json) -> list[Json]:
    return [f for f in report["findings"] if f["kind"] == "noise"]


def context(report: Json) -> list[Json]:
    """What is of another time than the failure, or of none."""
    return [f for f in report["findings"] if f["role"] == "context" and f["kind"] != "noise"]
