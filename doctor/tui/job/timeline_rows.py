"""A job as rows: the grid of its nodes, its processes on a line of time, what happened when. No terminal.

Processes that did the same are one row, until it is unfolded; the line of time shows the whole job, until it is zoomed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from doctor.base.words import word
from doctor.render import job as made_job
from doctor.render.document import Event, GridRow, Job
from doctor.render.layout import cells
from doctor.tui.shell.line import BLANK, Line, Row, Span, cut, plain, shown
from parsers.named import NamedTuple
from parsers.parsed import seconds

Json = Mapping[str, Any]
SIGNS = {"failed": ("✗", "error"), "waits": ("w", "warning"), "silent": ("?", "error"), "absent": ("-", "dim"), "fine": (".", "good")}
NODES = 24  # cells of the names of nodes beside the grid
SHORTEST_LINE = 24  # cells of the line of time
_CODE = re.compile(r"[A-Z]{3}\d{3}")


class Window(NamedTuple):
    """The part of the job's time that is seen, in seconds since its beginning."""

    begin: float
    end: float

    def zoomed(self, factor: float, around: float, whole: float) -> Window:
        """A part of that many times the length, with a moment in its middle as far as there is time around it."""
        length = min(whole, max(SHORTEST, (self.end - self.begin) * factor))
        begin = min(max(0.0, around - length / 2), whole - length)
        return Window(begin, begin + length)

    def moved(self, share: float, whole: float) -> Window:
        """Earlier or later, by a part of its length."""
        length = self.end - self.begin
        begin = min(max(0.0, self.begin + share * length), whole - length)
        return Window(begin, begin + length)


SHORTEST = 0.01  # seconds
EXACT = 120.0  # seconds on the line of time, beneath which tenths are told


class Process(NamedTuple):
    """One process on the line of time."""

    key: str
    name: str
    node: str
    about: str
    mark: str
    said: str
    begin: float | None
    end: float | None


class Crowd(NamedTuple):
    """Processes that did the same."""

    key: str
    said: str
    ranks: str
    mark: str
    members: tuple[Process, ...]


