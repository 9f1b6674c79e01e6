"""The report as rows and cards: findings with their symptoms beneath, what is unexplained, what is missing. No terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from doctor.base import notation
from doctor.base.words import word
from doctor.render import compose, parts
from doctor.render.document import Document, Prose, Section, pasted
from doctor.render.fixes import fixes as made_fixes
from doctor.tui.shell.doc import Doc
from doctor.tui.shell.line import BLANK, Row, Span, shown

Json = dict[str, Any]


def rows(report: Json, lang: str, opened: frozenset[str]) -> list[Row]:
    """The list. Symptoms stand beneath their cause and are folded away unless their cause is in `opened`."""
    return list(_rows(report, lang, opened))


def _rows(report: Json, lang: str, opened: frozenset[str]) -> Iterator[Row]:
    if report["verdict"] != "findings":
        yield Row("", (Span(word(report["verdict"], lang), "good" if report["verdict"] == "clean" else "warning"),))
    if told := report["situation"]["line"][lang]:
        yield Row("", (Span(shown(told), "dim"),))
    if (line := _decisive(report)) is not None:
        head = Span(f"  ? {word('decisive', lang)} ", "error")
        yield Row(f"cluster:{line}", (head, Span(shown(notation.message(report["decisive"]["evidence"]["text"])), "title")))
    yield from _causes(report, lang, opened)
    yield from _unexplained(report, lang)
    for name, beside in (("context", parts.context(report)), ("noise", parts.noise(report))):
        if beside:
            yield from _heading(word(name, lang))
            for one in beside:
                yield _below(one, "    ", "dim", lang)
    if report["missing_evidence"]:
        yield from _heading(word("missing", lang))
        for number, one in enumerate(report["missing_evidence"]):
            yield Row(f"missing:{number}", (Span("  - "), Span(shown(one["what"][lang]))))
    if report["skipped"]:
        yield Row("", BLANK)
        yield Row("skipped:", (Span(f"{word('skipped', lang)} ({len(report['skipped'])})", "label"),))


def _heading(text: str) -> Iterator[Row]:
    yield Row("", BLANK)
    yield Row("", (Span(text, "label"),))


def _below(finding: Json, indent: str, style: str, lang: str) -> Row:
    """A finding that is no cause: a symptom, or something harmless."""
    left = (Span(indent, "dim" if indent.strip() else ""), Span(f"{finding['id']} ", "id"), Span(_title(finding, lang), style))
    return Row(f"finding:{finding['id']}", left, (Span(f" {notation.times(finding['count'])}", "dim"),))


def _causes(report: Json, lang: str, opened: frozenset[str]) -> Iterator[Row]:
    """The roots, with their symptoms folded beneath."""
    found = [f for f in report["findings"] if f["kind"] != "noise"]
    for number, root in enumerate(parts.roots(report), 1):
        below = [f for f in found if _top(f, found) == root["id"] and f is not root]
        key = f"finding:{root['id']}"
        fold = "▾ " if key in opened else "▸ " if below else "  "
        left = (
            Span(f"{fold}{number} "),
            Span(word(root["severity"], lang), root["severity"]),
            Span(f" {root['id']} ", "id"),
            Span(_title(root, lang), "title"),
        )
        yield Row(key, left, (Span(f" {notation.share(root['confidence'])}", "dim"),))
        if below and key not in opened:
            text = word("symptom" if len(below) == 1 else "symptoms", lang, n=len(below))
            yield Row("", (Span(f"      └ {text}", "dim"),))
        for one in below if key in opened else ():
            yield _below(one, "      └ ", "", lang)


def _unexplained(report: Json, lang: str) -> Iterator[Row]:
    """Errors that nobody knows, besides the one that is the answer."""
    if not report["unexplained"]:
        return
    total = sum(c["count"] for c in report["unexplained"])
    yield from _heading(f"{word('unexplained', lang)} ({total})")
    first = _decisive(report)
    for number, cluster in enumerate(report["unexplained"]):
        if number != first:
            shape = (
                Span(f"  ? {notation.times(cluster['count']):<5} "),
                Span(f"{cluster['module'] or ''} ", "id"),
                Span(shown(notation.message(cluster["evidence"]["text"]))),
            )
            yield Row(f"cluster:{number}", shape)


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
    count = word("finding" if len(roots) == 1 else "findings", lang, n=len(roots))
    ranks = len((report.get("job") or {}).get("ranks") or ())
    told = [
        count,
        f"{ranks} rank" if ranks > 1 else "",
        notation.size(stats["bytes"]),
        f"{stats['seconds']:.1f} s",
    ]
    return " · ".join(p for p in told if p)


def card(report: Json, key: str, lang: str, kinds: Callable[[str], str]) -> Doc:
    """The card of a row; `kinds` tells what a kind of fault is called."""
    return Doc(key, lang, tuple(_documents(report, key, lang, kinds)))


def _documents(report: Json, key: str, lang: str, kinds: Callable[[str], str]) -> Iterator[Document]:
    kind, _, name = key.partition(":")
    if kind == "finding" and (one := find(report, name)) is not None:
        yield compose.finding(one, report, lang, kinds).document
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


def _numbered(rows: list[Json], name: str) -> Json | None:
    return rows[int(name)] if name.isdigit() and int(name) < len(rows) else None


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
        return [(f.title, pasted(f)) for f in made_fixes(finding["fixes"], lang)]
    if kind == "missing" and name.isdigit() and int(name) < len(report["missing_evidence"]):
        return [
            (report["missing_evidence"][int(name)]["what"][lang], report["missing_evidence"][int(name)]["how"][lang])
        ]
    return []

