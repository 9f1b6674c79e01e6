"""What findings that follow from a root tell of it, where its own lines do not: the device that failed, the operator that was called.

A line of the driver names no card, and the runtime's lines behind it do. Only what all of them agree on is taken, and only of those
that are tied to the root by more than that they say less: another process of the job may sit on another card.
"""

from __future__ import annotations

from collections.abc import Mapping

from doctor.judge.diagnosis import Diagnosis
from doctor.judge.relate import Related
from kb.placeholders import told

_NAMES = ("device", "op", "operator")
_FAR = frozenset({"cause-or-neighbour", "anything-that-says-more", "downstream-of-the-root", "finished-all-the-same"})


def beside(related: Related, diagnosis: Diagnosis) -> Mapping[str, str]:
    """Names that texts of the root may use, with what is told of them."""
    if not related.explains:
        return {}
    explained = frozenset(related.explains)
    own = {v for i in related.finding.instances for v in (i.scope.device, i.captures.get("device")) if v is not None}
    found: dict[str, set[str]] = {}
    for other in diagnosis.related:
        if other.finding.entry.code not in explained or other.rule in _FAR:
            continue
        for instance in other.finding.instances:
            for name in _NAMES:
                values = instance.every.get(name, ()) or ((str(instance.scope.device),) if name == "device" and instance.scope.device is not None else ())
                found.setdefault(name, set()).update(value for value in values if told(value))
    made = {name: next(iter(values)) for name, values in found.items() if len(values) == 1}
    if own:
        made.pop("device", None)
    return made
