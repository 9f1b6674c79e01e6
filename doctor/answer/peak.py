"""What else lowers the memory of a training step where the logs, or a script beside them, show which settings are in force: those are not advised again."""

from __future__ import annotations

from doctor.base.words import both
from doctor.findings.situation import Situation
from kb.model import Text

_MEASURES = ("micro-batch-1", "recompute-on", "offload-on", "zero3-on")  # values of the fact `option`


def phrases(situation: Situation) -> dict[str, Text]:
    """`less_peak`, and for training `less_memory` in its place; nothing where no such setting is told."""
    told = situation.facts.get("option", ())
    there = [name for name in _MEASURES if name in told]
    if not there or situation.first("activity") == "serving":
        return {}
    left = [both(f"peak-{name}") for name in _MEASURES if name not in told]
    set_so = [both(f"peak-is-{name}") for name in there]
    parts = [both("peak-shorter"), *left, both("peak-more")]
    if "verl" in situation.facts.get("framework", ()):
        parts.insert(0, both("peak-rollout"))
    text = Text(
        f"{', '.join(part['en'] for part in parts)} ({', '.join(part['en'] for part in set_so)} already)",
        f"{'、'.join(part['zh'] for part in parts)}（已设置：{'、'.join(part['zh'] for part in set_so)}）",
    )
    return {"less_peak": text, "less_memory": text}
