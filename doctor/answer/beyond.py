"""What no entry can say: which of the reader's own settings a failure belongs to, or a sum over their model and their cards."""

from __future__ import annotations

from collections.abc import Sequence

from doctor.findings.evaluate import Finding
from doctor.findings.situation import Situation
from kb.model import Fix


def worked_out(finding: Finding, way: str, situation: Situation, fitting: Sequence[Fix]) -> Fix | None:
    """The one fix that follows from what the logs tell; `way` names what code of a serving engine the exception passed."""
    from doctor.answer.features import feature

    off = feature(finding, way, situation, fitting)
    if off is not None or finding.entry.kind != "out-of-memory" or finding.entry.role == "symptom":
        return off
    from doctor.answer.states import for_states
    from doctor.answer.weights import for_weights

    return for_weights(finding, situation) or for_states(finding, situation)
