"""The report as rows and cards: findings with their symptoms beneath, what is unexplained, what is missing. No terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from doctor.base import notation
from doctor.base.words import word
from doctor.render import compose, parts
from doctor.render.document import Document, Pair, Prose, Section, pasted
from doctor.render.fixes import fixes as made_fixes
from doctor.render.layout import cells, wrap
from doctor.tui.shell.doc import HITS, Doc
from doctor.tui.shell.line import BLANK, GLYPHS, Line, Row, Span, cut, folded, plain, shown, width

Json = dict[str, Any]


ABOUT_OTHERS = ("explains", "explained_by")  # sections that name other rows
ONE_LINE = 60  # cells from which on a row has room for its title beside code and severity
FAULTS = "faults:"
MAX_FAULTS = 50
MAX_TITLE = 2  # lines of a title that stands beneath its code


def rows(report: Json, lang: str, opened: frozenset[str], room: int = 80, wanted: str = "") -> list[Row]:
    """The list, for that many cells. Symptoms stand beneath their cause, folded away unless their cause is in `opened`.

    `wanted`: only rows of which the words of a search tell something; of these none is folded.
    """
    words = wanted.casefold().split()
    if not words:
        return list(_Rows(report, lang, room).rows(opened))
    made = list(_Rows(report, lang, room).rows(frozenset(f"finding:{f['id']}" for f in report["findings"])))
    fits = {key for key in dict.fromkeys(row.key for row in made) if key and _tells(report, key, lang, words)}
    return [row for row in made if (row.key or row.of) in fits]


def _tells(report: Json, key: str, lang: str, words: list[str]) -> bool:
    """Do all the words stand in what a row is about: its title, its cause, its fixes, its lines?"""
    made = card(report, key, lang, str)
    own = [d._replace(sections=tuple(s for s in d.sections if s.name not in ABOUT_OTHERS)) for d in made.documents]
    text = Doc(key, lang, own).markdown().casefold()
    return all(word in text for word in words)


class _Rows:
    """Makes rows of a report for lists of one width."""

    def __init__(self, report: Json, lang: str, room: int) -> None:
        self.report, self.lang, self.room = report, lang, room

    def rows(self, opened: frozenset[str]) -> Iterator[Row]:
        report, lang = self.report, self.lang
        if report["verdict"] != "findings":
            style = "good" if report["verdict"] == "clean" else "warning"
            yield from (Row("", line) for line in folded(word(report["verdict"], lang), self.room, style))
        if (line := _decisive(report)) is not None:
            head = (Span("  ? "), Span(word("decisive", lang), "error"))
            yield from self._row(f"cluster:{line}", head, notation.message(report["decisive"]["evidence"]["text"]), "title")
        yield from self._causes(opened)
        yield from self._unexplained()
        for name, beside in (("context", parts.context(report)), ("noise", parts.noise(report))):
            if beside:
                yield from _heading(word(name, lang))
                for one in beside:
                    yield self._below(one, "  ", "dim")
        if report["missing_evidence"]:
            yield from _heading(word("missing", lang))
            for number, one in enumerate(report["missing_evidence"]):
                yield from self._row(f"missing:{number}", (Span("  -"),), one["what"][lang], beside=True)
        if report["skipped"]:
            yield Row("", BLANK)
            yield Row("skipped:", (Span(f"{word('skipped', lang)} ({len(report['skipped'])})", "label"),))

    def _row(
        self, key: str, head: Line, title: str, style: str = "", right: Line = BLANK, beside: bool = False
    ) -> Iterator[Row]:
        """Head and title on one line where there is room, else the title beneath; `beside`: a head of one sign never is alone."""
        said = Span(shown(title), style)
        if self.room >= ONE_LINE:
            yield Row(key, (*head, Span(" "), said), right)
            return
        pad = width(head) + 1 if beside else 4
        lines = wrap(said.text, max(8, self.room - pad))
        if len(lines) > MAX_TITLE:
            lines[MAX_TITLE - 1 :] = [" ".join(lines[MAX_TITLE - 1 :])]
        kept = [cut((Span(line, style),), self.room - pad) for line in lines]
        yield Row(key, (*head, Span(" "), *kept[0]) if beside else head, right)
        yield from (Row("", (Span(" " * pad), *line), BLANK, key) for line in (kept[1:] if beside else kept))

    def _below(self, finding: Json, indent: str, style: str) -> Row:
        """A finding that is no cause: a symptom, or something harmless."""
        mark = Span(indent, "dim" if indent.strip() else "")
        left = (mark, Span(f"{finding['id']} ", "id"), Span(_title(finding, self.lang), style))
        return Row(f"finding:{finding['id']}", left, (Span(f" {notation.times(finding['count'])}", "dim"),))

    def _causes(self, opened: frozenset[str]) -> Iterator[Row]:
        """The roots, with their symptoms folded beneath."""
        lang = self.lang
        found = [f for f in self.report["findings"] if f["kind"] != "noise"]
        for root in parts.roots(self.report):
            below = [f for f in found if _top(f, found) == root["id"] and f is not root]
            key, severity = f"finding:{root['id']}", root["severity"]
            fold = "▾ " if key in opened else "▸ " if below else "  "
            head = (
                Span(fold, "dim"),
                Span(f"{GLYPHS[severity]} {word(severity, lang)}", severity),
                Span(f" {root['id']}", "id"),
            )
            share = (Span(f" {notation.share(root['confidence'])}", "dim"),)
            yield from self._row(key, head, _title(root, lang), "title", share)
            if below and key not in opened:
                text = word("symptom" if len(below) == 1 else "symptoms", lang, n=len(below))
                yield Row("", (Span(f"    └ {text}", "dim"),), BLANK, key)
            for one in below if key in opened else ():
                yield self._below(one, "    └ ", "")

    def _unexplained(self) -> Iterator[Row]:
        """Errors that nobody knows, besides the one that is the answer."""
        clusters = self.report["unexplained"]
        first = _decisive(self.report)
        if all(number == first for number in range(len(clusters))):
            return
        yield from _heading(f"{word('unexplained', self.lang)} ({sum(c['count'] for c in clusters)})")
        for number, cluster in enumerate(clusters):
            if number != first:
                head = (Span(f"  ? {notation.times(cluster['count']):<5}"), Span(f" {cluster['module'] or ''}", "id"))
                yield from self._row(f"cluster:{number}", head, notation.message(cluster["evidence"]["text"]))


def fault_rows(faults: Sequence[object], lang: str) -> list[Row]:
    """That some of the knowledge could not be used: a diagnosis may lack it."""
    if not faults:
        return []
    return [Row("", BLANK), Row(FAULTS, (Span("! ", "warning"), Span(word("kb-faulty-head", lang, n=len(faults)), "label")))]


def fault_card(faults: Sequence[object], lang: str) -> Doc:
    told = tuple(Prose(str(fault)) for fault in faults[:MAX_FAULTS])
    more = (Prose(word("n-more", lang, n=len(faults) - MAX_FAULTS)),) if len(faults) > MAX_FAULTS else ()
    about = Section("about", "", (Prose(word("kb-faulty-told", lang)),))
    title = word("kb-faulty-head", lang, n=len(faults))
    return Doc(FAULTS, lang, [Document("", title, (), (about, Section("faults", "", (*told, *more))))])


def _heading(text: str) -> Iterator[Row]:
    yield Row("", BLANK)
    yield Row("", (Span(text, "label"),))


def _decisive(report: Json) -> int | None:
    """Which of the errors that nobody knows is the answer."""
    line = report["decisive"]
    found = (n for n, c in enumerate(report["unexplained"]) if line is not None and c["evidence"] == line["evidence"])
    return next(found, None)


def _top(finding: Json, found: list[Json]) -> str:
    """The root above a finding."""
    by_id = {f["id"]: f for f in found}
    seen: set[str] = set()
    while finding["explained_by"] in by_id and finding["id"] not in seen:
        seen.add(finding["id"])
        finding = by_id[finding["explained_by"]]
    return str(finding["id"])


def _title(finding: Json, lang: str) -> str:
    return shown(finding["title"][lang])


def summary(report: Json, lang: str) -> str:
    """Counts and figures for the bar."""
    roots = parts.roots(report)
    stats = report["stats"]
    told = [
        word("finding" if len(roots) == 1 else "findings", lang, n=len(roots)),
        shown(report["situation"]["line"][lang]),
        notation.size(stats["bytes"]),
        f"{stats['seconds']:.1f} s",
    ]
    return " · ".join(p for p in told if p)


def card(report: Json, key: str, lang: str, kinds: Callable[[str], str]) -> Doc:
    """The card of a row; `kinds` tells what a kind of fault is called."""
    kind, _, name = key.partition(":")
    one = find(report, name) if kind == "finding" else None
    return Doc(key, lang, tuple(_documents(report, key, lang, kinds)), one["severity"] if one else "")


def _documents(report: Json, key: str, lang: str, kinds: Callable[[str], str]) -> Iterator[Document]:
    kind, _, name = key.partition(":")
    if kind == "finding" and (one := find(report, name)) is not None:
        yield arranged(compose.finding(one, report, lang, kinds), lang)
    elif kind == "cluster" and (cluster := _numbered(report["unexplained"], name)) is not None:
        yield compose.cluster(cluster, lang)
    elif kind == "missing" and (row := _numbered(report["missing_evidence"], name)) is not None:
        need = compose.missing(row, lang)
        about = Section("about", "", (Prose(need.what),))
        yield Document("", word("missing", lang), (), (about, Section("how", "", (need.how,))))
    elif kind == "skipped":
        rows = Section("skipped", "", compose.skipped(report, lang))
        yield Document("", word("skipped", lang), (), (rows,))
    elif report["verdict"] != "findings":
        yield Document("", word(report["verdict"], lang))


# What a reader wants to know, in this order; sections that are not named come last.
ORDER = ("where", "reason", "fix", "cause", "hits", "explained_by", "explains", "why", "repro")
MAX_REASON = 240  # cells: so much that the fix beneath it is seen on the smallest terminal


def arranged(found: compose.Finding, lang: str) -> Document:
    """A finding as the screen shows it: where, why, what to do; only then everything that proves it."""
    document, sections = found.document, []
    for section in document.sections:
        if section.name == "action":
            continue
        if section.name == "evidence":
            section = section._replace(name=HITS)
        elif section.name == "why":
            section = section._replace(label=word("how-matched", lang))
        elif section.name == "fix" and found.first is not None:
            section = section._replace(blocks=tuple(sorted(section.blocks, key=lambda fix: (fix != found.first, fix != found.check))))
        sections.append(section)
    note = next((block.text for block in document.section("note").blocks if isinstance(block, Prose)), "")
    comma = word("semicolon", lang)
    facts = (("reason", note or found.reason), ("against", comma.join(found.against)), ("action", found.action))
    told = (Pair(word(name, lang), plain(cut((Span(shown(text)),), MAX_REASON))) for name, text in facts if text)
    sections.append(Section("reason", "", tuple(told)))
    sections = [_aligned(s, lang) if s.name in ("where", "reason") else s for s in sections]
    place = {name: at for at, name in enumerate(ORDER)}
    return document._replace(sections=tuple(sorted(sections, key=lambda s: place.get(s.name, len(ORDER)))))


def _aligned(section: Section, lang: str) -> Section:
    """Facts whose names are equally wide, so that the facts stand beneath each other."""
    widest = max(cells(block.label) for block in section.blocks if isinstance(block, Pair)) if section.blocks else 0
    widest = max(widest, *(cells(word(name, lang)) for name in ("where", "reason")))
    pairs = (b for b in section.blocks if isinstance(b, Pair))
    return section._replace(blocks=tuple(b._replace(label=b.label + " " * (widest - cells(b.label))) for b in pairs))


def _numbered(rows: list[Json], name: str) -> Json | None:
    return rows[int(name)] if name.isdigit() and int(name) < len(rows) else None


def has_repro(report: Json, key: str) -> bool:
    """Does a script make sense for a row: has its entry a template, or do its lines tell an operator?"""
    kind, _, name = key.partition(":")
    one = find(report, name) if kind == "finding" else None
    if one is None:
        return False
    from doctor.repro.extract import operators

    return bool(one["repro"]) or any(operators(e["text"]) for e in one["evidence"])


def find(report: Json, code: str) -> Json | None:
    return next((f for f in report["findings"] if f["id"] == code), None)


def places(report: Json, key: str) -> list[tuple[str, int]]:
    """The places that a row rests on."""
    kind, _, name = key.partition(":")
    if kind == "finding" and (finding := find(report, name)) is not None:
        return [(e["path"], e["line"]) for e in finding["evidence"]]
    if kind == "cluster" and name.isdigit() and int(name) < len(report["unexplained"]):
        one = report["unexplained"][int(name)]["evidence"]
        return [(one["path"], one["line"])]
    return []


def fixes(report: Json, key: str, lang: str) -> list[tuple[str, str]]:
    """Titles and what can be pasted of a row's fixes."""
    kind, _, name = key.partition(":")
    if kind == "finding" and (finding := find(report, name)) is not None:
        found, first = made_fixes(finding["fixes"], lang), finding.get("first_fix") or 0
        return [(f.title, pasted(f)) for f in (*found[first : first + 1], *found[:first], *found[first + 1 :])]
    if kind == "missing" and name.isdigit() and int(name) < len(report["missing_evidence"]):
        return [
            (report["missing_evidence"][int(name)]["what"][lang], report["missing_evidence"][int(name)]["how"][lang])
        ]
    return []

