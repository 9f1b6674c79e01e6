"""Who fell silent: the last progress of each rank in its log (a step line, tokens of a service) against that of the others.

In a job that moves in step all stop soon after the first one, so the order tells more than the silence itself: who is whole steps or
minutes before the others is named; where all stop together, that is said, with the step and the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from doctor.hang.verdict import Kind, Reason, Verdict, ranks_told
from parsers.named import NamedTuple

NOTHING = float("nan")
USUAL = 20  # usual intervals without progress that are a silence
LEAST_S = 60.0  # and at least so long
WITHIN = 3  # usual intervals within which several fell silent at once


class Voice(NamedTuple):
    """Somebody who told of progress again and again."""

    rank: int
    """-1 where it is not told."""
    name: str
    step: int
    """The last one; -1 of a service, which counts none."""
    time: float
    """Of the last progress, in seconds; NaN where the lines carry no time."""
    last: str
    """The same as people write it."""
    every: float
    """Seconds that usually lie between two lines, NaN where that is not told."""
    ended: float
    """The last time in its log, of whatever line."""

    @property
    def patience(self) -> float:
        return max(USUAL * self.every, LEAST_S) if self.every == self.every else LEAST_S * USUAL


def decide(found: Sequence[Voice]) -> Verdict | None:
    """Who was the first, or that all stopped together; nothing where the logs only end."""
    if first := silent(found):
        return _first(first, found)
    return _together(found) if found and len(_standing(found)) == len(found) else None


def silent(found: Sequence[Voice]) -> tuple[Voice, ...]:
    """Those who fell silent before the others did."""
    newest = max((voice.time for voice in found if voice.time == voice.time), default=NOTHING)
    furthest = max((voice.step for voice in found), default=0)
    # Who came as far as the others is not late: the clocks of their nodes are apart.
    late = [voice for voice in found if newest - voice.time > voice.patience and (voice.step < furthest or furthest < 0)]
    if late and len(late) < len(found):
        first = min(voice.time for voice in late)
        return tuple(v for v in late if v.time - first <= WITHIN * (v.every if v.every == v.every else 1.0))
    behind = [voice for voice in found if voice.step < furthest]
    if behind and 2 * len(behind) < len(found) and (_standing(found) or furthest - max(v.step for v in behind) > 1):
        least = min(voice.step for voice in behind)
        return tuple(voice for voice in behind if voice.step == least)
    return ()


def _standing(found: Sequence[Voice]) -> list[Voice]:
    """Whose log goes on without progress."""
    return [voice for voice in found if voice.ended - voice.time > voice.patience]


def _first(silent: Sequence[Voice], found: Sequence[Voice]) -> Verdict:
    others = [voice for voice in found if voice not in silent]
    ranks, rest = _ranks(silent), max(others, key=lambda voice: (voice.time == voice.time, voice.time, voice.step))
    seconds = rest.time - silent[0].time
    values = (
        ("who", _named(silent)), ("step", _number(silent[0].step)), ("last", silent[0].last or "?"), ("count", str(len(others))),
        ("others", _number(rest.step)), ("seconds", f"{seconds:.0f}" if seconds == seconds else "?"),
    )  # fmt: skip
    return Verdict(Kind.SILENT, ranks, _ranks(others), reasons=(Reason("hang.silent", values),))


def _together(found: Sequence[Voice]) -> Verdict:
    last = max(found, key=lambda voice: voice.time)
    seconds = max(voice.ended for voice in found) - last.time
    values = (("count", str(len(found))), ("step", _number(last.step)), ("last", last.last or "?"), ("seconds", f"{seconds:.0f}"))
    return Verdict(Kind.SILENT, reasons=(Reason("hang.all-silent", values),))


def _ranks(found: Iterable[Voice]) -> tuple[int, ...]:
    return tuple(sorted({voice.rank for voice in found if voice.rank >= 0}))


def _named(found: Sequence[Voice]) -> str:
    ranks = _ranks(found)
    return f"rank {ranks_told(ranks)}" if ranks else ", ".join(voice.name for voice in found[:4])


def _number(step: int) -> str:
    return str(step) if step >= 0 else "?"
