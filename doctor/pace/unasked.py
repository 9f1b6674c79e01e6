"""Who fell silent, beside a scan that nobody asked for it: only of several logs, for which alone the reader of progress is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from doctor.judge.diagnosis import Diagnosis
    from doctor.read.source import Source
    from kb.knowledge import Knowledge


def heard(diagnosis: Diagnosis, sources: Sequence[Source], known: Knowledge) -> Diagnosis:
    """The diagnosis, with that finding where it names no cause."""
    if len(sources) < 2:
        return diagnosis
    from doctor.pace import quiet

    return quiet.heard(diagnosis, sources, known)