class View:
    """A job made ready in one language: rows of it are made for every width, window and search."""

    def __init__(self, job: Json, lang: str) -> None:
        self.lang, self.job = lang, job
        self.made: Job = made_job.compose(dict(job), lang)
        self.whole = max(self.made.seconds, SHORTEST)
        self.crowds = tuple(self._crowds())
        self.processes = {p.key: p for crowd in self.crowds for p in crowd.members}

    def _crowds(self) -> Iterator[Crowd]:
        groups: dict[tuple[str, str], list[tuple[int, Json]]] = {}
        for number, one in enumerate(self.job["ranks"]):
            groups.setdefault((one["state"], one["about"] or ""), []).append((number, one))
        starts = [at for one in self.job["ranks"] for name in ("first_seen", "last_seen") if (at := _moment(one, name)) is not None]
        begin = min(starts, default=0.0)
        ordered = sorted(groups.items(), key=lambda g: (made_job.STATES.index(g[0][0]), -len(g[1]), g[0][1]))
        for (key, members), group in zip(ordered, self.made.groups, strict=True):
            found = tuple(self._process(number, one, begin) for number, one in members)
            yield Crowd("group:" + "|".join(key), shown(group.said), group.ranks, group.mark, found)
        if (absent := self.made.missing) is not None:
            nobody = tuple(
                Process(f"missing:{rank}", f"rank {rank}", "", "", "absent", absent.state, None, None)
                for rank in self.job["missing_ranks"]
            )
            yield Crowd("group:missing", shown(absent.said), absent.ranks, "absent", nobody)

    def _process(self, number: int, one: Json, begin: float) -> Process:
        first, last = _moment(one, "first_seen"), _moment(one, "last_seen")
        state, about = str(one["state"]), str(one["about"] or "")
        end = last - begin if last is not None else None
        return Process(
            f"rank:{number}", shown(made_job.name(dict(one))), shown(one["node"] or ""), about, made_job.mark(state),
            shown(word(f"state-{state}", self.lang, about=about)), first - begin if first is not None else end, end,
        )  # fmt: skip

    def rows(self, room: int, opened: frozenset[str] = frozenset(), window: Window | None = None, wanted: str = "") -> list[Row]:
        """The rows for that many cells. `wanted`: the processes and events in which all the words stand, none folded."""
        seen = window or Window(0.0, self.whole)
        words = wanted.casefold().split()
        grid = [] if words else [*self._grid(room), Row("", BLANK)]
        return [*grid, *self._lanes(room, opened, seen, words), *self._events(words)]

    def _grid(self, room: int) -> Iterator[Row]:
        grid = self.made.grid
        if sum(len(row.seats) for row in grid.rows) < 3:
            return
        for row in grid.rows:
            seats = (Span(f" {SIGNS[s.mark][0] if s.mark else ' '}", SIGNS[s.mark][1] if s.mark else "") for s in row.seats)
            yield Row("", cut((Span(_nodes(row).ljust(NODES), "dim"), *seats), room))
        legend = (span for mark, told in grid.legend for span in (Span(f" {SIGNS[mark][0]}", SIGNS[mark][1]), Span(f" {told} ", "dim")))
        yield Row("", cut((Span(" " * NODES), *legend), room))

    def _lanes(self, room: int, opened: frozenset[str], window: Window, words: list[str]) -> Iterator[Row]:
        widest = max((cells(c.said) + cells(c.ranks) + 6 for c in self.crowds), default=20)
        head = min(max(widest, 24), room - SHORTEST_LINE - 1, max(30, room * 45 // 100))
        line = max(SHORTEST_LINE, room - head - 1)
        begin, end = (_clock(at, window.end - window.begin) for at in window)
        yield Row("", (Span(" " * head), Span(begin + end.rjust(max(1, line - cells(begin))), "dim")))
        for crowd in self.crowds:
            alone = len(crowd.members) == 1
            fits = [p for p in crowd.members if all(w in _text(p, crowd) for w in words)] if words else list(crowd.members)
            if not fits:
                continue
            wide = bool(words) or crowd.key in opened
            if alone or not words:
                fold = "  " if alone else "▾ " if wide else "▸ "
                told = (Span(fold, "dim"), Span(crowd.said, SIGNS[crowd.mark][1]), Span(f"  {crowd.ranks if not alone else ''}", "dim"))
                yield self._lane(crowd.members[0].key if alone else crowd.key, told, crowd.members, crowd.mark, head, line, window)
            for one in fits if wide and not alone else ():
                name = (Span("    "), Span(f"{one.name:<10}", "id"), Span(f" {one.node}  ", "dim"))
                yield self._lane(one.key, (*name, Span(one.said, SIGNS[one.mark][1])), (one,), one.mark, head, line, window)

    def _lane(
        self, key: str, told: Line, members: tuple[Process, ...], mark: str, head: int, line: int, window: Window
    ) -> Row:
        """What is told of processes, and from when to when they spoke."""
        left = cut(told, head - 1)
        pad = Span(" " * (head - cells(plain(left))))
        begins, ends = [p.begin for p in members if p.begin is not None], [p.end for p in members if p.end is not None]
        return Row(key, (*left, pad, *(_bar(min(begins), max(ends), mark, line, window) if ends else ())))

    def _events(self, words: list[str]) -> Iterator[Row]:
        fits = [(n, e) for n, e in enumerate(self.made.events) if all(w in f"{e.text} {e.node}".casefold() for w in words)]
        if fits:
            yield Row("", BLANK)
            yield Row("", (Span(word("timeline", self.lang), "label"),))
        for number, event in fits:
            style = "error" if event.mark == "failed" else ""
            ahead = f"  ({event.ahead:+.1f} s)" if event.ahead else ""
            told = (Span(f"{event.time}  ", "dim"), Span(shown(event.text), style), Span(f"  {shown(event.node)}{ahead}", "dim"))
            yield Row(f"event:{number}", told)

    def moment(self, key: str) -> float:
        """When what a row is about came to its end: around it the time is zoomed."""
        kind, _, number = key.partition(":")
        if kind == "event":
            event: Event = self.made.events[int(number)]
            return event.at
        ends = [p.end for c in self.crowds for p in c.members if key in (p.key, c.key) and p.end is not None]
        return max(ends, default=self.whole)

    def peer(self, key: str) -> str:
        """The row of whom a process waits for; empty when it waits for nobody who is known."""
        waits = self.processes.get(key)
        members = next((c.members for c in self.crowds if c.key == key), ())
        about = waits.about if waits is not None else members[0].about if members else ""
        waiting = (waits or (members[0] if members else None)) is not None and bool(about)
        return next((p.key for p in self.processes.values() if p.name == about), "") if waiting else ""

    def home(self, key: str) -> str:
        """The group that a process is folded in; empty when it has a row of its own."""
        return next((c.key for c in self.crowds if len(c.members) > 1 and any(p.key == key for p in c.members)), "")

    def finding(self, key: str) -> str:
        """The entry that a row is about; empty when it is about none."""
        kind, _, number = key.partition(":")
        if kind == "event":
            code = str(self.job["timeline"][int(number)]["what"])
        else:
            process = self.processes.get(key)
            code = process.about if process is not None else ""
        return code if _CODE.fullmatch(code) else ""

    def headline(self) -> str:
        """Where it began and who waited, in sentences."""
        return "  ".join(self.made.told)

    def summary(self) -> str:
        return "  ".join(part for part in (self.made.head, self.made.clocks) if part)


def _bar(begin: float, end: float, mark: str, line: int, window: Window) -> tuple[Span, ...]:
    """The part of a life that is in the window; arrows where it goes on outside."""
    length = max(window.end - window.begin, SHORTEST)

    def cell(at: float) -> int:
        return round((at - window.begin) / length * (line - 1))

    if end < window.begin:
        return (Span("‹", "dim"),)
    if begin > window.end:
        return (Span(" " * (line - 1)), Span("›", "dim"))
    start, stop = max(0, cell(begin)), min(line - 1, cell(end))
    sign, style = SIGNS[mark] if cell(end) <= line - 1 else ("›", "dim")
    return (Span(" " * start), Span("─" * (stop - start), "dim"), Span(sign, style))


def _nodes(row: GridRow) -> str:
    name = shown(row.nodes[0])
    more = f" +{len(row.nodes) - 1}" if len(row.nodes) > 1 else ""
    return plain(cut((Span(name),), NODES - 1 - len(more))) + more


def _clock(at: float, length: float) -> str:
    """A moment of the job, `31:25` or `1:02:03`; to the tenth of a second where the line of time is short."""
    whole = round(at, 1) if length < EXACT else round(at)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(int(minutes), 60)
    told = f"{rest:04.1f}" if length < EXACT else f"{int(rest):02}"
    return f"{hours}:{minutes:02}:{told}" if hours else f"{minutes}:{told}"


def _text(one: Process, crowd: Crowd) -> str:
    return f"{one.name} {one.node} {one.said} {one.about} {crowd.said}".casefold()


def _moment(one: Json, name: str) -> float | None:
    return seconds(one[name]) - (one.get("ahead") or 0.0) if one.get(name) else None
