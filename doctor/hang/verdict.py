"""What is said of a job that does not move: the verdict, and what speaks for it."""

from __future__ import annotations

from enum import Enum

from doctor.base.notation import spans
from parsers.named import NamedTuple


class Kind(str, Enum):
    """What holds the job up. The first ones are hangs; a job of one of `SLOW` moves on by itself; `NONE` is no hang."""

    AWAY = "away"
    """A rank does not come to the call in which the others wait, and its stack does not say why."""
    DEAD = "dead"
    """A rank has ended, or gives no sign."""
    STOPPED = "stopped"
    """A rank was stopped by a signal."""
    MISMATCH = "mismatch"
    """The ranks do not make the same call."""
    CIRCLE = "circle"
    """Ranks wait for each other in different groups."""
    TRANSPORT = "transport"
    """All have arrived, and the call does not end."""
    DEVICE = "device"
    """A rank has put the call into its stream and the device does not reach it."""
    LOCK = "lock"
    STUCK = "stuck"
    """A rank stands in one line of the program."""
    INPUT = "input"
    SILENT = "silent"
    """By the logs alone: who told of progress for the last time before the others did; without ranks, all at once."""
    STORE = "store"
    """Ranks wait for each other while the group is made."""
    COMPILE = "compile"
    CHECKPOINT = "checkpoint"
    EVALUATION = "evaluation"
    BUSY = "busy"
    """A rank works on, the others wait for it."""
    NONE = "none"
    UNKNOWN = "unknown"


SLOW = frozenset({Kind.COMPILE, Kind.CHECKPOINT, Kind.EVALUATION, Kind.BUSY})
"""The job moves on by itself: no hang."""


class Reason(NamedTuple):
    """One thing that speaks for the verdict: a sentence of the words table and what is filled in."""

    word: str
    values: tuple[tuple[str, str], ...] = ()


class Verdict(NamedTuple):
    """Who holds the job up, where, and why that is believed."""

    kind: Kind
    ranks: tuple[int, ...] = ()
    """Those that hold it up, the first cause first."""
    waiting: tuple[int, ...] = ()
    call: str = ""
    """The call in which the others wait: `all_reduce no. 8 of group 0 (default_pg)`."""
    line: str = ""
    """Where the culprit stands in the program: `train.py:41 step`."""
    other_line: str = ""
    """Where the others stand."""
    reasons: tuple[Reason, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def hung(self) -> bool:
        return self.kind not in SLOW and self.kind not in (Kind.NONE, Kind.UNKNOWN)


NOTHING = Verdict(Kind.UNKNOWN)


def ranks_told(ranks: tuple[int, ...]) -> str:
    """`0-3, 7`; of very many, the first."""
    stretches = spans(ranks).split(", ")
    return ", ".join(stretches if len(stretches) <= 12 else [*stretches[:12], "..."])
