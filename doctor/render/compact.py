"""The answer on one screen: what, where, why and what speaks against it, one line of evidence, the first fix, what to do next.

What is left out is counted, with the option that shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from doctor.base import notation
from doctor.base.words import word
from doctor.render import lights, timeline
from doctor.render.alternative import behind_or
from doctor.render.call import Call
from doctor.render.compose import Answer, Finding, Missing, answer
from doctor.render.document import (
    Bullet,
    Code,
    Command,
    Decoded,
    Document,
    Evidence,
    Fix,
    FixPart,
    Job,
    Link,
    Pair,
    Prose,
)
from doctor.render.excerpt import Excerpt, excerpt, foremost, passage
from doctor.render.layout import HELD, SMALL, Style, cells, cut, dotted, linked, paint, rows_of, wrap
from doctor.render.room import ROOMS, SMALL_ROOMS, Room
from doctor.render.shorter import shorter
from doctor.render.terminal import LABEL, command, headline, labelled, remark

Json = dict[str, Any]
FURTHER = 4  # roots after the first
CLUSTERS = 3  # errors that nobody knows, where no root is
ONE, MANY = 4, 2  # rows of the screen that an answer with one root leaves, and one about a job: the narration and the prompt have room beneath
HARMLESS = 2  # that only look like faults, where there is none
SENTENCES = 2  # about a job
LINES = (6, 16)  # of code, on a small screen and on a large one


def render(report: Json, lang: str, style: Style, call: Call, times: bool = False) -> str:
    """The whole answer, on one screen; beneath it the line of time of a job when it is asked for."""
    made = answer(report, lang)
    told = _fitting(made, lang, style, call)
    if not times or made.job is None:
        return told
    return told + "\n" + "".join(f"{row}\n" for row in timeline.timeline(made.job, lang, style))


def _fitting(made: Answer, lang: str, style: Style, call: Call) -> str:
    told = ""
    for room in ROOMS if style.rows > SMALL else SMALL_ROOMS:
        told = "".join(f"{row}\n" for row in _Compact(lang, style, call, room).lines(made))
        if rows_of(told, style.width) <= style.rows - (MANY if made.job is not None else ONE):
            break
    return told


def quiet(report: Json, lang: str) -> str:
    """One line a root, as compilers write them: `plog-7.log:12: ERROR RTS001 title (rank 3, 95%)`."""
    return "".join(f"{row}\n" for row in _quiet(answer(report, lang), lang))


def _quiet(made: Answer, lang: str) -> Iterator[str]:
    if made.decisive is not None:
        for one in made.decisive.evidence:
            yield f"{notation.place(one.path, one.line)}: {made.decisive.code} {' '.join(one.text.split())}"
    for found in made.causes:
        first = foremost(found.document)
        place = f"{notation.place(first.path, first.line)}: " if first else ""
        told = f"{found.where.partition(', 2')[0]}, " if found.where and not found.where.startswith("2") else ""
        yield f"{place}{found.tag} {found.code} {found.title} ({told}{found.confidence})"
    if made.decisive is None and not made.causes:
        told = f" {word('more:unknowns', lang, n=made.unexplained_times)}" if made.unexplained else ""
        yield f"{made.told}{told}"


class _Compact:
    """In which words, how wide, and how it was called."""

    def __init__(self, lang: str, style: Style, call: Call, room: Room) -> None:
        self.lang, self.style, self.call, self.room = lang, style, call, room
        self.steps = 0  # of the fix, that are not shown
        self.ways = 0  # other fixes that are
        self.looked = False  # is what to look at first shown?

    def lines(self, made: Answer) -> Iterator[str]:
        if made.told and made.decisive is None:
            yield paint(made.told, "good" if made.verdict == "clean" else "warning", self.style)
        yield from self._labelled("why", made.hint)
        if not made.causes and not made.machine:
            yield from self._labelled("was-read", made.read)
        if made.decisive is not None:
            yield from self._decisive(made.decisive, made)
        elif made.situation and not made.causes:
            yield from self._on(made)
        causes = made.causes if made.decisive is None else ()
        if causes:
            yield from self._first(causes[0], made)
            yield from self._further(made.causes[1:], causes[0].where)
        else:
            if made.job is not None:
                yield from self._job(made.job)
            yield from self._unknown(made)
            yield from self._further(made.causes)
            if made.verdict == "clean":
                yield from self._harmless(made.noise[:HARMLESS])
            yield from self._missing(made.missing)
        if made.machine:
            yield from lights.short(made.lights, self.lang, self.style) if causes else lights.table(made.lights, self.style)
        yield from self._more(made)
        yield from self._next(made)

    def _labelled(self, name: str, text: str, most: int | None = None, role: str | None = None) -> Iterator[str]:
        if text:
            yield from self._few(labelled(word(name, self.lang), text, self.style, role), most)

    def _few(self, rows: Iterable[str], most: int | None) -> Iterator[str]:
        """At most so many lines; the last one ends in dots when more was there."""
        found = list(rows)
        if most is not None and len(found) > most:
            found = [*found[: most - 1], dotted(found[most - 1], self.style.width)]
        yield from found

    def _holds(self, reason: str) -> bool:
        """Is there room for all of why?"""
        return len(list(labelled(word("reason", self.lang), reason, self.style))) <= self.room.why

    def _on(self, made: Answer) -> Iterator[str]:
        """In one row; in two where releases stand in it that do not go together."""
        if made.situation and self.room.rest:
            rows = list(labelled(word("on", self.lang), made.situation, self.style)) if made.unfit else []
            yield from self._few(rows or labelled(word("on", self.lang), cut(made.situation, self.style.width - LABEL - 1), self.style), 2)

    def _first(self, found: Finding, made: Answer) -> Iterator[str]:
        yield from headline(found, self.style, self.room.title)
        yield from self._on(made)
        yield from self._labelled("where", found.where, 2)
        if made.job is not None:
            yield from self._job(made.job)
        beside = found.note if made.job is None else ""  # what the whole job says for it is drawn above
        told = word("semicolon", self.lang).join(filter(None, (beside, _whole(found) if self.room.whole else found.reason)))
        yield from self._labelled("reason", shorter(told, self._holds), self.room.why)
        yield from self._labelled("against", word("semicolon", self.lang).join(found.against), self.room.against)
        if (one := foremost(found.document)) is not None:
            yield from self._evidence(one, found)
        yield from self._labelled("caller", found.caller, self.room.caller)
        yield from self._labelled("action", found.action, 1)
        self.looked = looked = found.check is not None and self.room.check
        if found.check is not None and looked:
            yield from self._check(found.check)
        if found.first is not None:
            yield from self._fix(found.first, alone=not looked or self.room.fix)
        yield from self._others(found)

    def _others(self, found: Finding) -> Iterator[str]:
        """What else could be done; where nothing of the first fix can be pasted, the first other one of which something can."""
        first, others = found.first, found.others
        instead = next((fix for fix in others if fix.pasted), None) if self.room.instead and first is not None and not first.pasted else None
        ways = others[: self.room.ways]
        if instead is not None and instead not in ways:
            ways = (instead, *ways[:-1])
        for fix in ways:
            yield from self._way(fix)
        self.ways = len(ways)
        rest = [fix for fix in others if fix not in ways]
        if self.room.whole:  # and what the logs leave open
            told_already = [fix.parts for fix in (first, found.check, *others) if fix is not None]
            rest += [fix for fix in found.document.fixes if fix.parts not in told_already]
        told = word("semicolon", self.lang).join(behind_or(fix.title) for fix in rest)
        if self.room.others:
            yield from self._labelled("or", told, self.room.others, "dim")

    def _way(self, fix: Fix) -> Iterator[str]:
        """Another fix, with the first thing of it that can be pasted, else with what to do in a sentence."""
        yield from self._few(labelled(word("or", self.lang), _told(fix), self.style), 2)
        if fix.pasted:
            at = fix.parts.index(fix.pasted[0])
            undo = next((p for p in fix.parts[at + 1 : at + 2] if _undoes(p)), None)
            yield from self._part(fix.parts[at], undo)
        elif self.room.whole:
            yield from self._part(fix.parts[0]) if fix.parts else ()

    def _check(self, fix: Fix) -> Iterator[str]:
        """What to look at, and how."""
        yield from self._few(labelled(word("check", self.lang), fix.title, self.style), 1)
        look = next((part for part in fix.parts if isinstance(part, Command | Code)), None)
        if look is not None:
            yield from self._part(look._replace(notes=()) if isinstance(look, Command) else look)

    def _job(self, job: Job) -> Iterator[str]:
        for number, told in enumerate(job.told[:SENTENCES]):
            yield from self._few(labelled(word("of-job", self.lang) if not number else "", told, self.style), 2)
        if sum(len(row.seats) for row in job.grid.rows if row.nodes != ("?",)) > 2:
            yield from timeline.grid(job.grid, self.lang, self.style, self.room.nodes, " " * (LABEL + 1))

    def _evidence(self, one: Evidence, found: Finding | None = None) -> Iterator[str]:
        """Where it stands, the part of the line that matched, and the mark."""
        style, label = self.style, word("evidence", self.lang)
        place, indent = notation.place(one.path, one.line), " " * (LABEL + 1)
        head = f"  {paint(label, 'label', style)}{' ' * max(1, LABEL - 1 - cells(label))}{linked(place, one.path, style)}"
        whole = passage(one, style.width - LABEL - 1, 4 if self.room.whole else 2)
        made = Excerpt(f"\n{indent}".join(whole), 0, 0) if whole else excerpt(one, style.width - LABEL - 1)
        marks = f"{' ' * made.at}{paint('^' * made.size, found.severity if found else 'error', style)}" if made.size else ""
        often = self._often(found)
        room = (style.width - LABEL - 1 - cells(place), style.width - LABEL - 1 - made.at - made.size if marks else 0)
        beside = [often and (cells(often) <= space or space < 0) for space in room]  # a path that runs over takes it along
        yield head + (paint(often, "dim", style) if beside[0] else "")
        yield f"{indent}{made.text}"
        if marks:
            yield f"{indent}{marks}{paint(often, 'dim', style) if beside[1] and not beside[0] else ''}"
        if often and not any(beside):
            yield f"{indent}{paint(often.strip(), 'dim', style)}"

    def _often(self, found: Finding | None) -> str:
        """How often it was seen, and when last where that was not at once: `  x412, last 09:45:37`."""
        if found is None or found.seen < 2:
            return ""
        day, _, time = found.until.partition(" ")
        if not found.until or f"{day} {time[:8]}" in found.where:
            return f"  {found.times}"
        last = f"{time[:8]}" if day in found.where else f"{day} {time[:8]}"
        return f"  {found.times}{word('comma', self.lang)}{word('last', self.lang)} {last}"

    def _fix(self, fix: Fix, alone: bool) -> Iterator[str]:
        """Its title with goal and risk, then what can be pasted, each with how to take it back, as far as there is room.

        Beside a look that can be pasted, sentences may have to wait for -v. A look at the beginning of the fix takes
        no room from what mends.
        """
        yield from self._few(labelled(word("fix", self.lang), _told(fix), self.style), 2)
        used = shown = 0
        looked = True
        parts: list[FixPart] = [p for p in fix.parts if not isinstance(p, Bullet) and not (isinstance(p, Code) and p.old)]
        parts = parts or (list(fix.parts) if alone else [])
        if self.room.whole and len([row for part in fix.parts for row in self._part(part)]) <= self.room.steps:
            parts = [p for p in fix.parts if not (isinstance(p, Code) and p.old)]
        while parts:
            part, undo = parts[0], parts[1] if len(parts) > 1 and _undoes(parts[1]) else None
            rows = list(self._part(part, undo))
            if not looked and used + len(rows) > self.room.steps:
                break
            looked = looked and isinstance(part, Command) and part.looks
            used, shown, parts = used + len(rows), shown + 1 + (undo is not None), parts[1 + (undo is not None) :]
            yield from rows
        self.steps = sum(not (isinstance(p, Code) and p.old) for p in fix.parts) - shown

    def _part(self, part: FixPart, undo: FixPart | None = None) -> Iterator[str]:
        indent, style = " " * (LABEL + 3), self.style
        if isinstance(part, Command):
            back = f"    # {word('undo', self.lang)}: {undo.run}" if isinstance(undo, Command) else ""
            if back and cells(indent + part.run + back) <= style.width and "\n" not in part.run + back:
                yield from self._few(remark(part.notes, style, LABEL + 3), self.room.notes)
                yield f"{indent}{paint(part.run, 'code', style)}{paint(back, 'dim', style)}"
                return
            yield from self._noted(part)
            if isinstance(undo, Command):
                yield from command(undo, self.lang, style, LABEL + 3)
        elif isinstance(part, Bullet):
            yield from self._few(labelled("", part.text, style), min(3, self.room.steps))
        else:
            rows, most = part.text.split("\n"), LINES[self.room.whole]
            yield from (f"{indent}{paint(row, 'dim' if part.old else 'code', style)}" for row in rows[:most])
            if len(rows) > most:
                yield f"{indent}... {word('lines-more', self.lang, n=len(rows) - most)}: -v"

    def _noted(self, part: Command) -> Iterator[str]:
        """A command with a few lines of what to know before."""
        rows, lines = list(command(part, self.lang, self.style, LABEL + 3)), len(part.run.split("\n"))
        yield from self._few(rows[: len(rows) - lines], self.room.notes)
        yield from rows[len(rows) - lines :]

    def _further(self, found: tuple[Finding, ...], said: str = "") -> Iterator[str]:
        """The roots after the first; where they were is told when it is not where the first was."""
        for one in found[:FURTHER]:
            if one.severity == "info":
                yield cut(f"{one.tag}  {one.code}  {one.title}", self.style.width)
                continue
            if self.room.apart:
                yield ""
            yield from headline(one, self.style, self.room.further)
            if one.where != said:
                yield from self._labelled("where", one.where, 1)
            if self.room.also:
                yield from self._labelled("reason", _whole(one), self.room.also)
            if one.first is not None:
                yield from self._few(labelled(word("fix", self.lang), _told(one.first), self.style), 2 if self.room.also else 1)
                run = next((p for p in one.first.parts if isinstance(p, Command)), None)
                if run is not None and self.room.rest:
                    yield from command(run._replace(notes=()), self.lang, self.style, LABEL + 3)
        if len(found) > FURTHER:
            yield paint(f"... {self._count('cause', len(found) - FURTHER)}: --all", "bold", self.style)

    def _harmless(self, found: tuple[Finding, ...]) -> Iterator[str]:
        """Where nothing is wrong, what only looks so is the answer to whoever asks."""
        for one in found:
            yield cut(f"{one.tag}  {one.code}  {one.title}", self.style.width)
            if one is found[0]:
                yield from self._labelled("reason", shorter(one.reason, self._holds), self.room.why)

    def _decisive(self, one: Document, made: Answer) -> Iterator[str]:
        head = cells(one.code) + 2
        rows = wrap(one.title, self.style.width - head)
        yield paint(one.code, "error", self.style) + "  " + ("\n" + " " * head).join(paint(r, "bold", self.style) for r in rows)
        yield from self._on(made)
        for found in one.evidence[:1]:
            yield from self._evidence(found)
        for pair in one.section("caller").blocks:
            if isinstance(pair, Pair):
                yield from self._labelled("caller", pair.text, self.room.caller)
        yield from self._about(one)
        for section in (one.section("nearest"), one.section("in-general")):
            told = ", ".join(f"{b.target.id} {b.text}" for b in section.blocks[:1] if isinstance(b, Link))
            yield from self._few(labelled("", f"{section.label}: {told}", self.style) if told else (), 2)

    def _about(self, one: Document) -> Iterator[str]:
        for block in one.section("codes").blocks[:2]:
            if isinstance(block, Decoded):
                yield from self._few(labelled("", block.told, self.style), 2)

    def _unknown(self, made: Answer) -> Iterator[str]:
        """The errors that nobody knows, the first of each kind."""
        told = made.decisive.evidence if made.decisive is not None else ()
        found = [c for c in made.unexplained if c.evidence != told]
        for cluster in found[: CLUSTERS if made.decisive is None else 1]:
            for one in cluster.evidence[:1]:
                yield from labelled(word("evidence", self.lang), f"{notation.place(one.path, one.line)}  {cluster.code}", self.style)
                yield " " * (LABEL + 1) + excerpt(one, self.style.width - LABEL - 1).text
            yield from self._about(cluster)
            near = cluster.section("nearest")
            links = ", ".join(f"{b.target.id} {b.text}" for b in near.blocks[:1] if isinstance(b, Link))
            if links and cluster is found[0] and made.decisive is None:
                yield from self._few(labelled("", f"{near.label}: {links}", self.style), 2)

    def _missing(self, found: tuple[Missing, ...]) -> Iterator[str]:
        for need in found[:1]:
            yield from self._labelled("need", need.what, 2)
            yield from command(need.how, self.lang, self.style, LABEL + 3)

    def _more(self, made: Answer) -> Iterator[str]:
        """What was left out, counted, with the option that shows it."""
        first = made.causes[0] if made.causes and made.decisive is None else None
        unknown = made.unexplained_times if first else max(0, len(made.unexplained) - CLUSTERS)
        counts = (
            ("step", self.steps),
            ("fix", len(first.document.fixes) - 1 - self.ways - self.looked if first else 0),
            ("symptom", made.symptoms),
            ("unknown", unknown),
            ("context", len(made.context)),
            ("noise", len(made.noise) - (HARMLESS if made.verdict == "clean" and not made.causes else 0)),
            ("missing", len(made.missing) if first else len(made.missing) - 1),
            ("light", 0 if made.machine else len(made.lights)),
            ("skip", len(made.skipped)),
        )
        told = [self._count(name, n) for name, n in counts if n > 0]
        rows: list[str] = []
        while told:
            counted = word("comma", self.lang).join(told) + word("colon", self.lang)
            rows = list(labelled(word("and-more", self.lang), f"{counted}-v", self.style))
            if len(rows) <= self.room.counts:
                break
            told.pop()
        yield from rows

    def _count(self, name: str, number: int) -> str:
        if number == 1:
            return word(f"more:{name}", self.lang)
        return word(f"more:{name}{'es' if name == 'fix' else 's'}", self.lang, n=number)

    def _next(self, made: Answer) -> Iterator[str]:
        """One command to paste."""
        call, first = self.call, made.causes[0] if made.causes and made.decisive is None else None
        if first is not None or (made.decisive is None and not made.unexplained):
            proposed = call.browse() or (f"npu-doctor explain {first.code}" if first else "")
        else:
            proposed = call.with_paths("issue", "-o", "issue.md")
        if proposed:
            yield f"{paint(word('next', self.lang) + ':', 'label', self.style)} {paint(proposed, 'code', self.style)}"


def _whole(found: Finding) -> str:
    """All that is said of the cause."""
    return " ".join(b.text for b in found.document.section("cause").blocks if isinstance(b, Prose))


def _told(fix: Fix) -> str:
    """The title of a fix with its goal and risk, which stay on one line; the label says "or"."""
    return f"{behind_or(fix.title)} {fix.aside.replace(' ', HELD)}"


def _undoes(part: FixPart) -> bool:
    return isinstance(part, Command) and part.undo
