"""A report in so many tokens, for an assistant that cannot read the logs themselves: the most telling first, nothing unmarked.

The parts are made in the order of what they are worth and taken as long as the budget has room for them, in fewer words where
that is needed; they are written in the order in which one reads. Quotations stand behind `>`, each with its file and line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from doctor.answer.quotes import GAP, fitted
from doctor.base import notation
from doctor.base.tokens import tokens
from doctor.base.words import word
from doctor.render import parts
from doctor.render.compose import Answer, Finding, Missing, answer
from doctor.render.document import Bullet, Code, Command, Decoded, Document, Fix, FixPart, Link, Prose, Reference
from parsers.named import NamedTuple

Json = dict[str, Any]
SMALLEST = 300  # tokens in which a verdict and the line that decides have room
USUAL = 2000
LARGEST = 200_000
_ROOMY = 500  # below that, every token of the line that decides counts
_RESERVE = 45  # tokens of the line that tells what was left out
_WIDTHS = (1200, 500, 240, 100)  # letters of a quotation
_BESIDE = 20  # findings, lines and reasons of one kind that are looked at

# In which order the parts stand.
(_VERDICT, _LINE, _JOB, _WHY, _FIX, _ROOTS, _UNKNOWN, _CHAIN, _RULED_OUT, _NOT_KNOWN, _NEXT) = range(11)


class Part(NamedTuple):
    """Something to tell: where it stands, and its wordings, the longest first."""

    place: int
    texts: tuple[str, ...]


def render(report: Json, lang: str, budget: int = USUAL) -> str:
    """The brief. Of the same report and budget it is the same letter by letter."""
    head = _head(report, lang)
    told = list(_parts(report, lang, budget < _ROOMY))
    taken, left = _chosen(told, budget - tokens(head) - 1)
    if left:
        taken, left = _chosen(told, budget - tokens(head) - 1 - _RESERVE)
    body = "\n".join(text for _, _, text in sorted(taken))
    return f"{head}\n{body}\n" + (_left_out(left, told, head, lang) if left else "")


def _chosen(told: Sequence[Part], room: int) -> tuple[list[tuple[int, int, str]], int]:
    """What there is room for, and how many parts there is none for."""
    taken: list[tuple[int, int, str]] = []
    left = 0
    for number, part in enumerate(told):
        for text in part.texts:
            cost = tokens(text) + 1
            if cost <= room:
                taken.append((part.place, number, text))
                room -= cost
                break
        else:
            left += 1
    return taken, left


def _left_out(left: int, told: Iterable[Part], head: str, lang: str) -> str:
    whole = tokens(head) + sum(tokens(part.texts[0]) + 1 for part in told) + 1
    what = word("brief.part", lang) if left == 1 else word("brief.parts", lang, n=left)
    return word("brief.left-out", lang, what=what, tokens=-(-whole // 100) * 100) + "\n"


def _head(report: Json, lang: str) -> str:
    """What this is, and how to take it."""
    made = word("brief.pseudonyms" if "redacted" in report else "brief.exact", lang)
    tool = f"{word('brief.head', lang)} ({report['tool']['version']}, {report['knowledge']['digest']})"
    return f"# {tool}\n{word('brief.data', lang)} {made} {word('brief.gap', lang)}"


def _parts(report: Json, lang: str, tight: bool) -> Iterator[Part]:
    """Everything there is to tell, what is worth most first; where room is `tight`, the title of the verdict waits for the line that decides."""
    made = answer(report, lang)
    told = _Telling(report, made, lang)
    whole = told.verdict()
    yield whole._replace(texts=whole.texts[-1:]) if tight else whole
    yield from told.decisive()
    if tight and len(whole.texts) > 1:
        yield whole._replace(texts=whole.texts[:-1])
    yield from told.situation()
    causes = made.causes if made.decisive is None else ()
    if causes:
        yield from told.cause(causes[0])
        yield from told.fixes(causes[0], 1)
    yield from told.job()
    if causes:
        yield from told.why(causes[0])
    others = made.causes[1:] if causes else made.causes
    yield from told.further([one for one in others if one.severity != "info"])
    yield from told.unknown(2)
    yield from told.missing(made.missing)
    if causes:
        yield from told.chain(causes[0])
        yield from told.fixes(causes[0], None)
        yield from told.evidence(causes[0])
    yield from told.next(causes)
    yield from told.further([one for one in others if one.severity == "info"])
    yield from told.ruled_out()
    yield from told.skipped()
    yield from told.unknown(None)
    for cause in made.causes[0 if not causes else 1 :]:
        yield from told.cause(cause)
        yield from told.fixes(cause, None)
        yield from told.evidence(cause)
    if causes:
        yield from told.references(causes[0])


class _Telling:
    """One report in one language."""

    def __init__(self, report: Json, made: Answer, lang: str) -> None:
        self.report, self.made, self.lang = report, made, lang
        self._found = {f["id"]: f for f in report["findings"]}
        self._told: Counter[str] = Counter()  # fixes and errors that were told already
        self._quoted: set[tuple[str, int]] = set()

    def _labelled(self, name: str, text: str) -> str:
        return f"{word(name, self.lang)}: {' '.join(text.split())}"

    # what went wrong

    def verdict(self) -> Part:
        causes = self.made.causes if self.made.decisive is None else ()
        if not causes:
            told = word("decisive-told" if self.made.decisive is not None else self.made.verdict, self.lang)
            return Part(_VERDICT, (self._labelled("brief.verdict", f"{told} ({self.made.read})"),))
        first = causes[0]
        named = f"{first.tag} {first.code} {first.title} ({first.confidence} {first.sure})"
        where = f"; {first.where}" if first.where else ""
        return Part(_VERDICT, (self._labelled("brief.verdict", named + where), self._labelled("brief.verdict", named), f"{first.tag} {first.code}"))

    def situation(self) -> Iterator[Part]:
        if self.made.situation:
            yield Part(_VERDICT, (self._labelled("brief.on", self.made.situation),))
        if self.made.decision is not None:
            short = self.made.decision.text.partition(": ")[0]
            yield Part(_VERDICT, tuple(f"{self.made.decision.label}: {text}" for text in (self.made.decision.text, short)))

    def decisive(self) -> Iterator[Part]:
        """The line that decides: of what nobody knows the one nearest to the origin, else the first of the root."""
        one = self.report["decisive"]
        if one is not None and self.made.decisive is not None:
            yield self._quote(_LINE, "brief.line", one["evidence"], notation.times(one["count"]))
            yield from self._codes(_LINE, self.made.decisive)
            return
        roots = parts.roots(self.report)
        if roots and roots[0]["evidence"]:
            yield self._quote(_LINE, "brief.line", shown(roots[0]), notation.times(roots[0]["count"]))

    def why(self, found: Finding) -> Iterator[Part]:
        why = [b.text for b in found.document.section("why").blocks if isinstance(b, Prose)]
        yield from (Part(_WHY, (self._labelled("why", text),)) for text in why)
        if found.against:
            yield Part(_NOT_KNOWN, (self._labelled("against", ("；" if self.lang == "zh" else "; ").join(found.against)),))

    def cause(self, found: Finding) -> Iterator[Part]:
        """All of what an entry says; of what is no first root, with its code."""
        if self._once(f"cause {found.code}"):
            label = f"{found.code} {word('cause', self.lang)}"
            for block in found.document.section("cause").blocks:
                if isinstance(block, Prose):
                    yield Part(_WHY, tuple(f"{label}: {' '.join(t.split())}" for t in (block.text, found.reason)))

    def job(self) -> Iterator[Part]:
        if self.made.job is not None:
            yield Part(_JOB, (self.made.job.head,))
            yield from (Part(_JOB, (f"- {told}",)) for told in self.made.job.told[:_BESIDE])
            yield from (Part(_JOB, (f"- {one.said}: {one.ranks}",)) for one in self.made.job.groups[:_BESIDE])
            if self.made.job.clocks:
                yield Part(_JOB, (self.made.job.clocks,))

    # the way out

    def fixes(self, found: Finding, most: int | None) -> Iterator[Part]:
        """The one to try first, then the others in their order."""
        first = [found.first] if found.first is not None else []
        for fix in [*first, *(f for f in found.document.fixes if f is not found.first)][:most]:
            if self._once(f"fix {found.code} {fix.title}"):
                head = f"{word('fix', self.lang)} ({found.code}): {fix.title} {fix.aside}"
                rows = [head, *(row for part in fix.parts for row in self._step(part))]
                yield Part(_FIX, ("\n".join(rows), "\n".join([head, *_commands(fix)]), head))

    def _step(self, part: FixPart) -> Iterator[str]:
        if isinstance(part, Bullet):
            yield f"- {part.text}"
        elif isinstance(part, Command):
            label = f"{word('undo', self.lang)}: " if part.undo else ""
            notes = f"    # {'; '.join(part.notes)}" if part.notes else ""
            yield f"$ {label}{part.run}{notes}" if not part.undo else f"  {label}{part.run}"
        elif isinstance(part, Code):
            yield from (f"    {row}" for row in ([f"# {part.note}"] if part.note else []) + part.text.split("\n"))

    def missing(self, found: Sequence[Missing]) -> Iterator[Part]:
        for one in found[:_BESIDE]:
            notes = f"    # {'; '.join(one.how.notes)}" if one.how.notes else ""
            yield Part(_NOT_KNOWN, (f"{self._labelled('brief.to-get', one.what)}\n$ {one.how.run}{notes}", self._labelled("brief.to-get", one.what)))

    def next(self, causes: Sequence[Finding]) -> Iterator[Part]:
        rows = [word("brief.next-explain", self.lang, code=causes[0].code)] if causes else []
        if causes and self._found[causes[0].code]["repro"]:
            rows.append(word("brief.next-repro", self.lang, code=causes[0].code))
        rows += [word("brief.next-scan", self.lang), word("brief.next-env", self.lang)]
        yield Part(_NEXT, ("\n".join([f"{word('brief.next', self.lang)}:", *(f"$ {row}" for row in rows)]), f"{word('brief.next', self.lang)}: {rows[0]}"))

    # what else was printed

    def further(self, found: Sequence[Finding]) -> Iterator[Part]:
        for one in found[:_BESIDE]:
            named = f"{word('brief.more-roots', self.lang)}: {one.tag} {one.code} {one.title} ({one.confidence} {one.sure})"
            evidence = self._found[one.code]["evidence"]
            rows = (self._rows(shown(self._found[one.code]), width) for width in _WIDTHS) if evidence else ()
            yield Part(_ROOTS, (*(f"{named}\n{row}" for row in rows), named))

    def chain(self, found: Finding) -> Iterator[Part]:
        """What only happened because of it."""
        links = [b for b in found.document.section("explains").blocks if isinstance(b, Link)]
        codes = ", ".join(f"{b.target.id} {b.aside}" for b in links)
        if links:
            yield Part(_CHAIN, (self._labelled("explains", f"{found.code} -> {codes}"),))
        for link in links[:_BESIDE]:
            one = self._found[link.target.id]
            told = f"{word('brief.ruled-out', self.lang)}: {link.target.id} {link.text}: {word('brief.follows', self.lang, code=found.code)}"
            rows = (self._rows(shown(one), width) for width in _WIDTHS[2:]) if one["evidence"] else ()
            yield Part(_RULED_OUT, (*(f"{told}\n{row}" for row in rows), told))

    def ruled_out(self) -> Iterator[Part]:
        """What looks bad and is not: of another time, harmless."""
        label = word("brief.ruled-out", self.lang)
        for one in self.made.context[:_BESIDE]:
            yield Part(_RULED_OUT, (f"{label}: {one.code} {one.title}: {one.note}",))
        for one in self.made.noise[:_BESIDE]:
            yield Part(_RULED_OUT, (f"{label}: {one.code} {one.title} ({word('brief.harmless', self.lang)}, {one.times})",))

    def unknown(self, most: int | None) -> Iterator[Part]:
        """Errors that no entry knows, the first ones first."""
        for one, shape in list(zip(self.report["unexplained"], self.made.unexplained, strict=True))[:most]:
            if self._place(one["evidence"]) not in self._quoted:
                yield self._quote(_UNKNOWN, "brief.nobody-knows", one["evidence"], notation.times(one["count"]))
                yield from self._codes(_UNKNOWN, shape)

    def skipped(self) -> Iterator[Part]:
        for one in self.made.skipped[:_BESIDE]:
            yield Part(_NOT_KNOWN, (f"{word('skipped', self.lang)}: {one.label}: {one.text}",))

    def evidence(self, found: Finding) -> Iterator[Part]:
        for one in self._found[found.code]["evidence"]:
            if self._place(one) not in self._quoted:
                yield self._quote(_LINE, "brief.also", one, "")

    def references(self, found: Finding) -> Iterator[Part]:
        for one in found.document.section("refs").blocks:
            if isinstance(one, Reference):
                yield Part(_NEXT, (self._labelled("refs", f"{one.title} {one.url}"),))

    def _codes(self, place: int, one: Document) -> Iterator[Part]:
        for block in one.section("codes").blocks:
            if isinstance(block, Decoded):
                yield Part(place, (self._labelled("brief.code", block.told),))

    # quotations

    def _quote(self, place: int, label: str, one: Json, times: str) -> Part:
        self._quoted.add(self._place(one))
        often = f" ({times})" if times not in ("", notation.times(1)) else ""
        return Part(place, tuple(f"{word(label, self.lang)}{often}: {self._rows(one, width)}" for width in _WIDTHS))

    def _rows(self, one: Json, width: int) -> str:
        """Where it stands, and behind the mark what stands there; of an exception also where it was raised."""
        told = "" if one.get("exact") else f" ({word('brief.not-compared', self.lang)})"
        frame = one["text"].split("\n")[0].strip()
        raised = f"\n{word('brief.raised', self.lang)}: {frame[:width]}" if one["text"].startswith('  File "') and width > _WIDTHS[-1] else ""
        return f"{notation.place(one['path'], one['line'])}{told}\n> {fitted(one.get('quote') or GAP, one.get('matched') or '', width)}{raised}"

    def _place(self, one: Json) -> tuple[str, int]:
        return one["path"], one["line"]

    def _once(self, what: str) -> bool:
        self._told[what] += 1
        return self._told[what] == 1


def shown(finding: Json) -> Json:
    """The evidence to show first: the first that took part in the decision."""
    found: Json = next((e for e in finding["evidence"] if e.get("matched")), finding["evidence"][0])
    return found


def _commands(fix: Fix) -> list[str]:
    return [f"$ {p.run}" for p in fix.parts if isinstance(p, Command) and not p.undo]
