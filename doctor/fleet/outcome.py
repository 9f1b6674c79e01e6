"""How it went with each target: in one of six ways, never in silence."""

from __future__ import annotations

from parsers.named import NamedTuple

SCANNED = "scanned"
PARTIAL = "partial"  # it answered, and not all of it could be read
FAILED = "failed"  # it was reached, and no answer came of it
TIMED_OUT = "timed out"
UNREACHABLE = "unreachable"
REFUSED = "refused"  # somebody said no: the node, the scheduler, or an option of this call
STATES = (SCANNED, PARTIAL, FAILED, TIMED_OUT, UNREACHABLE, REFUSED)


class Outcome(NamedTuple):
    """What came of one target. `answer`: what it sent, unpacked; empty when nothing usable came."""

    state: str
    reason: str = ""
    answer: bytes = b""
    seconds: float = 0.0
    received: int = 0  # bytes that came over the line
    sent: int = 0

    @property
    def answered(self) -> bool:
        return self.state in (SCANNED, PARTIAL)
