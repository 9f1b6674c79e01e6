"""From sources to a Run: one pass, in memory that is bounded by the number of shapes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import groupby
from typing import BinaryIO

from doctor.base import interrupts
from doctor.baseline.masks import Masks
from doctor.baseline.run import Run, Sighting, Voice
from doctor.baseline.settings import Settings, pairs
from doctor.baseline.shapes import BLANK, FURTHER, Shapes, lines
from doctor.baseline.voices import voices
from doctor.read.encoding import decode
from doctor.read.inflate import at_once
from doctor.read.source import Skipped, Source
from parsers.line import read_line
from parsers.named import NamedTuple
from parsers.parsed import seconds

BLOCK = 1 << 20
LONGEST_LINE = 8 << 20  # bytes without a line end that are taken as one line; more of it are lines of their own
KEEP_TEXT = 600
_LOOK_BACK = 6  # lines in which the time of one that carries none is looked for


class _First(NamedTuple):
    """Where a voice says something first."""

    path: str
    line: int
    text: str
    time: str | None
    at: float
    level: str | None


class _Heard:
    """A shape, as far as voices were heard."""

    __slots__ = ("begin", "count", "first", "most", "most_by", "nodes", "second", "voices")

    def __init__(self, first: _First, begin: float | None) -> None:
        self.count = self.voices = self.nodes = self.most = self.second = 0
        self.most_by = 0
        self.first, self.begin = first, begin

    def with_those_of(self, other: _Heard) -> _Heard:
        """Both as one shape."""
        if _earlier(other.first, other.begin, self):
            self.first, self.begin = other.first, other.begin
        if other.most > self.most:
            self.second, self.most, self.most_by = max(self.most, other.second), other.most, other.most_by
        else:
            self.second = max(self.second, other.most)
        self.count, self.voices, self.nodes = self.count + other.count, self.voices | other.voices, self.nodes | other.nodes
        return self

    def sighting(self) -> Sighting:
        first = self.first
        return Sighting(
            self.count, self.voices, self.nodes, self.most, self.most_by, self.second, first.path, first.line, first.text, first.time,
            _since(first, self.begin), first.at, first.level,
        )  # fmt: skip


def _since(first: _First, begin: float | None) -> float | None:
    return None if first.time is None or begin is None else max(0.0, seconds(first.time) - begin)


def listen(sources: Sequence[Source], shapes: Shapes, keep: Callable[[], Container[str]] = frozenset) -> Run:
    """Everything of all sources. A fault while reading keeps what was read and is named; an interrupt ends it. `keep`: words that are no names."""
    return _Listener(shapes, keep).run(sources)


class _Listener:
    """A run, as far as it was heard."""

    def __init__(self, shapes: Shapes, keep: Callable[[], Container[str]]) -> None:
        self._shapes, self._keep = shapes, keep
        self._heard: dict[int, _Heard] = {}
        self._settings = Settings()
        self._skipped: list[Skipped] = []
        self._lines = self._size = self._further = self._files = 0

    def run(self, sources: Sequence[Source]) -> Run:
        whose = voices(sources)
        nodes = tuple(sorted({v.node for v in whose}))
        masks = Masks(frozenset(nodes))
        self._shapes.listen(masks)
        rows = sorted(zip(whose, range(len(sources)), sources, strict=True), key=lambda row: row[:2])
        found: list[Voice] = []
        try:
            for voice, of_voice in groupby(rows, key=lambda row: row[0]):
                found.append(self._voice(voice, [s for _, _, s in of_voice], len(found), nodes.index(voice.node)))
        except KeyboardInterrupt:
            interrupts.acted()
            self._skipped.append(Skipped("...", "interrupted: what follows was not read"))
        often = {number: heard.most > 3 for number, heard in self._heard.items()}
        constant = {name: _hidden(name, value, masks) for name, value in self._settings.constant(often).items()}
        nameless = masks.told(self._keep)
        constant = {name: nameless(value) for name, value in constant.items() if nameless(name) == name}  # `HOST:/share` is no setting
        self._rename(nameless)
        sightings = {number: heard.sighting() for number, heard in self._heard.items()}
        return Run(sightings, tuple(found), nodes, constant, self._files, self._lines, self._size, self._further, tuple(self._skipped))

    def _rename(self, nameless: Callable[[str], str]) -> None:
        """A name that one line told may stand bare in another: shapes that differ in such names are one."""
        for number in list(self._heard):
            shape = self._shapes.texts[number]
            if (told := nameless(shape)) != shape:
                known = self._shapes.known(told)
                if known not in (number, FURTHER):
                    heard = self._heard.pop(number)
                    self._heard[known] = self._heard[known].with_those_of(heard) if known in self._heard else heard

    def _voice(self, voice: Voice, sources: Iterable[Source], number: int, node: int) -> Voice:
        counts: Counter[int] = Counter()
        firsts: dict[int, _First] = {}
        times: list[str] = []
        for source in sources:
            self._source(source, counts, firsts, times)
        begin = seconds(min(times)) if times else None
        for shape, count in counts.items():
            heard = self._heard.get(shape)
            if heard is None:
                heard = self._heard[shape] = _Heard(firsts[shape], begin)
            elif _earlier(firsts[shape], begin, heard):
                heard.first, heard.begin = firsts[shape], begin
            heard.count += count
            heard.voices |= 1 << number
            heard.nodes |= 1 << node
            if count > heard.most:
                heard.second, heard.most, heard.most_by = heard.most, count, number
            elif count > heard.second:
                heard.second = count
        return voice._replace(begin=begin, end=seconds(max(times)) if times else None)

    def _source(self, source: Source, counts: Counter[int], firsts: dict[int, _First], times: list[str]) -> None:
        read = 0
        mine: dict[int, _First] = {}
        last: list[bytes] = []
        try:
            with source.open() as stream:
                for block in _blocks(stream):
                    interrupts.check()
                    self._size += len(block)
                    numbers = self._shapes.of(block)
                    here = Counter(numbers)
                    self._further += here.pop(FURTHER, 0)
                    here.pop(BLANK, None)
                    new = here.keys() - mine.keys()
                    raws = lines(block) if new else []
                    moments: dict[int, str | None] = {}
                    for shape in new:
                        mine[shape] = self._first(source, numbers.index(shape), read, raws, shape, moments)
                    counts.update(here)
                    last = block[-4096:].splitlines()
                    read += len(numbers) - 1
        except OSError as error:
            self._skipped.append(Skipped(source.name, f"reading stopped after {self._size} bytes: {error.strerror or error}"))
        self._files += 1
        self._lines += read
        times += [one.time for one in mine.values() if one.time]
        times += [time for raw in last[-_LOOK_BACK:] if (time := read_line(decode(raw[:2000])).time)]
        for shape, first in mine.items():
            if shape not in firsts:
                firsts[shape] = first._replace(at=first.line / max(1, read))

    def _first(self, source: Source, at: int, before: int, raws: Sequence[bytes], shape: int, moments: dict[int, str | None]) -> _First:
        """Read because it is the first line of its shape in a source; `moments`: when lines of the block were told, as far as they were looked at."""
        line = read_line(decode(raws[at][:60_000]))
        time = moments[at] = line.time
        for before_it in range(at - 1, max(0, at - _LOOK_BACK) - 1, -1):
            if time is not None:
                break
            if before_it not in moments:
                moments[before_it] = read_line(decode(raws[before_it][:2000])).time
            time = moments[before_it]
        self._settings.hear(pairs(line.text), shape)
        return _First(source.name, before + at + 1, line.text[:KEEP_TEXT], time, 0.0, line.level)


def _hidden(name: str, value: str, masks: Masks) -> str:
    """The value of a setting without what identifies: its name may tell what it is."""
    head = f"{name}="
    told = masks.hidden(head + value)
    return told[len(head) :] if told.startswith(head) else "<secret>"


def _earlier(one: _First, begin: float | None, other: _Heard) -> bool:
    """By the time since the beginning of its voice; where one of them tells no time, by the part of the file before it."""
    mine, theirs = _since(one, begin), _since(other.first, other.begin)
    return mine < theirs if mine is not None and theirs is not None else one.at < other.first.at


def _blocks(stream: BinaryIO) -> Iterator[bytes]:
    """The stream in blocks of whole lines, each with the end of its last line."""
    read, rest = at_once(stream), b""
    while True:
        interrupts.check()
        pieces = [rest]
        size = 0
        while size < BLOCK and (piece := read(BLOCK - size)):
            pieces.append(piece)
            size += len(piece)
        data = b"".join(pieces)
        if not size:
            if data:
                yield data + b"\n"
            return
        end = data.rfind(b"\n") + 1
        if not end and len(data) >= LONGEST_LINE:
            yield data + b"\n"
            rest = b""
        elif end:
            yield data[:end]
            rest = data[end:]
        else:
            rest = data
