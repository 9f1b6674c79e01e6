"""Who fell silent: the last progress of each rank in its log (a step line, tokens of a service) against that of the others.

In a job that moves in step all stop soon after the first one, so the order tells more than the silence itself: who is whole steps or
minutes before the others is named; where all stop together, that is said, with the step and the time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from doctor.hang.verdict import Kind, Reason, Verdict, ranks_told
from doctor.pace.reading import Key, Read
from doctor.pace.robust import median
from doctor.pace.stamps import told
from doctor.pace.tracks import NOTHING, Lane, Track

FEW = 3  # lines of progress that make a habit
USUAL = 20  # usual intervals without progress that are a silence
LEAST_S = 60.0  # and at least so long
WITHIN = 3  # usual intervals within which several fell silent at once


class Voice(NamedTuple):
    """Somebody who told of progress again and again."""

    lane: Lane
    form: str
    step: int
    time: float
    """Of the last progress, NaN where the lines carry no time."""
    every: float
    """Seconds that usually lie between two lines, NaN where that is not told."""
    ended: float
    """The last time in its log, of whatever line."""

    @property
    def patience(self) -> float:
        return max(USUAL * self.every, LEAST_S) if self.every == self.every else LEAST_S * USUAL


def voices(read: Read, ends: Mapping[Lane, float]) -> tuple[Voice, ...]:
    """The progress of each lane, by the form that most lanes tell it in."""
    found: dict[str, list[Voice]] = {}
    newest = max((end for end in ends.values() if end == end), default=NOTHING)  # for those whose lines stand in a log of several
    for key, track in read.tracks.items():
        about = read.abouts.get(key.form)
        if about in ("step", "rate") and (voice := _voice(key, track, ends.get(key.lane, newest), about == "rate")) is not None:
            found.setdefault(key.form, []).append(voice)
    return tuple(max(found.values(), key=lambda one: len(one))) if found else ()


def _voice(key: Key, track: Track, ended: float, service: bool) -> Voice | None:
    at = [n for n in range(len(track.steps)) if not service or _served(track, n)]
    if len(at) < FEW:
        return None
    gaps = [b - a for a, b in itertools.pairwise(track.times) if b > a]
    return Voice(key.lane, key.form, -1 if service else track.steps[at[-1]], track.times[at[-1]], median(gaps) if gaps else NOTHING, ended)


def _served(track: Track, at: int) -> bool:
    """Did a service make tokens then, or have nothing to do? Only who has requests and makes nothing stands still."""
    running = track.columns.get("running")
    made = track.columns.get("generated_tokens_per_s")
    return made is None or running is None or made[at] != 0 or not running[at] > 0


def decide(found: Sequence[Voice]) -> Verdict | None:
    """Who was the first, or that all stopped together; nothing where the logs only end."""
    if not found:
        return None
    newest = max((voice.time for voice in found if voice.time == voice.time), default=NOTHING)
    late = [voice for voice in found if newest - voice.time > voice.patience]
    if late and len(late) < len(found):
        first = min(voice.time for voice in late)
        return _first([v for v in late if v.time - first <= WITHIN * (v.every if v.every == v.every else 1.0)], found)
    standing = [voice for voice in found if voice.ended - voice.time > voice.patience]
    furthest = max(voice.step for voice in found)
    behind = [voice for voice in found if voice.step < furthest]
    if behind and 2 * len(behind) < len(found) and (standing or furthest - max(v.step for v in behind) > 1):
        least = min(voice.step for voice in behind)
        return _first([voice for voice in behind if voice.step == least], found)
    if len(standing) == len(found):
        return _together(found)
    return None


def _first(silent: Sequence[Voice], found: Sequence[Voice]) -> Verdict:
    others = [voice for voice in found if voice not in silent]
    ranks, rest = _ranks(silent), max(others, key=lambda voice: (voice.time == voice.time, voice.time, voice.step))
    seconds = rest.time - silent[0].time
    values = (
        ("who", _named(silent)), ("step", _number(silent[0].step)), ("last", told(silent[0].time) or "?"), ("count", str(len(others))),
        ("others", _number(rest.step)), ("seconds", f"{seconds:.0f}" if seconds == seconds else "?"),
    )  # fmt: skip
    return Verdict(Kind.SILENT, ranks, _ranks(others), reasons=(Reason("hang.silent", values),))


def _together(found: Sequence[Voice]) -> Verdict:
    last = max(found, key=lambda voice: voice.time)
    seconds = max(voice.ended for voice in found) - last.time
    values = (("count", str(len(found))), ("step", _number(last.step)), ("last", told(last.time) or "?"), ("seconds", f"{seconds:.0f}"))
    return Verdict(Kind.SILENT, reasons=(Reason("hang.all-silent", values),))


def _ranks(found: Iterable[Voice]) -> tuple[int, ...]:
    return tuple(sorted({voice.lane.rank for voice in found if voice.lane.rank >= 0}))


def _named(found: Sequence[Voice]) -> str:
    ranks = _ranks(found)
    return f"rank {ranks_told(ranks)}" if ranks else ", ".join(voice.lane.name for voice in found[:4])


def _number(step: int) -> str:
    return str(step) if step >= 0 else "?"
