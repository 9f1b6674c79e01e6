"""Who fell silent among several logs, said beside a diagnosis that knows no cause."""

from __future__ import annotations

import contextlib
import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from itertools import islice, pairwise
from typing import TYPE_CHECKING, BinaryIO

from doctor.hang.silence import Voice, decide, silent
from doctor.hang.verdict import Verdict
from doctor.pace import stamps
from doctor.pace.progress import voices
from doctor.pace.reading import MAX_LINE, Read, Reader, lane_of, tail
from doctor.pace.robust import median
from doctor.pace.tracks import Lane, Track
from doctor.pace.wordings import Wording, wordings
from doctor.read.dumps import VERDICT
from doctor.read.encoding import decode
from doctor.read.source import Source
from doctor.scan.harvest import Dump, Harvest
from kb.knowledge import Knowledge

if TYPE_CHECKING:
    from doctor.judge.diagnosis import Diagnosis

MAX_LOGS = 4096
LOOKED_BACK = 4 << 20
"""Bytes of the end of a log in which progress is looked for."""
GLANCE = 1 << 18
"""The same, where nobody asked for it."""
LAST_LINES = 1 << 14
"""Bytes that hold the last time of a log; a glance needs no more, where progress stands in them often enough."""
OFTEN = 8
SHOWN = 300
STRIDES = 3
"""Steps that are told, by which ranks that move together may be apart."""


def silence(sources: Iterable[Source], known: Callable[[], Knowledge]) -> Verdict | None:
    """Who told of progress last, by the ends of the logs; without a log nothing need be known."""
    logs = _logs(sources)
    return decide(_heard(logs, _progress(known()), LOOKED_BACK)[1]) if logs else None


def heard(diagnosis: Diagnosis, sources: Iterable[Source], known: Knowledge) -> Diagnosis:
    """The same; where it names no cause, and ranks moved together until one of them fell silent, that is a finding as well."""
    logs = _logs(sources)
    if len(logs) < 2 or diagnosis.harvest.dumps or _is_explained(diagnosis):
        return diagnosis
    forms = _progress(known)
    if not silent(_heard(logs, forms, GLANCE)[1]):
        return diagnosis
    read, found = _heard(logs, forms, LOOKED_BACK)
    first = silent(found)
    verdict = decide(found)
    if not first or verdict is None or not _moved_together(read, first[0], [voice for voice in found if voice not in first]):
        return diagnosis
    from doctor.judge.diagnosis import conclude

    source, line, text = _last(logs, first[0], forms)
    told = {
        "kind": verdict.kind.value, "call": "", "line": "", "other_line": "", "ranks": verdict.ranks, "waiting": verdict.waiting,
        "silence": dict(verdict.reasons[0].values), "at": line, "text": text,
    }  # fmt: skip
    made = Dump(VERDICT, source.name, source.hints.node, next(iter(verdict.ranks), None), None, json.dumps(told))
    return conclude((diagnosis.harvest, Harvest(dumps=(made,))), known, diagnosis.seconds)


def _progress(known: Knowledge) -> tuple[Wording, ...]:
    """The wordings of progress; others say nothing of silence."""
    return wordings(form for form in known.pace() if form.about in ("step", "rate"))


def _logs(sources: Iterable[Source]) -> list[Source]:
    return list(islice((source for source in sources if not source.dump and not source.once), MAX_LOGS))


def _is_explained(diagnosis: Diagnosis) -> bool:
    """Is there a cause, or a line that nobody knows and that decides?"""
    return diagnosis.decisive is not None or any(r.finding.entry.role != "symptom" and r.finding.entry.severity in ("fatal", "error") for r in diagnosis.roots)


def _heard(logs: Sequence[Source], forms: Sequence[Wording], back: int) -> tuple[Read, tuple[Voice, ...]]:
    """What the ends of the logs tell of progress."""
    reader, ends = Reader(forms), dict[Lane, float]()
    for source in logs:
        with contextlib.suppress(OSError), source.open() as stream:
            end = tail(stream, back)
            if not any(form.near in end for form in forms):
                continue
            last_lines = end[-LAST_LINES:]
            enough = back == GLANCE and any(last_lines.count(form.near) >= OFTEN for form in forms)
            reader.fold(source, BytesIO(last_lines[last_lines.find(b"\n") + 1 :] if enough else end))
            last = stamps.latest(last_lines)
            ends[lane_of(source)] = last if last == last else ends.get(lane_of(source), last)
    return reader.made, voices(reader.made, ends)


def _moved_together(read: Read, first: Voice, others: Sequence[Voice]) -> bool:
    """Were most of the others at about the same step when it fell silent? Logs of several jobs, or of several attempts, were not."""
    beside = [track for voice in others if (track := _track(read, voice)) is not None]
    if first.step < 0 or first.time != first.time:
        return False
    near = 0
    for track in beside:
        at = bisect_right(track.times, first.time) - 1
        stride = median([float(b - a) for a, b in pairwise(track.steps) if b > a])
        near += at >= 0 and abs(track.steps[at] - first.step) <= STRIDES * stride
    return 2 * near > len(beside)


def _track(read: Read, voice: Voice) -> Track | None:
    """Where a voice was heard."""
    return next((t for key, t in read.tracks.items() if (key.lane.rank, key.lane.name) == (voice.rank, voice.name) and t.steps and t.times[-1] == voice.time), None)


def _last(logs: Sequence[Source], voice: Voice, forms: Sequence[Wording]) -> tuple[Source, int, str]:
    """The log of a voice, and the line of its last progress in it; of one that writes into a log with others, the first log and line."""
    for source in logs:
        lane = lane_of(source)
        if (lane.rank, lane.name) != (voice.rank, voice.name):
            continue
        found, text = 1, b""
        nears = [(form.near, form.pattern) for form in forms if form.form.about == "step"]
        with contextlib.suppress(OSError), source.open() as stream:
            for number, line in enumerate(_lines(stream), 1):
                if any(near in line and pattern.search(line) for near, pattern in nears):
                    found, text = number, line
        return source, found, decode(text.strip()[:SHOWN])
    return logs[0], 1, ""


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    """The lines of a stream; of one that is too long its beginning."""
    whole = True
    while piece := stream.readline(MAX_LINE):
        if whole:
            yield piece
        whole = piece.endswith(b"\n")
