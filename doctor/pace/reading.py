"""From bytes of logs to tracks and events, in one pass: most lines of a run are alike, and are read many at once.

Of a block the lines of the form that this source writes most are found by one pattern; what remains is looked through for
the other forms, line by line, each in the light of the step that stood before it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from io import SEEK_END, FileIO
from itertools import accumulate
from typing import BinaryIO

from doctor.pace import stamps
from doctor.pace.tracks import LARGEST, MAX_POINTS, NOTHING, Lane, Track, sound
from doctor.pace.wordings import Wording
from doctor.read.source import Skipped, Source
from parsers.named import NamedTuple
from parsers.prefix import peel

BLOCK = 1 << 20
LOOKED_AT, ENDS = 1 << 16, 1 << 11  # bytes of a block that tell its main form; of its beginning and end
MAX_LINE = 1 << 16
MAX_TRACKS = 20_000
MAX_ALL, LEAST_POINTS = 12_000_000, 512  # points of all tracks together; what each of them keeps whatever there is
MAX_DIGITS = 15  # of a step; a longer one is none
MAX_EVENTS = 20_000
MAX_TEXT = 160
SAMPLE = 4096  # bytes before an event in which its time may stand
BUSY, RATED = 50, 0.9  # a chip that works at less than this share of its clock is throttled

_FILES = re.compile(r"(?:^|/)(?:worker[_-](\d{1,6})\.log|attempt_\d+/(\d{1,6})/std(?:out|err)\.log)$")
_MARKS = (b"[rank", b"[Rank ", b"pid=", b"]<std", b"(Worker")


class Key(NamedTuple):
    """What makes a track: who, by which form, out of how many (of progress bars)."""

    lane: Lane
    form: str
    of: str


@dataclass(slots=True)
class Event:
    """Something that is no step: a pause, a recompilation, a fault of a link; several of one kind in a step are one."""

    about: str
    kind: str
    lane: Lane
    step: int
    time: float
    path: str
    text: str
    count: int = 1
    seconds: float = 0.0


@dataclass(slots=True)
class Read:
    """All that was read."""

    tracks: dict[Key, Track] = field(default_factory=dict)
    abouts: dict[str, str] = field(default_factory=dict)
    events: dict[tuple[str, str, Lane, int], Event] = field(default_factory=dict)
    settings: dict[str, dict[str, None]] = field(default_factory=dict)  # the values that each has, in order
    results: dict[str, list[float]] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    files: int = 0
    bytes: int = 0
    left_out: int = 0  # tracks and events beyond their bounds


@dataclass(slots=True)
class _Here:
    """Where the reading of one source stands."""

    path: str
    lane: Lane
    main: Wording | None = None
    section: bytes = b""
    steps: dict[Lane, int] = field(default_factory=dict)
    times: dict[Lane, float] = field(default_factory=dict)


class Reader:
    """Folds sources into a Read."""

    def __init__(self, wordings: Iterable[Wording]) -> None:
        self.wordings = tuple(wordings)
        self.made = Read(abouts={w.form.id: w.form.about for w in self.wordings})
        self._limit, self._read = MAX_POINTS, 0

    def read(self, source: Source) -> None:
        """All of a source."""
        try:
            with source.open() as stream:
                self.fold(source, stream)
        except OSError as error:
            self.made.skipped.append(Skipped(source.name, error.strerror or str(error)))

    def fold(self, source: Source, stream: BinaryIO) -> None:
        """What was read of a source."""
        here = _Here(source.name, lane_of(source))
        self.made.files += 1
        for block in _blocks(stream):
            self.made.bytes += len(block)
            self._block(here, block)
            self._bounded()

    def _bounded(self) -> None:
        """All tracks together take no more than so much: else each becomes coarser."""
        if self._read <= MAX_ALL:
            return
        points = sum(len(track.steps) for track in self.made.tracks.values())
        while points > MAX_ALL and self._limit > LEAST_POINTS:
            self._limit //= 2
            for track in self.made.tracks.values():
                track.limit = self._limit
                track.fit()
            points = sum(len(track.steps) for track in self.made.tracks.values())
        self._read = points

    def _block(self, here: _Here, block: bytes) -> None:
        if b"\r" in block:
            block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        main = here.main
        if main is None or main.near not in block:
            main = here.main = self._main(block)
        if main is None:
            self._slowly(here, block)
            return
        if any(mark in end for end in (block[:ENDS], block[-ENDS:]) for mark in _MARKS):  # from here on lines tell their rank
            self._slowly(here, block)
            return
        rows, stamped = _many(main, block)
        lines = block.count(b"\n")
        if len(rows) != (block.count(main.near) or lines) or _too_long(main, rows, stamped):
            self._slowly(here, block)
            return
        self._read += len(rows)
        steps, times = self._add_rows(here, main, rows, stamped)
        if lines != len(rows):
            self._rest(here, block, main, steps, times)
        here.steps[here.lane], here.times[here.lane] = steps[-1], times[-1]

    def _main(self, block: bytes) -> Wording | None:
        """The form that can be read many lines at once and has most of this block; none where lines tell their rank themselves."""
        block = block[:LOOKED_AT]
        if any(mark in block for mark in _MARKS):
            return None
        found = [(block.count(w.near), w) for w in self.wordings if w.bare is not None and w.near in block]
        best = max(found, key=lambda pair: pair[0], default=None)
        return best[1] if best is not None and best[1].bare is not None and best[1].bare.search(block) else None

    def _add_rows(self, here: _Here, main: Wording, rows: list[tuple[bytes, ...]], stamped: bool) -> tuple[list[int], list[float]]:
        columns: list[tuple[bytes, ...]] = list(zip(*rows, strict=True))
        skip = 2 if stamped else 0
        times = stamps.seconds(columns[0], columns[1]) if stamped else [NOTHING] * len(rows)
        track = self._track(Key(here.lane, main.form.id, ""))
        if "step" in main.places:
            steps = list(map(int, columns[main.places["step"] - 1 + skip]))
        else:
            begin = track.count if track is not None else 0
            steps = list(range(begin + 1, begin + 1 + len(rows)))
        if track is not None:
            told = [(c, columns[c.at - 1 + skip]) for c in main.columns]
            track.add(steps, times, {c.measure: _values(column, c.read, c.scale) for c, column in told if any(column)})
        return steps, times

    def _rest(self, here: _Here, block: bytes, main: Wording, steps: list[int], times: list[float]) -> None:
        """The lines that are not of the main form, each with the step that stands before it."""
        lines = block.split(b"\n")[1:]
        others = [(number, line) for number, line in enumerate(lines) if main.near not in line]
        before = [number - found for found, (number, _) in enumerate(others)]
        text = b"\n" + b"\n".join(line for _, line in others)
        ends = list(accumulate(len(line) + 1 for _, line in others))
        first = here.steps.get(here.lane, 0), here.times.get(here.lane, NOTHING)
        for at, other, found in self._found(text, main):
            number = before[min(bisect_right(ends, at), len(before) - 1)]
            here.steps[here.lane], here.times[here.lane] = (steps[number - 1], times[number - 1]) if number else first
            self._one(here, other, found, text)

    def _slowly(self, here: _Here, block: bytes) -> None:
        for _, wording, found in self._found(block, None):
            self._one(here, wording, found, block)

    def _found(self, text: bytes, but: Wording | None) -> list[tuple[int, Wording, re.Match[bytes]]]:
        hits = [(found.start(), w, found) for w in self.wordings if w is not but and w.near in text for found in w.pattern.finditer(text)]
        hits.sort(key=lambda hit: hit[0])
        return hits

    def _one(self, here: _Here, wording: Wording, found: re.Match[bytes], text: bytes) -> None:
        """One match, whatever it is about."""
        about = wording.form.about
        if about == "members":
            self._member(here, wording, found)
        elif about == "setting":
            self._setting(wording, found)
        elif about == "result":
            for column in wording.columns:
                if told := found[column.at]:
                    self.made.results.setdefault(column.measure, []).extend(v for v in sound([column.read(told) * column.scale]) if v == v)
        else:
            self._line(here, wording, found, text)

    def _line(self, here: _Here, wording: Wording, found: re.Match[bytes], text: bytes) -> None:
        """A line that somebody wrote at some time: what its head says counts."""
        begin = text.rfind(b"\n", 0, found.start() + 1) + 1
        head = text[begin : max(found.start(), begin)][-2000:]
        lane, time = _head(here, wording, found, head)
        about, step = wording.form.about, _group(wording, found, "step")
        self._read += 1
        if step is not None and len(step) > MAX_DIGITS:
            return
        if time != time and about in ("pause", "event", "parts"):
            time = here.times.get(lane, NOTHING)
            if time != time and about == "event":  # samples of a tool stand beneath the date of their taking
                time = stamps.latest(text[max(0, found.start() - SAMPLE) : found.end()])
        if about in ("pause", "event"):
            self._event(here, wording, found, lane, int(step) if step else here.steps.get(lane, here.steps.get(here.lane, 0)), time, text)
            return
        told = _told(wording, found)
        if about == "parts":
            number = here.steps.get(lane, here.steps.get(here.lane, 0))
            if told:
                self._put(Key(lane, wording.form.id, ""), number, time, told)
            return
        track = self._track(Key(lane, wording.form.id, (_group(wording, found, "of") or b"").decode()))
        if track is None:
            return
        number = int(step) if step else track.count + 1
        if not (track.steps and track.steps[-1] == number and "of" in wording.places):  # a bar is drawn again and again
            track.add([number], [time], {name: [value] for name, value in told.items()})
        here.steps[lane], here.times[lane] = number, time

    def _member(self, here: _Here, wording: Wording, found: re.Match[bytes]) -> None:
        """`forward-compute:` and the ranks beneath it."""
        if (name := _group(wording, found, "name")) is not None:
            here.section = name
            return
        measure = wording.names.get(here.section)
        self._read += 1
        rank, value = _group(wording, found, "rank"), _group(wording, found, "value")
        if measure is not None and rank is not None and value is not None and len(rank) <= MAX_DIGITS:
            lane = Lane(here.lane.node, int(rank), "")
            step = here.steps.get(here.lane, 0) or max(here.steps.values(), default=0)
            self._put(Key(lane, wording.form.id, ""), step, here.times.get(here.lane, NOTHING), {measure: float(value) * wording.scale})

    def _put(self, key: Key, step: int, time: float, told: dict[str, float]) -> None:
        """Parts of a step: those of the same step are added up."""
        track = self._track(key)
        if track is None:
            return
        if track.steps and track.steps[-1] == step:
            for name, value in told.items():
                track.put(name, value)
        else:
            track.add([step], [time], {name: [value] for name, value in told.items()})

    def _event(self, here: _Here, wording: Wording, found: re.Match[bytes], lane: Lane, step: int, time: float, text: bytes) -> None:
        form = wording.form
        if form.kind == "throttle" and not _throttled(wording, found):
            return
        seconds = sum(_told(wording, found).values())
        key = (form.about, form.kind, lane, step)
        if (known := self.made.events.get(key)) is not None:
            known.count += 1
            known.seconds += seconds
        elif len(self.made.events) >= MAX_EVENTS:
            self.made.left_out += 1
        else:
            end = text.find(b"\n", found.end())
            shown = text[found.start() : end if end >= 0 else None].strip().decode("utf-8", "replace")[:MAX_TEXT]
            self.made.events[key] = Event(form.about, form.kind, lane, step, time, here.path, " ".join(shown.split()), 1, seconds)

    def _setting(self, wording: Wording, found: re.Match[bytes]) -> None:
        pairs = [(_group(wording, found, "name"), _group(wording, found, "value"))]
        if wording.part is not None:
            pairs = [(one[1], one[2]) for one in wording.part.finditer(_group(wording, found, "parts") or b"")]
        for name, value in pairs:
            if name and value:
                self.made.settings.setdefault(name.decode("utf-8", "replace"), {})[value.decode("utf-8", "replace").strip("'\"")] = None

    def _track(self, key: Key) -> Track | None:
        track = self.made.tracks.get(key)
        if track is None:
            if len(self.made.tracks) >= MAX_TRACKS:
                self.made.left_out += 1
                return None
            track = self.made.tracks[key] = Track(self._limit)
        return track


def _many(main: Wording, block: bytes) -> tuple[list[tuple[bytes, ...]], bool]:
    """All lines of the form at once, with their times when they carry any."""
    assert main.stamped is not None
    assert main.bare is not None
    stamped = main.stamped.search(block[: 1 << 14]) is not None
    found = (main.stamped if stamped else main.bare).findall(block)
    return ([(one,) for one in found] if found and isinstance(found[0], bytes) else found), stamped


def _too_long(main: Wording, rows: list[tuple[bytes, ...]], stamped: bool) -> bool:
    """Is one of the steps no number that a step can have?"""
    at = main.places.get("step")
    return at is not None and max(len(row[at - 1 + 2 * stamped]) for row in rows) > MAX_DIGITS


def _values(column: Iterable[bytes], read: object, scale: float) -> list[float]:
    scale = scale or 1.0
    try:
        if read is stamps.clock:
            return [stamps.clock(one) for one in column]
        found = map(float, column)
        return list(found) if scale == 1.0 else [value * scale for value in found]
    except ValueError:
        return [float(one.replace(b",", b"")) * scale if one else NOTHING for one in column]


def _told(wording: Wording, found: re.Match[bytes]) -> dict[str, float]:
    """Measures of a match: its groups, and the list of names and times when it has one."""
    told = {c.measure: c.read(found[c.at]) * (c.scale or 1.0) for c in wording.columns if found[c.at]}
    if wording.part is not None:
        for name, value in wording.part.findall(_group(wording, found, "parts") or b""):
            if (measure := wording.names.get(name)) is not None:
                told[measure] = told.get(measure, 0.0) + float(value) * wording.scale
    elif (name := _group(wording, found, "name")) is not None and (measure := wording.names.get(name)) is not None:
        peak, low = _group(wording, found, "peak"), _group(wording, found, "low")
        told[measure] = float(peak or _group(wording, found, "value") or b"nan") * wording.scale
        if peak and low:
            told[f"spread:{measure}"] = (float(peak) - float(low)) * wording.scale
    return {measure: value for measure, value in told.items() if abs(value) < LARGEST}


def _throttled(wording: Wording, found: re.Match[bytes]) -> bool:
    busy, peak, low = (float(_group(wording, found, name) or b"0") for name in ("value", "peak", "low"))
    return busy >= BUSY and low < RATED * peak


def _group(wording: Wording, found: re.Match[bytes], name: str) -> bytes | None:
    at = wording.places.get(name)
    return found[at] if at is not None else None


def _head(here: _Here, wording: Wording, found: re.Match[bytes], head: bytes) -> tuple[Lane, float]:
    """Whose line it is, and of when."""
    time = NOTHING
    if (stamp := stamps.HEAD.search(head)) is not None:
        time = stamps.seconds([stamp[1]], [stamp[2]])[0]
    lane = here.lane
    said = _group(wording, found, "rank")
    if said is not None:
        return Lane(lane.node, -1, f"engine {int(said)}"), time
    if head.strip() and any(mark in head for mark in _MARKS):
        peeled = peel(head.decode("utf-8", "replace") + "x")
        if peeled.rank is not None:
            lane = Lane(lane.node, peeled.rank, "")
        elif peeled.worker and lane.rank < 0:
            lane = Lane(lane.node, -1, peeled.worker if not peeled.pid else f"{peeled.worker.split(' ')[0]} {peeled.pid}")
    return lane, time


def lane_of(source: Source) -> Lane:
    """Who writes into this file, as its path tells."""
    hints = source.hints
    rank = hints.rank
    if rank is None and (found := _FILES.search(source.name)) is not None:
        rank = int(found[1] or found[2])
    return Lane(hints.node or "", -1 if rank is None else rank, source.name if rank is None else "")


def tail(stream: BinaryIO, size: int) -> bytes:
    """The last bytes of a stream, of which no more is kept."""
    if isinstance(getattr(stream, "raw", stream), FileIO):  # of a plain file what stands before them need not be read
        stream.seek(max(0, stream.seek(0, SEEK_END) - size))
    kept = b""
    while piece := stream.read(1 << 22):
        kept = (kept + piece)[-size:]
    return kept


def _blocks(stream: BinaryIO) -> Iterator[bytes]:
    """Whole lines in blocks of about a mebibyte, each with a line end in front; a line without an end is cut, never kept."""
    rest = b""
    while block := stream.read(BLOCK):
        end = max(block.rfind(b"\n"), block.rfind(b"\r")) + 1
        if not end:
            rest = (rest + block)[:MAX_LINE]
            continue
        yield b"\n" + rest + block[: end - 1]
        rest = block[end:]
    if rest:
        yield b"\n" + rest
