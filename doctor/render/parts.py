"""What every face of a report asks it: which findings are answers, which lie beside them, and which are only noise."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def roots(report: Json) -> list[Json]:
    """What went wrong by itself: no symptom, and no harmless line that only looks bad."""
    harmless = _harmless(report)
    return [f for f in report["findings"] if f["role"] == "root" and f["kind"] not in harmless]


def _harmless(report: Json) -> tuple[str, ...]:
    """That a step before the failure went well (a conversion, then its model does not load) is no answer beside one."""
    wrong = any(f["role"] == "root" and f["kind"] not in ("noise", "success") for f in report["findings"])
    return ("noise", "success") if wrong else ("noise",)


def noise(report: Json) -> list[Json]:
    harmless = _harmless(report)
    return [f for f in report["findings"] if f["kind"] in harmless]


def context(report: Json) -> list[Json]:
    """What is of another time than the failure, or of none."""
    return [f for f in report["findings"] if f["role"] == "context" and f["kind"] not in _harmless(report)]
