"""The last progress of each lane, for whoever asks who fell silent."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from doctor.hang.silence import Voice
from doctor.pace import stamps
from doctor.pace.reading import Key, Read
from doctor.pace.robust import median
from doctor.pace.tracks import NOTHING, Lane, Track

FEW = 3  # lines of progress that make a habit


def voices(read: Read, ends: Mapping[Lane, float]) -> tuple[Voice, ...]:
    """The progress of each lane, by the form that most lanes tell it in."""
    found: dict[str, list[Voice]] = {}
    newest = max((end for end in ends.values() if end == end), default=NOTHING)  # for those whose lines stand in a log of several
    for key, track in read.tracks.items():
        about = read.abouts.get(key.form)
        if about in ("step", "rate") and (voice := _voice(key, track, ends.get(key.lane, newest), about == "rate")) is not None:
            found.setdefault(key.form, []).append(voice)
    return tuple(found[max(found, key=lambda form: len(found[form]))]) if found else ()


def _voice(key: Key, track: Track, ended: float, service: bool) -> Voice | None:
    at = [n for n in range(len(track.steps)) if not service or _served(track, n)]
    if len(at) < FEW:
        return None
    gaps = [b - a for a, b in itertools.pairwise(track.times) if b > a]
    return Voice(
        key.lane.rank, key.lane.name, -1 if service else track.steps[at[-1]], track.times[at[-1]], stamps.told(track.times[at[-1]]),
        median(gaps) if gaps else NOTHING, ended,
    )  # fmt: skip


def _served(track: Track, at: int) -> bool:
    """Did a service make tokens then, or have nothing to do? Only who has requests and makes nothing stands still."""
    running = track.columns.get("running")
    made = track.columns.get("generated_tokens_per_s")
    return made is None or running is None or made[at] != 0 or not running[at] > 0
