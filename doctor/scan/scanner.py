"""Scans sources, or ranges of them, with one plan."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO

from doctor.read.content import HEAD, LONGEST_BESIDE
from doctor.read.dumps import BESIDE, STARTED
from doctor.read.dumps import in_text as dump_in
from doctor.read.source import Skipped, Source
from doctor.scan.engine import Engine
from doctor.scan.harvest import RANK_TABLE, Harvest, Hit, numbered
from doctor.scan.plain_words import with_plain_words
from doctor.scan.plan import Plan
from doctor.scan.rangescan import RangeScan
from doctor.scan.rank_table import rank_table
from doctor.scan.records import records
from doctor.scan.select import EVERYTHING, Select
from doctor.scan.window_lines import WindowLines
from doctor.scan.windows import Window, windows
from parsers.ocr import mended
from parsers.pasted import plain, ways

PASTED = 64 << 10  # bytes of a text that somebody may have read off a screenshot


class Interrupted(KeyboardInterrupt):
    """The user has had enough. What was read of the source so far is an answer, too."""

    def __init__(self, harvest: Harvest) -> None:
        super().__init__()
        self.harvest = harvest


class Scanner:
    """A plan, what the user asked for, and the engine that finds literals."""

    def __init__(self, plan: Plan, select: Select = EVERYTHING, engine: str | None = None, digest: str = "") -> None:
        self.plan, self.select = plan, select
        self.engine = Engine(plan.fragments, engine, digest)

    def scan(self, source: Source, start: int = 0, end: int | None = None, moved: Callable[[int], None] | None = None) -> Harvest:
        """The lines that begin in [start, end). A fault while reading keeps what was read and is named.

        `moved` hears how many bytes were read, window by window.
        """
        if source.dump == STARTED:
            from doctor.scan import beside

            return beside.scan(source, self.plan.situation)
        if source.dump == BESIDE:
            from doctor.scan import beside

            return Harvest(situation=beside.of_code(source, self.plan.situation), aside=self._aside(source))
        if source.dump:
            from doctor.scan import dumps  # most folders hold none

            return dumps.scan(source)
        work = RangeScan(self.plan, self.engine, self.select, source)
        skipped: list[Skipped] = []
        only: Window | None = None
        dump = ""
        try:
            with source.open() as stream:
                for window in windows(stream, start, end):
                    only = window if window.last and not work.size else None
                    if not work.size and not start:
                        dump = dump_in(window.data[:HEAD])
                    work.window(records(window))
                    if moved is not None:
                        moved(window.limit)
                if why := getattr(stream, "changed", str)():
                    skipped.append(Skipped(source.name, why))
        except KeyboardInterrupt:
            skipped.append(Skipped(source.name, f"interrupted after {work.size} bytes"))
            raise Interrupted(work.harvest(tuple(skipped), whole=start == 0)) from None
        except OSError as error:
            skipped.append(Skipped(source.name, f"reading stopped after {work.size} bytes: {error.strerror or error}"))
        if start == 0:
            work.facts.hits += rank_table(source)
        harvest = work.harvest(tuple(skipped), whole=start == 0)
        if dump:
            from doctor.scan import dumps

            harvest = harvest._replace(dumps=dumps.in_text(source, dump, only.data if only is not None else None))
        if only is None or len(only.data) > PASTED:
            return harvest
        harvest = self._carried(source, only, harvest)
        if harvest.hits or harvest.errors:
            harvest = self._read_off_a_screen(source, only, harvest)
        return with_plain_words(harvest, WindowLines(records(only), source, 1), self.select) if end is None else harvest

    def _aside(self, source: Source) -> tuple[Hit, ...]:
        """What leaves match in source code and settings: nothing there was printed, so it counts where something else has failed."""
        from doctor.scan.beside import done

        work = RangeScan(self.plan, self.engine, EVERYTHING, source)
        try:
            with source.open() as stream:
                for window in windows(BytesIO(done(stream.read(LONGEST_BESIDE))), 0, None):
                    work.window(records(window))
        except OSError:  # nobody asked for it
            return ()
        return tuple(work.hits)

    def _carried(self, source: Source, text: Window, harvest: Harvest) -> Harvest:
        """A short text once more, as it read before a terminal, an editor or a page wrote it their way; the better of both."""
        if source.hints.pid is not None:
            return harvest  # a file of a process was written by it
        if (own := plain(text.data)) != text.data:
            text = text._replace(data=own, limit=len(own))
            harvest = self._again(source, text, harvest)
        for data, numbers in ways(text.data):
            again = self._again(source, text._replace(data=data, limit=len(data)), harvest)
            if numbers:
                again = numbered(again, lambda line, numbers=numbers: numbers[min(line, len(numbers)) - 1])  # type: ignore[misc]
            if len(again.counts) > len(harvest.counts):
                harvest = again if numbers else _with_more_told(again, harvest)
        return harvest

    def _again(self, source: Source, text: Window, harvest: Harvest) -> Harvest:
        work = RangeScan(self.plan, self.engine, self.select, source)
        work.window(records(text))
        again = work.harvest(harvest.skipped, whole=True)
        tables = (hit for hit in harvest.facts if hit.signal == RANK_TABLE)
        return again._replace(facts=(*again.facts, *tables), lines=harvest.lines, size=harvest.size)

    def _read_off_a_screen(self, source: Source, text: Window, harvest: Harvest) -> Harvest:
        """A short text once more, when codes in it look as if a screenshot had been read; the better of both."""
        data = mended(text.data)
        if data == text.data:
            return harvest
        again = self._again(source, text._replace(data=data), harvest)
        return again if len(again.counts) > len(harvest.counts) else harvest


def _with_more_told(again: Harvest, before: Harvest) -> Harvest:
    """The same lines read twice: what stood before a line's own words may have told something as well."""
    told = {(hit.signal, hit.place.line): len(hit.captures) for hit in again.hits}
    more = {key: hit for hit in before.hits if len(hit.captures) > told.get(key := (hit.signal, hit.place.line), len(hit.captures))}
    return again._replace(hits=tuple(more.get((hit.signal, hit.place.line), hit) for hit in again.hits)) if more else again
