"""One range of a source to one Harvest.

A line is decoded, peeled and parsed only where a literal was found in it, and not even there when `floods` has enough of it.
"""

from __future__ import annotations

from collections.abc import Mapping

from doctor.read.encoding import decode
from doctor.read.source import Skipped, Source
from doctor.scan import error_blocks
from doctor.scan.beside import told as told_of
from doctor.scan.engine import Engine
from doctor.scan.error_lines import ErrorLines, go_error
from doctor.scan.escapes import ESCAPE, without_escapes
from doctor.scan.factscan import FactScan
from doctor.scan.finder import Finds
from doctor.scan.floods import Floods, statement
from doctor.scan.harvest import Harvest, Hit, Place
from doctor.scan.loadscan import LoadScan
from doctor.scan.meaningscan import MeaningScan
from doctor.scan.plan import STRIKES, Plan, Refusal, within_word
from doctor.scan.raised import asked
from doctor.scan.repeats import Repeats
from doctor.scan.select import EVERYTHING, Select
from doctor.scan.situation import HEAD, TAIL, Said, joined, said
from doctor.scan.tablescan import Cells, TableScan, holds
from doctor.scan.treatments import Same, Treatment
from doctor.scan.window_lines import KEEP_TEXT, WindowLines
from doctor.scan.windows import MAX_LINE, Window
from kb.model import RAISED, Filter, Signal
from parsers.line import read_line
from parsers.parsed import Line

SAMPLED_LINES = 40


