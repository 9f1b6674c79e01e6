"""One source, or a range of one, to one Harvest.

A line is decoded, peeled and parsed only where a literal was found in it. Signals that were seen often enough are only
counted; error lines of a log statement that was seen often enough are only counted.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from doctor.harvest import Harvest, Hit, Place, Skipped
from doctor.scan import finder
from doctor.scan.clusters import FURTHER, Clusters
from doctor.scan.factscan import FactScan
from doctor.scan.plan import Plan
from doctor.scan.rank_table import rank_table
from doctor.scan.select import EVERYTHING, Select
from doctor.scan.tablescan import TableScan, holds
from doctor.scan.view import KEEP_TEXT, View, decode
from doctor.scan.windows import MAX_LINE, Window, windows
from doctor.source import Source
from kb.model import Filter
from parsers.line import read_line
from parsers.record import Line

# Occurrences of one signal in one range that are kept with place and captures; beyond that only the count grows.
KEEP_HITS = 200
KEEP_HITS_OF_PROCESS = 24  # in a file that holds one process (plog-1234_...): more of the same says nothing new
FEWEST_KEPT = 8  # of a small file: reading hits costs more there than looking for them
SIZE_FOR_A_HIT = 8 << 10  # what a larger file costs anyway pays for keeping more
KEEP_OF_STATEMENT = 8  # error lines of one log statement that are read; beyond that only the count grows
SAMPLED_LINES = 40
DISTURBING = 24  # finds of dead literals in one window: then a finder without them is worth making
QUIET_FROM = 128 << 20
MAX_QUIET = 6

_EXCEPTION = re.compile(
    r"^\s*(?:[|+] ?)*(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception|Interrupt|Failure|Fault|Exit|Expired)(?:\(\w+\))?(?::|$)"
)
_CRASH = re.compile(
    r"^(?:terminate called|Segmentation fault|Fatal Python error|Aborted|Bus error|\S+: symbol lookup error|\S+: error while loading)"
)
_ESCAPE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_]|[()][A-Z0-9])?")
_STATEMENT = re.compile(
    rb"\[(?:ERROR|CRITICAL|FATAL)\] ?([A-Z0-9_]{2,20})\([^)\n]{0,60}\): ?[\d:. -]{20,32}\[([^\]\n]{1,120})\]"
)


class Scanner:
    """Scans sources with one plan; the engine is chosen when the size of the input is known."""

    def __init__(self, plan: Plan, select: Select = EVERYTHING, engine: str | None = None, digest: str = "") -> None:
        self.plan, self.select = plan, select
        self._engine, self._digest = engine, digest
        self._fragments = tuple(x.fragment for x in plan.literals)
        self._small: finder.Finder = finder.plain(self._fragments)
        self._large: finder.Finder | None = None
        self._quiet: dict[frozenset[int], finder.Finder] = {}
        self._expected = 0

    def prepare(self, size: int) -> None:
        """Chooses the engine for that many bytes, before workers are made: they inherit it."""
        self._expected = size
        if self._engine is not None or size > finder.SMALL:
            self._large = finder.best(self._fragments, size, self._digest, self._engine)

    def find(self, data: bytes, without: frozenset[int] = frozenset()) -> finder.Finds:
        """Where which literals stand; those that nobody needs any more may be left out."""
        if without and (quiet := self._quiet.get(without)) is not None:
            return quiet(data)
        if self._large is None:
            if len(data) <= finder.SMALL:
                return self._small(data)
            self._large = finder.best(self._fragments, len(data), self._digest, self._engine)
        return self._large(data)

    def quieten(self, dead: frozenset[int]) -> bool:
        """Makes a finder without literals that only hold up: what it costs is saved again in a few hundred megabytes."""
        if dead in self._quiet:
            return True
        if self._large is None or self._expected < QUIET_FROM or len(self._quiet) >= MAX_QUIET:
            return False
        numbers = [n for n in range(len(self._fragments)) if n not in dead]
        part = finder.best(tuple(self._fragments[n] for n in numbers), self._expected, "", self._engine, keep=False)
        self._quiet[dead] = lambda data: [(end, numbers[n]) for end, n in part(data)]
        return True

    def scan(self, source: Source, start: int = 0, end: int | None = None) -> Harvest:
        """The lines that begin in [start, end). A fault while reading keeps what was read and is named."""
        work = _Work(self, source)
        skipped: list[Skipped] = []
        try:
            with source.open() as stream:
                for window in windows(stream, start, end):
                    work.window(window)
        except OSError as error:
            skipped.append(Skipped(source.name, f"reading stopped after {work.size} bytes: {error.strerror or error}"))
        if start == 0:
            work.facts.hits += rank_table(source)
        return work.harvest(tuple(skipped), whole=start == 0)


def kept(source: Source) -> int:
    """How many occurrences of a signal are kept with their places.

    Only the source itself decides, never the company it is scanned in: nodes that are scanned one by one and merged must
    give what scanning everything at once gives.
    """
    if source.hints.pid is None:
        return KEEP_HITS
    if source.size is None:
        return KEEP_HITS_OF_PROCESS
    return max(FEWEST_KEPT, min(KEEP_HITS_OF_PROCESS, source.size // SIZE_FOR_A_HIT))


class _Action(NamedTuple):
    """What is to be done about a line in which certain literals stand."""

    claimable: bool  # a literal belongs to a signal
    open: tuple[tuple[bytes | None, tuple[int, ...]], ...]  # anchor (None: all of it was found) and signals to be read
    counted: tuple[tuple[bytes | None, str], ...]  # seen often enough: only counted
    capped: tuple[bytes | None, ...]  # seen often enough, and their count is 'at least' anyway
    mark: bool


class _Statement:
    """A log statement whose lines no signal claims."""

    __slots__ = ("further", "seen", "shape")

    def __init__(self) -> None:
        self.seen, self.further, self.shape = 0, 0, FURTHER


class _Work:
    """The state of scanning one range."""

    def __init__(self, scanner: Scanner, source: Source) -> None:
        self.scanner, self.plan, self.source = scanner, scanner.plan, source
        self.everything = scanner.select == EVERYTHING
        self.keep = kept(source)
        self.hits: list[Hit] = []
        self.counts: dict[str, int] = {}
        self.capped: set[str] = set()
        self.clusters = Clusters()
        self.facts = FactScan(self.plan.signals, source)
        self.statements: dict[tuple[bytes, ...], _Statement] = {}
        self.further = 0  # error lines of statements that came when there were enough shapes
        self.kinds: dict[str, int] = {}
        self.size = self.lines = 0
        self.tables = TableScan()
        self.full: set[int] = set()  # signals of which enough was kept
        literals = self.plan.literals
        self.dead = [False] * len(literals)  # literals that nobody needs any more
        self.without: frozenset[int] = frozenset()  # those of them that are not even looked for
        self.actions: dict[int | tuple[int, ...], _Action] = {}
        self.escaped: set[int] = set()  # where lines of this window begin that terminal escapes stand in

    def harvest(self, skipped: tuple[Skipped, ...], whole: bool) -> Harvest:
        slow = tuple(
            Skipped(f"entry {s}", f"its pattern took too long {n} times and was cut off")
            for s, n in self.plan.slow.items()
        )
        for statement in self.statements.values():
            self.clusters.count(statement.shape, statement.further)
        self.clusters.count(FURTHER, self.further)
        return Harvest(
            tuple(self.hits), self.counts, self.clusters.result(), self.kinds, skipped + slow, int(whole), self.size, self.lines,
            self.clusters.total, tuple(sorted(self.capped)), tuple(self.facts.hits), self.facts.span(),
        )  # fmt: skip

    def window(self, window: Window) -> None:
        data, limit = window.data, window.limit
        self.size += limit
        if not self.kinds:
            self._sample(data)
        self.facts.window(data[max(0, limit - 4096) : limit])
        view = View(window, self.source, self.lines + 1)
        finds = self.scanner.find(data, self.without)
        self.escaped.clear()
        if b"\x1b" in data:
            finds = self._beneath_escapes(data, limit, finds)
        dead, is_table, only_mark = self.dead, self.plan.is_table, self.plan.only_mark
        tables: list[int] = []
        start, eol = 0, -1
        found: list[int] = []
        disturbed = 0
        for end, literal in finds:
            if dead[literal]:
                disturbed += 1
                continue
            if end > eol:
                if found:
                    if len(found) == 1 and only_mark[found[0]]:
                        self._error(view, start, eol)
                    else:
                        self._found(view, start, eol, found)
                start = data.rfind(b"\n", 0, end - 1) + 1
                if start >= limit:
                    found = []
                    break
                eol = data.find(b"\n", end - 1)
                if eol < 0:
                    eol = len(data)
                found = [literal]
                if eol - start > MAX_LINE:  # a huge line is read around each find
                    start, eol = max(start, end - MAX_LINE // 2), min(eol, end + MAX_LINE // 2)
            else:
                found.append(literal)
            if is_table[literal]:
                tables.append(start)
        if found:
            self._found(view, start, eol, found)
        if tables or self.tables.unfinished:
            for row, place in self.tables.rows(window, sorted(set(tables)), view):
                self.kinds["table"] = self.kinds.get("table", 0) + 1
                self._row(row, place)
        self.lines = view.number(limit) - 1
        if disturbed > DISTURBING:
            every = frozenset(n for n, gone in enumerate(dead) if gone)
            if self.scanner.quieten(every):
                self.without = every

    def _sample(self, data: bytes) -> None:
        """What kinds of lines the source holds, by its first lines: tells 'healthy' from 'not a log of ours'."""
        for raw in data[:16384].split(b"\n")[:SAMPLED_LINES]:
            if raw.strip():
                line = read_line(decode(raw[:2048]))
                self.kinds[line.kind] = self.kinds.get(line.kind, 0) + 1
                self.facts.begin(line.time, line.pid)

    def _found(self, view: View, start: int, eol: int, found: list[int]) -> None:
        """One line in which literals stand. It is read only when an anchor of a signal that is not full stands in it."""
        data = view.window.data
        key = found[0] if len(found) == 1 else tuple(found)
        action = self.actions.get(key) or self._action(key, found)
        if action.claimable:
            may_match = self.plan.may_match
            for anchor, numbers in action.open:
                if anchor is None or data.find(anchor, start, eol) >= 0:
                    for number in numbers:
                        if may_match(number, data, start, eol):
                            self._line(view, start, eol, found)
                            return
            if start in self.escaped:
                self._line(view, start, eol, found)
                return
            claimed = False
            for anchor, name in action.counted:
                if anchor is None or data.find(anchor, start, eol) >= 0:
                    claimed = True
                    self.counts[name] += 1
            if claimed:
                return
            for anchor in action.capped:
                if anchor is None or data.find(anchor, start, eol) >= 0:
                    return
        if action.mark:
            self._error(view, start, eol)

    def _action(self, key: int | tuple[int, ...], found: list[int]) -> _Action:
        """What is known about these literals: worked out once, until a signal fills up."""
        literals = [self.plan.literals[n] for n in dict.fromkeys(found)]
        opened: dict[bytes | None, list[int]] = {}
        counted: dict[tuple[bytes | None, str], None] = {}
        capped: dict[bytes | None, None] = {}
        for literal in literals:
            for anchor, number in literal.pairs:
                needed = None if anchor == literal.fragment else anchor
                if number not in self.full:
                    opened.setdefault(needed, []).append(number)
                elif number in self.facts.numbers:
                    continue  # a fact never claimed a line
                elif self.plan.exact[number]:
                    counted[needed, self.plan.signals[number].id] = None
                else:
                    capped[needed] = None
        claimable = any(literal.pairs for literal in literals)
        mark = any(literal.mark for literal in literals)
        still = tuple((anchor, tuple(dict.fromkeys(numbers))) for anchor, numbers in opened.items())
        action = self.actions[key] = _Action(claimable, still, tuple(counted), tuple(capped), mark)
        return action

    def _beneath_escapes(self, data: bytes, limit: int, found: finder.Finds) -> finder.Finds:
        """The finds of the window with those in lines that terminal escapes cut up: a literal may stand on both sides of one."""
        starts: list[int] = []
        clean: list[bytes] = []
        at = data.find(b"\x1b")
        while 0 <= at < limit:
            start = data.rfind(b"\n", 0, at) + 1
            eol = data.find(b"\n", at)
            eol = len(data) if eol < 0 else eol
            if eol - start <= MAX_LINE:
                starts.append(start)
                clean.append(_ESCAPE.sub(b"", data[start:eol]))
            at = data.find(b"\x1b", eol)
        self.escaped.update(starts)
        joined = b"\n".join(clean)
        number, end_of_line = -1, -1
        for end, literal in self.scanner.find(joined):
            while end - 1 > end_of_line:
                number += 1
                end_of_line += len(clean[number]) + 1
            found.append((starts[number] + 1, literal))
        found.sort()
        return found

    def _line(self, view: View, start: int, eol: int, found: list[int]) -> None:
        raw = view.window.data[start:eol]
        text = decode(raw)
        odd = "\x1b" in text or "^[" in text  # escapes inside: only the peeled line can be judged
        line: Line | None = None
        place: Place | None = None
        claimed, tried = False, set()
        for literal in found:
            for anchor, number in self.plan.literals[literal].pairs:
                if number in tried or (not odd and anchor not in raw):
                    continue
                tried.add(number)
                signal = self.plan.signals[number]
                if number in self.full:
                    if number in self.facts.numbers:
                        continue
                    claimed = True
                    if signal.id not in self.capped:
                        self.counts[signal.id] += 1
                    continue
                simple = not odd and not signal.lines and not self.plan.at_start[number]
                if simple and line is None and self.plan.search(number, text) is None:
                    continue
                if line is None:
                    line = read_line(text)
                if signal.filters and not _accepted(line, signal.filters):
                    continue
                body = line.text if not signal.lines else view.block(start, line, signal.lines)
                captures = self.plan.search(number, body)
                if captures is None:
                    continue
                place = place or view.place(start, line)
                if not self.scanner.select.wants(place):
                    return
                if number in self.facts.numbers:
                    if self.facts.keep(signal.id, place, captures) and self.everything:
                        self._close(number)
                    continue
                claimed = True
                kept = place
                if signal.lines:
                    kept = place._replace(text=body[:KEEP_TEXT], end_line=place.line + body.count("\n"))
                self._keep(number, Hit(signal.id, kept, tuple(captures.items())))
        if not claimed and any(self.plan.is_mark[n] for n in found):
            self._error(view, start, eol, line, place)

    def _keep(self, number: int, hit: Hit) -> None:
        count = self.counts[hit.signal] = self.counts.get(hit.signal, 0) + 1
        if count <= self.keep:
            self.hits.append(hit)
        if count == self.keep and self.everything:
            self._fill_up(number)

    def _fill_up(self, number: int) -> None:
        """Enough was kept of a signal. A plain text goes on being counted exactly; of a pattern the count is 'at least'."""
        self.full.add(number)
        self.actions.clear()
        if not self.plan.exact[number]:
            self.capped.add(self.plan.signals[number].id)

    def _close(self, number: int) -> None:
        """A fact that brings nothing new is not looked at any more; it never claimed a line."""
        self.full.add(number)
        self.actions.clear()
        for n in self.plan.literals_of(number):
            literal = self.plan.literals[n]
            if not (literal.mark or literal.table):
                self.dead[n] = all(x in self.full and x in self.facts.numbers for _, x in literal.pairs)

    def _error(self, view: View, start: int, eol: int, line: Line | None = None, place: Place | None = None) -> None:
        """A line with an error mark that no signal claims. Lines of one log statement are read a few times, then counted."""
        data = view.window.data
        statement: _Statement | None = None
        if self.everything and (head := _STATEMENT.match(data, start, eol)) is not None:
            name = head.groups()
            statement = self.statements.get(name)
            if statement is None:
                if self.clusters.full:
                    self.further += 1
                    return
                statement = self.statements[name] = _Statement()
            elif statement.seen >= KEEP_OF_STATEMENT:
                statement.further += 1
                return
        line = line or read_line(decode(data[start:eol]))
        if not _is_error(line):
            return
        place = place or view.place(start, line)
        if not self.scanner.select.wants(place):
            return
        shape = self.clusters.add(place)
        if statement is not None:
            statement.seen, statement.shape = statement.seen + 1, shape

    def _row(self, row: tuple[tuple[str, str], ...], place: Place) -> None:
        if not self.scanner.select.wants(place):
            return
        for signal in self.plan.fields:
            if holds(signal, row):
                count = self.counts[signal.id] = self.counts.get(signal.id, 0) + 1
                if count <= self.keep:
                    self.hits.append(Hit(signal.id, place, tuple((k, v) for k, v in row if k != "table")))


def _accepted(line: Line, filters: tuple[Filter, ...]) -> bool:
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


def _is_error(line: Line) -> bool:
    """Does this line by itself report an error? Frames, summaries and INFO lines that mention the word do not."""
    if line.kind == "plog":
        return line.level in ("error", "fatal")
    if line.kind in ("traceback", "message", "text", "launcher", "kernel"):
        if _EXCEPTION.match(line.text) or _CRASH.match(line.text):
            return line.level not in ("info", "debug", "warning")
        if line.kind == "traceback":
            return False
        return line.level in ("error", "fatal") and bool(line.text.strip())
    return False
