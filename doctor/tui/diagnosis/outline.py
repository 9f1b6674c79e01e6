"""The report as rows and cards: findings with their symptoms beneath, what is unexplained, what is missing. No terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from doctor.base.lang import word as core_word
from doctor.base.words import word
from doctor.render import parts
from doctor.render.text import size_text
from doctor.tui.knowledge import cards
from doctor.tui.shell.doc import Doc, Target
from doctor.tui.shell.line import BLANK, Row, Span, shown

Json = dict[str, Any]
EVIDENCE = 6  # places shown on a card; all of them are in the evidence view


def rows(report: Json, lang: str, opened: frozenset[str]) -> list[Row]:
    """The list. Symptoms stand beneath their cause and are folded away unless their cause is in `opened`."""
    return list(_rows(report, lang, opened))


def _rows(report: Json, lang: str, opened: frozenset[str]) -> Iterator[Row]:
    found = [f for f in report["findings"] if f["kind"] != "noise"]
    noise, roots = parts.noise(report), parts.roots(report)
    if report["verdict"] != "findings":
        yield Row(
            "", (Span(core_word(report["verdict"], lang), "good" if report["verdict"] == "clean" else "warning"),)
        )
    for number, root in enumerate(roots, 1):
        below = [f for f in found if _top(f, found) == root["id"] and f is not root]
        key = f"finding:{root['id']}"
        fold = "▾ " if key in opened else "▸ " if below else "  "
        left = (
            Span(f"{fold}{number} "),
            Span(core_word(root["severity"], lang), root["severity"]),
            Span(f" {root['id']} ", "id"),
            Span(_title(root, lang), "title"),
        )
        yield Row(key, left, (Span(f" {root['confidence']:.0%}", "dim"),))
        if below and key not in opened:
            text = word("symptom" if len(below) == 1 else "symptoms", lang, n=len(below))
            yield Row("", (Span(f"      └ {text}", "dim"),))
        for one in below if key in opened else ():
            yield Row(
                f"finding:{one['id']}",
                (Span("      └ ", "dim"), Span(f"{one['id']} ", "id"), Span(_title(one, lang))),
                (Span(f" ×{one['count']}", "dim"),),
            )
    if report["unexplained"]:
        total = sum(c["count"] for c in report["unexplained"])
        yield Row("", BLANK)
        yield Row("", (Span(f"{core_word('unexplained', lang)} ({total})", "label"),))
        for number, cluster in enumerate(report["unexplained"]):
            one = cluster["evidence"]
            shape = (
                Span(f"  ? ×{cluster['count']:<4} "),
                Span(f"{cluster['module'] or ''} ", "id"),
                Span(shown(_message(one["text"]))),
            )
            yield Row(f"cluster:{number}", shape)
    if noise:
        yield Row("", BLANK)
        yield Row("", (Span(core_word("noise", lang), "label"),))
        for one in noise:
            yield Row(
                f"finding:{one['id']}",
                (Span("    "), Span(f"{one['id']} ", "id"), Span(_title(one, lang), "dim")),
                (Span(f" ×{one['count']}", "dim"),),
            )
    if report["missing_evidence"]:
        yield Row("", BLANK)
        yield Row("", (Span(core_word("missing", lang), "label"),))
        for number, one in enumerate(report["missing_evidence"]):
            yield Row(f"missing:{number}", (Span("  - "), Span(shown(one["what"][lang]))))
    if report["skipped"]:
        yield Row("", BLANK)
        yield Row("skipped:", (Span(f"{core_word('skipped', lang)} ({len(report['skipped'])})", "label"),))


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


def _message(text: str) -> str:
    """A line of a log from its message on: the head of a plog line would fill the row."""
    from doctor.render.text import _brief

    first = text.split("\n")[0]
    brief = _brief(first)
    return brief.partition(") ")[2].partition(" ")[2] or brief if brief != first else first


def summary(report: Json, lang: str) -> str:
    """Counts and figures for the bar."""
    roots = parts.roots(report)
    stats = report["stats"]
    count = word("finding" if len(roots) == 1 else "findings", lang, n=len(roots))
    ranks = len((report.get("job") or {}).get("ranks") or ())
    told = [
        count,
        f"{ranks} rank" if ranks > 1 else "",
        size_text(stats["bytes"]),
        f"{stats['seconds']:.1f} s",
    ]
    return " · ".join(p for p in told if p)


def card(report: Json, key: str, lang: str, kinds: Callable[[str], str]) -> Doc:
    """The card of a row; `kinds` tells what a kind of fault is called."""
    kind, _, name = key.partition(":")
    doc = Doc(key)
    if kind == "finding" and (finding := find(report, name)) is not None:
        _finding(doc, finding, report, lang, kinds(finding["kind"]))
    elif kind == "cluster" and name.isdigit() and int(name) < len(report["unexplained"]):
        _cluster(doc, report["unexplained"][int(name)], lang)
    elif kind == "missing" and name.isdigit() and int(name) < len(report["missing_evidence"]):
        one = report["missing_evidence"][int(name)]
        doc.title("", core_word("missing", lang))
        doc.text(one["what"][lang])
        doc.gap()
        doc.code(one["how"][lang], "sh")
    elif kind == "skipped":
        doc.title("", core_word("skipped", lang))
        doc.gap()
        for one in report["skipped"]:
            doc.pair(one["path"], one["reason"])
    elif report["verdict"] != "findings":
        doc.title("", core_word(report["verdict"], lang))
    return doc


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
        return [(f["title"][lang], cards.paste_of(f)) for f in finding["fixes"]]
    if kind == "missing" and name.isdigit() and int(name) < len(report["missing_evidence"]):
        return [
            (report["missing_evidence"][int(name)]["what"][lang], report["missing_evidence"][int(name)]["how"][lang])
        ]
    return []


def _finding(doc: Doc, finding: Json, report: Json, lang: str, kind: str) -> None:
    doc.title(finding["id"], finding["title"][lang])
    confidence = finding["confidence"]
    sure = core_word("high" if confidence >= 0.9 else "medium" if confidence >= 0.7 else "low", lang)
    doc.facts(core_word(finding["severity"], lang), f"{word('sure', lang)} {confidence:.0%} ({sure})", kind)
    scope = [
        f"{core_word(k, lang)} {finding['scope'][k]}"
        for k in ("node", "rank", "device", "pid")
        if finding["scope"][k] is not None
    ]
    time = (finding["first_seen"] or "").replace("T", " ")
    doc.pair(core_word("where", lang), ", ".join([*scope, time] if time else scope))
    doc.label(core_word("cause", lang))
    doc.text(finding["cause"][lang])
    doc.label(core_word("evidence", lang))
    for one in finding["evidence"][:EVIDENCE]:
        doc.link(
            Target("place", f"{one['path']}:{one['line']}"), f"  {one['time'].replace('T', ' ')}" if one["time"] else ""
        )
        doc.log(one["text"])
    more = len(finding["evidence"]) - EVIDENCE
    if finding["count"] > 1:
        doc.text(word("times", lang, n=finding["count"]) + (f"  (+{more} v)" if more > 0 else ""), "dim")
    for name in ("explained_by", "explains"):
        told = finding[name]
        codes = [told] if isinstance(told, str) else told or []
        if codes:
            doc.label(core_word("explains", lang) if name == "explains" else word("symptom_of", lang))
        for code in codes:
            other = find(report, code)
            if other is not None:
                doc.link(Target("finding", code), f"{other['title'][lang]}  ×{other['count']}")
    doc.label(core_word("why", lang))
    doc.text(finding["why"][lang])
    cards.fixes(doc, finding["fixes"], lang)
    if finding["repro"]:
        doc.label(core_word("repro", lang))
        doc.text(f"r  {finding['repro']}", "code")
    cards.references(doc, finding["references"], lang)


def _cluster(doc: Doc, cluster: Json, lang: str) -> None:
    doc.title(f"×{cluster['count']}", core_word("unexplained", lang))
    doc.facts(cluster["level"] or "", cluster["module"] or "")
    doc.label(core_word("evidence", lang))
    one = cluster["evidence"]
    doc.link(
        Target("place", f"{one['path']}:{one['line']}"), f"  {one['time'].replace('T', ' ')}" if one["time"] else ""
    )
    doc.log(one["text"])
    for code in cluster["codes"]:
        if code["meaning"]:
            doc.pair(f"{code['code']} {code['name'] or ''}".strip(), code["meaning"][lang])
    if cluster["nearest"]:
        doc.label(core_word("nearest", lang))
        for near in cluster["nearest"]:
            doc.link(Target("entry", near["id"]), f"{near['title'][lang]}  {near['score']:.0%}")
