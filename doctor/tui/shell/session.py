"""What is being looked at: knowledge, sources, language, filters, the last report. Usable without any terminal."""

from __future__ import annotations

import shlex
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from doctor.base.notation import clean
from doctor.read.source import Skipped
from doctor.scan.harvest import Harvest
from doctor.scan.select import EVERYTHING, Select
from kb.knowledge import Knowledge, load
from parsers.named import NamedTuple

if TYPE_CHECKING:  # what scans and concludes is imported by the thread that does it: the first picture needs none of it
    from doctor.judge.diagnosis import Diagnosis
    from doctor.read.source import Source
    from doctor.scan.harvest import Hit
    from doctor.scan.scanner import Scanner
    from kb.model import Entry

Json = dict[str, Any]
PARTIAL_S = 0.8  # how often the findings so far are worth a look
LARGE = 4 << 20  # from here on the automaton for large inputs pays


class Step(NamedTuple):
    """How far a scan has come."""

    bytes: int
    total: int
    files: int
    all_files: int
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Bytes a second."""
        return self.bytes / self.seconds if self.seconds > 0 else 0.0

    @property
    def left(self) -> float | None:
        """Seconds that are left at that rate; None before it is known."""
        return (self.total - self.bytes) / self.rate if self.rate else None

    @property
    def share(self) -> int:
        return min(100, 100 * self.bytes // self.total) if self.total else 0


class Outcome(NamedTuple):
    """A report, and whether everything was read for it."""

    report: Json
    diagnosis: Diagnosis
    finished: bool


class HitLine(NamedTuple):
    """A line that a finding rests on: what was captured, and the pieces of text that matched."""

    line: int
    captures: tuple[tuple[str, str], ...]
    marks: tuple[str, ...]


class Session:
    """One sitting. Scans run in the caller's thread; a caller that wants to stop one says so through `cancelled`."""

    def __init__(
        self,
        paths: Sequence[str] = (),
        lang: str = "en",
        select: Select = EVERYTHING,
        kb: Sequence[str] = (),
        known: Knowledge | None = None,
        own_words: Sequence[str] = (),
        harvests: Callable[[], Sequence[Harvest]] | None = None,
    ) -> None:
        self.paths = tuple(paths)
        self.lang = lang
        self.select = select
        self.kb = tuple(kb)
        self.own_words = tuple(own_words)
        self._harvests = harvests  # what was scanned elsewhere, instead of sources
        self._known = known
        self._scanner: Scanner | None = None
        self._lock, self._loading = threading.Lock(), threading.Lock()
        self._loaded = threading.Event()
        self.sources: tuple[Source, ...] = ()
        self.begun: dict[str, list[tuple[int, int]]] = {}  # by source: offsets, and how many lines begin before each

    @property
    def known(self) -> Knowledge:
        """Loaded when first needed: the first picture does not wait for it."""
        with self._loading:
            if self._known is None:
                self._known = load(self.kb)
            self._loaded.set()
            return self._known

    @property
    def loaded(self) -> bool:
        """Whether the knowledge is there; when it changed, it is compiled first, which takes seconds."""
        return self._known is not None

    def soon(self, seconds: float) -> Knowledge | None:
        """The knowledge when it can be had in that time, which is nearly always; else it goes on being loaded."""
        if self._known is None:
            threading.Thread(target=self._load, daemon=True).start()
            self._loaded.wait(seconds)
        return self._known

    def _load(self) -> None:
        try:
            _ = self.known
        except Exception:  # noqa: BLE001 - who asks for `known` next is told by the same error
            self._loaded.set()

    def scanner(self, select: Select = EVERYTHING) -> Scanner:
        """A new scanner of the same plan: scanners are cheap, plans are not shared between threads that scan at once."""
        from doctor.scan.plan import Plan
        from doctor.scan.scanner import Scanner

        return Scanner(Plan(self.known.sought()), select, digest=self.known.digest)

    def look(
        self,
        on_step: Callable[[Step], None] = lambda _: None,
        on_partial: Callable[[Outcome], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
        sources: Sequence[Source] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> Outcome:
        """Reads all sources, range by range. Cancelled, it comes back with what was read so far."""
        from doctor.read import discover
        from doctor.scan import ranges as work

        begin = clock()
        if self._harvests is not None:
            return self._outcome(self._harvests(), (), clock() - begin, True)
        if sources is None:
            found = discover.discover(self.paths)
            sources, skipped = found.sources, found.skipped
        else:
            skipped = ()
        self.sources, self.begun = tuple(sources), {}
        ranges = [part for source in sources for part in work.cut(source)]
        total = sum(part.size for part in ranges)
        scanner = self.scanner(self.select)
        if total > LARGE:
            scanner.engine.prepare(total)
        done: dict[int, Harvest] = {}
        read = files = 0
        last = begin
        on_step(Step(0, total, 0, len(sources)))
        for number, part in enumerate(ranges):
            if cancelled():
                rest = Skipped("...", "stopped on request: what follows was not read")
                return self._outcome(work.join(ranges, done), (*skipped, rest), clock() - begin, False)
            done[number] = work.scan_one(part, scanner)
            read += part.size or done[number].size
            files += part.start == 0
            self._count(part.source, part.end, done[number].lines)
            on_step(Step(read, max(total, read), files, len(sources), clock() - begin))
            if clock() - last > PARTIAL_S:
                on_partial(self._outcome(work.join(ranges, done), skipped, clock() - begin, False))
                last = clock()
        return self._outcome(work.join(ranges, done), skipped, clock() - begin, True, sources)

    def _count(self, source: Source, end: int | None, lines: int) -> None:
        """Keeps what was counted of a large log: its evidence is then found without counting again."""
        if end is not None:
            counted = self.begun.setdefault(source.name, [])
            counted.append((end, lines + (counted[-1][1] if counted else 0)))

    def _outcome(self, harvests: Sequence[Harvest], skipped: Sequence[Skipped], seconds: float, whole: bool, sources: Sequence[Source] = ()) -> Outcome:
        """The report; of all `sources`, when they were read to their ends, also who fell silent."""
        from doctor.answer.report import report
        from doctor.judge.diagnosis import conclude
        from doctor.pace.unasked import heard

        diagnosis = heard(conclude(harvests, self.known, seconds, skipped), sources, self.known)
        return Outcome(report(diagnosis, self.known), diagnosis, whole)

    def text(self, text: str) -> Outcome:
        """The diagnosis of a text that somebody pastes."""
        from doctor.read import discover

        begin = time.monotonic()
        with self._lock:  # one scanner for all texts: making it takes longer than a text does
            if self._scanner is None:
                self._scanner = self.scanner()
            harvest = self._scanner.scan(discover.given_text(text))
        return self._outcome([harvest], (), time.monotonic() - begin, True)

    def source(self, path: str) -> Source | None:
        """The source that a report's place names."""
        return next((s for s in self.sources if path in (s.name, clean(s.name))), None)

    def hits(self, outcome: Outcome | None, key: str, path: str) -> tuple[HitLine, ...]:
        """Every line of a file that a row of the report rests on, with what of it was matched and captured."""
        if outcome is None:
            return ()
        kind, _, name = key.partition(":")
        found: dict[int, HitLine] = {}
        if kind == "finding":
            for one in (r.finding for r in outcome.diagnosis.related if r.finding.entry.code == name):
                for hit in (h for h in one.hits if path in (h.place.path, clean(h.place.path))):
                    line = hit.place.line
                    found[line] = _joined(found.get(line, HitLine(line, (), ())), hit, one.entry)
        elif kind == "cluster" and name.isdigit() and int(name) < len(outcome.diagnosis.unexplained):
            place = outcome.diagnosis.unexplained[int(name)].first
            found[place.line] = HitLine(place.line, (), ())
        return tuple(found[n] for n in sorted(found))

    def command_line(self, *rest: str) -> str:
        """The call that gives on the command line what a view shows."""
        words = ["npu-doctor", *rest, "--lang", self.lang]
        for folder in self.kb:
            words += ["--kb", folder]
        return shlex.join(words)

    def scan_command(self) -> str:
        flags: list[str] = []
        for name in ("since", "until", "pid", "rank", "device"):
            value = getattr(self.select, name)
            if value is not None:
                flags += [f"--{name}", str(value)]
        return self.command_line("scan", *flags, *(self.paths or ("-",)))


def _joined(before: HitLine, hit: Hit, entry: Entry) -> HitLine:
    """A line with what one more leaf saw in it: what matched, where that decides, and what was captured."""
    from doctor.answer.matched import decides, matched

    told = matched(hit, entry) if decides(entry, hit.signal) else ""
    marks = (told, *(value for _, value in hit.captures))
    return HitLine(
        before.line,
        tuple(dict.fromkeys((*before.captures, *hit.captures))),
        tuple(dict.fromkeys((*before.marks, *(mark for mark in marks if mark)))),
    )