class RangeScan:
    """The state of scanning one range.

    What is kept depends on the source alone, never on the company it is scanned in: nodes that are scanned one by one
    and merged must give what scanning everything at once gives.
    """

    def __init__(self, plan: Plan, engine: Engine, select: Select, source: Source) -> None:
        self.plan, self.engine, self.select, self.source = plan, engine, select, source
        self.long = 0  # places in huge lines, of which only the part around a find is read
        self.huge = False  # the line that is being read is one of those
        self.heard: set[tuple[int, int]] = set()  # signals of huge lines, each with the line's number: one counts once
        self.slow = dict(self.plan.slow)  # patterns that were cut off in earlier ranges: told there
        self.hits: list[Hit] = []
        self.field_counts: dict[str, int] = {}
        self.facts = FactScan(source)
        self.loads = LoadScan(plan)
        self.silent = plan.facts | plan.silent  # claim no line
        self.floods = Floods(plan, engine, self.silent, source.hints.pid is not None, select == EVERYTHING)
        self.repeats = Repeats(plan, engine, self.floods)
        self.same: Same | None = None  # what was done about the last line, if it was no more than counting
        self.errors = ErrorLines(select, self.floods.unclaimed)
        self.kinds: dict[str, int] = {}
        self.size = self.lines = 0
        self.situation: tuple[Said, ...] = ()
        self.tables = TableScan()
        self.meanings = MeaningScan(plan.rows, plan.asked_tables)
        self.beneath: set[int] = set()  # where lines of error blocks begin that were read with the title of their block
        self.escaped: set[int] = set()  # where lines of this window begin that terminal escapes stand in

    def harvest(self, skipped: tuple[Skipped, ...], whole: bool) -> Harvest:
        if self.long:
            why = f"lines longer than {MAX_LINE >> 10} KiB were read around what stands out in them, in {self.long} places"
            skipped = (*skipped, Skipped(self.source.name, why))
        slow = tuple(
            Skipped(f"entry {s}", f"its pattern took too long {n - self.slow.get(s, 0)} times in {self.source.name} and was cut off")
            for s, n in self.plan.slow.items()
            if n > self.slow.get(s, 0)
        )
        self.floods.settle()
        names = self.plan.names
        counts = {name: n for number, n in self.floods.counts.items() for name in names[number]}
        capped = sorted(name for number in self.floods.enough.capped for name in names[number])
        clusters, errors = self.errors.result()
        return Harvest(
            tuple(self.hits), counts | self.field_counts, clusters, self.kinds, skipped + slow, int(whole), self.size,
            self.lines, errors, tuple(capped), (*self.facts.hits, *self.loads.hits(self.facts.tail)), self.facts.span(), self.situation, callers=tuple(self.meanings.callers.values()),
        )  # fmt: skip

    def window(self, window: Window) -> None:
        data, limit = window.data, window.limit
        self.size += window.size or limit
        if not self.kinds:
            self._sample(data)
            self.situation = told_of(data[:HEAD], self.source.name, self.plan.situation)
            if window.last and limit > HEAD:  # how it ended
                end = said(data[max(HEAD, limit - TAIL) : limit], self.source.name, self.plan.situation)
                self.situation = joined((*self.situation, *end))
        self.facts.window(data[max(0, limit - 4096) : limit])
        self.floods.before_window(data)
        lines = WindowLines(window, self.source, self.lines + 1)
        self.escaped.clear()
        self.beneath.clear()
        escapes = ESCAPE in data
        tables: list[int] = []
        disturbing: Finds = []
        for finds in self.repeats.parts(data, limit):
            self.floods.count_marks(data, limit, finds, plainly=not escapes)
            tables += self._lines(lines, self._beneath_escapes(data, finds) if escapes else finds)
            disturbing += finds
        for start, eol, found in self.loads.left():
            self._line(lines, start, eol, found)
        self.loads.after_window(data, limit)
        if tables or self.tables.unfinished:
            for row, place in self.tables.rows(window, tables, lines):
                self.kinds["table"] = self.kinds.get("table", 0) + 1
                self._row(row, place, self.plan.rows[row[0][1]])
        self.lines = lines.number(limit) - 1
        self.floods.after_window(data, disturbing)

    def _lines(self, lines: WindowLines, finds: Finds) -> list[int]:
        """What was found, line by line; returns where tables may be.

        In a storm of errors this loop is what a scan costs: where a line begins is only looked up when it matters.
        """
        data, limit = lines.window.data, lines.window.limit
        treatments, unclaimed, escaped = self.floods.treatments, self.floods.unclaimed, self.escaped
        settled, asked = self.floods.settled, self.repeats.asks
        tables: list[int] = []
        found: list[int] = []
        first, eol, huge = 0, -1, False
        finds.append((len(data) + 2, -1))  # settles the last line
        for end, literal in finds:
            if end <= eol + 1:  # a literal may end with the end of its line
                found.append(literal)
                continue
            if found:
                treatment = treatments[found[0] if len(found) == 1 else tuple(found)]
                plain = not escaped or data.rfind(b"\n", 0, first - 1) + 1 not in escaped
                if treatment.only_counts and first <= limit and plain:
                    treatment.lines += 1
                    if asked:
                        self._learn(data, first, eol, treatment, treatment.same)
                elif treatment.further and unclaimed.flooded and first <= limit and plain:
                    unclaimed.further += 1
                    if asked:
                        self._learn(data, first, eol, treatment, Same(further=unclaimed))
                elif (
                    treatment.settles and settled and first <= limit and plain
                    and (known := settled.get(statement(data, data.rfind(b"\n", 0, first - 1) + 2, eol))) is not None
                ):
                    known.further += 1
                    if asked:
                        self._learn(data, first, eol, treatment, Same(further=known))
                elif treatment.alone and plain and not (asked or huge) and within_word(data, first - treatment.alone, first):
                    pass
                else:
                    start = data.rfind(b"\n", 0, first - 1) + 1
                    if start >= limit:  # this line and what follows belong to the next window
                        return tables
                    if not (asked and plain and self.repeats.again(data, start, eol)):
                        self.huge, self.same = huge, None
                        if huge:
                            self.long += 1
                            start = max(start, first - MAX_LINE // 2)
                        if treatment.table and (not treatment.comment or data.startswith((b"#", b"- ", b"* "), start) or data.find(b" # ", start, start + 160) >= 0):
                            tables.append(start)
                        if not treatment.only_mark:
                            self._found(lines, start, eol, found, treatment)
                        elif not treatment.go or go_error(data, start, eol):
                            self._unclaimed(lines, start, eol)
                        else:
                            self.same = Same()
                        if asked and self.same is not None and not treatment.table:
                            self._learn(data, first, eol, treatment, self.same)
            before, first, found = eol, end, [literal]
            eol = data.find(b"\n", end - 1)
            if eol < 0:
                eol = len(data)
            if huge or eol - before > MAX_LINE:
                huge = eol - data.rfind(b"\n", 0, end - 1) - 1 > MAX_LINE
                if huge:  # it is read around each find
                    eol = min(eol, end + MAX_LINE // 2)
        return tables

    def _learn(self, data: bytes, first: int, eol: int, treatment: Treatment, same: Same) -> None:
        """A line was only counted: the next ones like it need not be looked at, unless their numbers decide what it is."""
        start = data.rfind(b"\n", 0, first - 1) + 1
        refusal = self._refusal(treatment, data, start, eol) if treatment.open else Refusal.OF_ITS_FORM
        if refusal is not Refusal.OF_IT_ALONE:
            decide = refusal is Refusal.OF_ITS_TEXT or treatment.numbered or self.floods.left_out.numbered
            self.repeats.learn(data, start, eol, same, decide)

    def _refusal(self, treatment: Treatment, data: bytes, start: int, eol: int) -> Refusal:
        """Of which other lines does it hold that none of the signals for which a line was asked may match it?"""
        asked = [n for anchor, numbers in treatment.open if anchor is None or data.find(anchor, start, eol) >= 0 for n in numbers]
        return max((self.plan.refusal(n, data, start, eol) for n in asked), default=Refusal.OF_ITS_FORM)

    def _sample(self, data: bytes) -> None:
        """What kinds of lines the source holds, by its first lines: tells 'healthy' from 'not a log of ours'."""
        for raw in data[:16384].split(b"\n")[:SAMPLED_LINES]:
            if raw.strip():
                raw = raw[:2048]
                line = read_line(decode(raw))
                self.kinds[line.kind] = self.kinds.get(line.kind, 0) + 1
                self.facts.begin(raw, line)

    def _found(self, lines: WindowLines, start: int, eol: int, found: list[int], treatment: Treatment) -> None:
        """One line in which literals stand. It is read only when an anchor of a signal that is not full stands in it."""
        data, postponed = lines.window.data, False
        if treatment.claimable:
            may_match = self.plan.may_match
            for anchor, numbers in treatment.open:
                if anchor is None or data.find(anchor, start, eol) >= 0:
                    for number in numbers:
                        if number in self.plan.loads and self.loads.postpone(start, eol, found):
                            postponed = True
                            continue
                        if may_match(number, data, start, eol):
                            self._line(lines, start, eol, found)
                            self.same = None
                            return
            if start in self.escaped:
                self._line(lines, start, eol, found)
                return
            counted = {n for anchor, n in treatment.counted if anchor is None or data.find(anchor, start, eol) >= 0}
            for number in counted:
                self.floods.counts[number] += 1
            self.same = None if postponed else Same(tuple(counted))
            if counted:
                return
            for anchor in treatment.capped:
                if anchor is None or data.find(anchor, start, eol) >= 0:
                    return
        if treatment.mark:
            self._unclaimed(lines, start, eol)
            if postponed:
                self.same = None

    def _unclaimed(
        self, lines: WindowLines, start: int, eol: int, line: Line | None = None, place: Place | None = None
    ) -> None:
        """A line with an error mark that no literal claims of those that are still looked for."""
        data = lines.window.data
        self.same = None
        if data.find(error_blocks.TITLE, start, eol) >= 0:
            if error_blocks.any_beneath(data, eol):
                self._block(lines, eol)
        elif start in self.beneath:
            pass
        elif self.floods.left_out.claim(data, start, eol):
            self.same = Same()
        else:
            place = self.errors.add(lines, start, eol, line, place, not self.meanings.full)
            self.same = self.floods.unclaimed.same
            if place is not None:
                self._meaning(lines, start, eol, place)

    def _block(self, lines: WindowLines, eol: int) -> None:
        """What a block of CANN says in plain words: no mark stands in such lines, for the title is theirs."""
        for start, end in error_blocks.beneath(lines.window.data, eol):
            line = read_line(decode(lines.window.data[start:end]))
            line = line._replace(kind="message", level="error", text=line.text.strip())
            self.beneath.add(start)
            place = self.errors.add(lines, start, end, line)
            if place is not None:
                self._meaning(lines, start, end, place)

    def _beneath_escapes(self, data: bytes, found: Finds) -> Finds:
        """The finds with those in lines that terminal escapes cut up: a literal may stand on both sides of one."""
        starts: list[int] = []
        clean: list[bytes] = []
        for begin, end in self.repeats.stretches:
            at = data.find(ESCAPE, begin, end)
            while at >= 0:
                start = data.rfind(b"\n", 0, at) + 1
                eol = data.find(b"\n", at)
                eol = len(data) if eol < 0 else eol
                if eol - start <= MAX_LINE:
                    starts.append(start)
                    clean.append(without_escapes(data[start:eol]))
                at = data.find(ESCAPE, eol, end)
        self.escaped.update(starts)
        joined = b"\n".join(clean)
        number, end_of_line = -1, -1
        for end, literal in self.engine.find(joined):
            while end - 1 > end_of_line:
                number += 1
                end_of_line += len(clean[number]) + 1
            found.append((starts[number] + 1, literal))
        found.sort()
        return found

    def _line(self, lines: WindowLines, start: int, eol: int, found: list[int]) -> None:
        raw = lines.window.data[start:eol]
        text = decode(raw)
        odd = "\x1b" in text or "^[" in text  # escapes inside: only the peeled line can be judged
        line: Line | None = None
        place: Place | None = None
        claimed, tried = False, set()
        enough = self.floods.enough
        for literal in found:
            for anchor, number in self.plan.literals[literal].pairs:
                if number in tried or (not odd and anchor not in raw):
                    continue
                tried.add(number)
                signal = self.plan.signals[number]
                if number in enough.full:
                    if number in self.silent:
                        continue
                    claimed = True
                    if number not in enough.capped:
                        self.floods.counts[number] += 1
                    continue
                simple = not odd and not signal.lines and not self.plan.at_start[number]
                if simple and line is None and self.plan.search(number, text) is None:
                    continue
                if line is None:
                    line = read_line(text)
                if signal.filters and not accepted(line, signal.filters):
                    continue
                body = line.text if not signal.lines else lines.block(start, line, signal.lines)
                captures = self.plan.search(number, body)
                if captures is None:
                    continue
                place = place or lines.place(start, line)
                if not self.select.wants(place):
                    return
                if self.huge:
                    claimed = claimed or number not in self.silent
                    if (number, place.line) in self.heard:
                        continue
                    self.heard.add((number, place.line))
                if number in self.plan.loads:
                    self.loads.sample(signal.id, place, text, captures, start)
                    continue
                if number in self.plan.facts:
                    if self.facts.keep(signal.id, place, captures):
                        self.floods.fill(number, exact=False)
                    continue
                claimed = claimed or number not in self.silent
                kept = place
                if signal.lines:
                    kept = place._replace(text=body[:KEEP_TEXT], end_line=place.line + body.count("\n"))
                if self.floods.keeps(number):
                    self.hits.extend(Hit(name, kept, tuple(captures.items())) for name in self.plan.names[number])
        if claimed:
            if place is not None:
                self._meaning(lines, start, eol, place)
        elif any(self.plan.literals[n].mark for n in found):
            self._unclaimed(lines, start, eol, line, place)

    def _meaning(self, lines: WindowLines, start: int, eol: int, place: Place) -> None:
        """A line that may report an error, with or without a signal that knows it."""
        for told in self.meanings.rows(lines, start, eol, place):
            held = self._row(told.cells, told.place, told.asked)
            if told.shape:
                self.meanings.fulfils(told.shape, held)

    def _asked(self, signal: Signal, row: Cells) -> Mapping[str, str] | None:
        """What a leaf captures of a row; None when it asks for another one."""
        if self.plan.slow.get(signal.id, 0) >= STRIKES:
            return None
        try:
            if signal.form == RAISED:
                return asked(signal, row)
            return {k: v for k, v in row if k != "table"} if holds(signal, row) else None
        except TimeoutError:
            self.plan.strike(signal)
            return None

    def _row(self, row: Cells, place: Place, signals: tuple[Signal, ...]) -> tuple[Signal, ...]:
        """The leaves that a row fulfils."""
        held: list[Signal] = []
        for signal in signals if self.select.wants(place) else ():
            captures = self._asked(signal, row)
            if captures is not None:
                held.append(signal)
                count = self.field_counts[signal.id] = self.field_counts.get(signal.id, 0) + 1
                if count <= self.floods.keep:
                    self.hits.append(Hit(signal.id, place, tuple(captures.items())))
        return tuple(held)


def accepted(line: Line, filters: tuple[Filter, ...]) -> bool:
    """Is the line of a kind, module, level and file that a signal asks for?"""
    for kind, modules, levels, files in filters:
        if kind != line.kind:
            continue
        if modules and line.module not in modules:
            continue
        if levels and line.level not in levels:
            continue
        if files and not any((line.source or "").startswith(f) for f in files):
            continue
        return True
    return False
