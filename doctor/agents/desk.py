"""What a server remembers between calls: the knowledge, the last reports, and one set of pseudonyms for all answers."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from doctor.agents.reach import Reach, RefusedError
from doctor.answer.quotes import cited
from doctor.answer.redact import Redactor, of_texts, own_texts
from doctor.answer.report import report
from doctor.base.notation import clean
from doctor.judge.diagnosis import Diagnosis, conclude
from doctor.pace.unasked import heard
from doctor.read import discover
from doctor.read.source import Skipped, Source
from doctor.read.sources import Sources
from kb.knowledge import Knowledge, load
from parsers.named import NamedTuple

Json = dict[str, Any]
Progress = Callable[[float, float], None]  # bytes read, bytes in all
MAX_REPORTS = 8
MAX_TEXTS = 200_000  # letters that pseudonyms were looked for in, before what was worked out is forgotten


class StoppedError(BaseException):
    """Nobody waits for the answer any more. No error of a log, hence no Exception: nothing on the way may catch it."""


class Held(NamedTuple):
    """A report and what it was made of."""

    id: str
    made: Json  # with quotations, and with pseudonyms where they are wanted
    diagnosis: Diagnosis
    sources: Sequence[Source]
    paths: tuple[str, ...]


class Desk:
    """One for a server. Calls are served one after the other."""

    def __init__(self, reach: Reach, lang: str, folders: Sequence[str] = (), redact: bool = True, own: Iterable[str] = ()) -> None:
        self.reach, self.lang, self.redact = reach, lang, redact
        self._folders, self._own = tuple(folders), tuple(own)
        self._knowledge: Knowledge | None = None
        self._using: Redactor | None = None
        self._held: dict[str, Held] = {}
        self._named: dict[str, str] = {}  # a path as answers write it -> as it is
        self._count = self._letters = 0
        self._lock = threading.Lock()

    @property
    def known(self) -> Knowledge:
        """Opened when it is first asked for: a server has to answer at once."""
        with self._lock:
            if self._knowledge is None:
                self._knowledge = load(self._folders)
            return self._knowledge

    def using(self) -> Redactor:
        if self._using is None:
            self._using = of_texts(self.known, own=self._own)
        return self._using

    def hidden(self, told: str) -> str:
        """A text of a log or of this machine as it may be shown."""
        if not self.redact:
            return told
        self._letters += len(told)
        if self._letters > MAX_TEXTS:
            self._letters = 0
            self.using().spare(())
        return self.using().text(told)

    # reports

    def scan(self, paths: Sequence[str], progress: Progress, stopped: Callable[[], bool]) -> Held:
        """Reads what is named and keeps the report; the oldest one is forgotten."""
        real = tuple(map(self.reach.inside, paths))
        begin = time.perf_counter()
        found = self._within(real)
        harvests = _harvests(found.sources, self.known, progress, stopped)
        diagnosis = heard(conclude(harvests, self.known, time.perf_counter() - begin, found.skipped), found.sources, self.known)
        made = cited(report(diagnosis, self.known), found.sources)
        if self.redact:
            using = self.using()
            using.spare(own_texts(diagnosis))
            made = using.report(made)
            made["redacted"] = using.told
        self._count += 1
        held = Held(f"r{self._count}", made, diagnosis, found.sources, real)
        self._held[held.id] = held
        while len(self._held) > MAX_REPORTS:
            del self._held[next(iter(self._held))]
        self._named = {self.hidden(clean(s.name)): clean(s.name) for one in self._held.values() for s in one.sources}
        return held

    def _within(self, real: Sequence[str]) -> discover.Found:
        """What may be read of it. A pipe is not waited for, and what became a link meanwhile is not followed."""
        found = discover.discover(real)
        sources, refused = Sources(), []
        for source in found.sources:
            if source.once:
                refused.append(Skipped(source.name, "a named pipe: not a file that holds a log"))
            elif not self.reach.holds(os.path.realpath(_file(source.name))):
                refused.append(Skipped(source.name, "a link that leads out of the given folder: not followed"))
            else:
                sources.extend((source,))
        return discover.Found(sources, (*found.skipped, *refused)) if refused else found

    def held(self, name: str | None) -> Held:
        """A report by its name; without one the last."""
        if not self._held:
            raise RefusedError("nothing was scanned yet", "call scan first")
        if not name:
            return next(reversed(self._held.values()))
        if name not in self._held:
            raise RefusedError(f"there is no report '{name[:20]}'", f"reports: {', '.join(self._held)}")
        return self._held[name]

    def again(self, held: Held) -> tuple[str, ...]:
        """The paths of a report that may be read anew."""
        return tuple(self.reach.inside(path) for path in held.paths if os.path.isdir(path) or os.path.isfile(path))

    def reports(self) -> tuple[Held, ...]:
        return tuple(self._held.values())

    def source(self, path: str) -> Source:
        """A log by its path: as an answer wrote it, or any other one that may be read."""
        wanted = self._named.get(path, path)
        for one in reversed(self._held.values()):
            for source in one.sources:
                if clean(source.name) == wanted:
                    return source
        found = self._within([self.reach.inside(path)]).sources
        if len(found) != 1:
            raise RefusedError(f"'{path[:200]}' is no single log", "give the path of one file, as reports write it")
        return found[0]


def _file(name: str) -> str:
    """The file of a source: itself, or the archive in which it stands, `logs.zip!node-1/plog.log`."""
    at = name.find("!")
    while at >= 0 and not os.path.isfile(name[:at]):
        at = name.find("!", at + 1)
    return name if at < 0 else name[:at]


def _harvests(sources: Sequence[Source], known: Knowledge, progress: Progress, stopped: Callable[[], bool]) -> list[Any]:
    """In this process alone: a server forks nothing."""
    from doctor.scan.plan import Plan
    from doctor.scan.ranges import cut, join, scan_one
    from doctor.scan.scanner import Scanner

    ranges = [part for source in sources for part in cut(source)]
    total, read = sum(part.size for part in ranges), 0
    scanner = Scanner(Plan(known.sought()), digest=known.digest)
    done: dict[int, Any] = {}

    def moved(size: int) -> None:
        nonlocal read
        read += size
        if stopped():
            raise StoppedError
        progress(read, max(total, read))

    for number, part in enumerate(ranges):
        moved(0)
        done[number] = scan_one(part, scanner, moved)
    return join(ranges, done)
