"""A verdict about a device's memory as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from doctor.base.notation import clean, place, size
from doctor.base.words import both, word
from doctor.memory.advice import VARIABLES
from doctor.memory.classes import NAMED, Case, Found, Kind
from doctor.memory.evidence import Evidence
from doctor.render import layout
from doctor.render.layout import Style, paint
from parsers.snapshot import UNKNOWN, Snapshot, written

SHOWN = 5  # places in text
LISTED = 50  # in JSON
POINTS = 60  # of the curve, in text


def text(cases: Sequence[Case], lang: str, style: Style) -> str:
    return "\n\n".join("\n".join(_case(case, lang, style)) for case in cases) + "\n"


def _case(case: Case, lang: str, style: Style) -> list[str]:
    found, snapshot = case.found, case.evidence.snapshot
    kind = found.kind.value
    rows = [clean(case.path), "  " + paint(word(f"memory.title:{kind}", lang), "bold", style)]
    rows += _wrapped(word(f"memory.why:{kind}", lang, size=size(found.size), whole=size(found.of)), style)
    rows += [row for told in _facts(case.evidence, lang) for row in _wrapped(told, style)]
    if snapshot is not None:
        rows += _curve(snapshot, lang, style)
        rows += _holders(found, lang, style)
    rows += ["", "  " + paint(word("memory.do", lang), "bold", style)]
    rows += [row for line in word(f"memory.do:{kind}", lang).split("\n") for row in _wrapped(line, style)]
    rows += [f"  export {name}={value}" for name, value in VARIABLES.get(found.kind, ())]
    return rows


def _wrapped(line: str, style: Style) -> list[str]:
    return [f"  {row}" for row in layout.wrap(clean(line), max(20, style.width - 4))]


def _facts(evidence: Evidence, lang: str) -> list[str]:
    s, said = evidence.snapshot, evidence.message
    rows = []
    if s is not None:
        pending = word("memory.pending", lang, size=size(s.pending)) if s.pending else ""
        rows.append(word("memory.head", lang, reserved=size(s.reserved), segments=s.segments, allocated=size(s.allocated), pending=pending, entries=s.entries))
        rows.append(word("memory.free", lang, split=size(s.split), cached=size(s.cached), largest=size(s.largest_free)))
        if s.failed is not None:
            rows.append(word("memory.asked", lang, size=size(s.failed.size), place=s.failed.site.place, free=size(s.failed.free)))
        if not s.entries:
            rows.append(word("memory.no-trace", lang))
        if s.holders and all(h.site.place == UNKNOWN for h in s.holders):
            rows.append(word("memory.no-frames", lang))
    if said is not None:
        sizes = {name: size(value or 0) for name, value in said.figures._asdict().items()}
        rows.append(word("memory.said", lang, place=place(said.path, said.line), **sizes))
    if evidence.components:
        top = sorted(evidence.components.items(), key=lambda row: -row[1])[:4]
        rows.append(word("memory.component", lang, rows=", ".join(f"{name} {size(held)}" for name, held in top)))
    return rows


def _curve(snapshot: Snapshot, lang: str, style: Style) -> list[str]:
    """The curve in one line: a column for each point, as high as the most of it."""
    if len(snapshot.curve) < 4:
        return []
    least, most = min(snapshot.curve), max(snapshot.curve)
    marks = "▁▂▃▄▅▆▇█" if style.unicode else "_.-=+*#@"
    width = min(POINTS, style.width - 4)
    points = [snapshot.curve[n * len(snapshot.curve) // width] for n in range(width)] if len(snapshot.curve) > width else list(snapshot.curve)
    drawn = "".join(marks[(value - least) * (len(marks) - 1) // max(1, most - least)] for value in points)
    return ["", *_wrapped(word("memory.curve", lang, least=size(least), most=size(most)), style), f"  {drawn}"]


def _holders(found: Found, lang: str, style: Style) -> list[str]:
    if not found.holders:
        return []
    rows = ["", "  " + paint(word("memory.all" if found.kind is Kind.EVEN else "memory.who", lang), "bold", style)]
    for number, (holder, counted) in enumerate(found.holders[:SHOWN], 1):
        share = 100 * counted // max(1, found.of)
        blocks = f", {word('memory.blocks', lang, n=holder.blocks)}" if holder.blocks else ""
        rows.append(f"  {number}. {clean(holder.site.place)}")
        told = word("memory.of", lang, size=size(counted), whole=size(found.of), share=share) + blocks
        note = "" if holder.site.own or holder.site.place == UNKNOWN else f"; {word('memory.library', lang)}"
        rows += [f"     {row}" for row in layout.wrap(told + note, max(20, style.width - 7))]
    return rows


def data(cases: Sequence[Case], refused: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """All cases as JSON."""
    return {
        "schema_version": 1,
        "tool": "npu-doctor memory",
        "cases": [_data(case) for case in cases],
        "not_read": [{"path": path, "why": why} for path, why in refused],
    }


def _data(case: Case) -> dict[str, Any]:
    found, s, said = case.found, case.evidence.snapshot, case.evidence.message
    kind = found.kind.value
    return {
        "path": case.path,
        "class": kind,
        "title": both(f"memory.title:{kind}"),
        "why": both(f"memory.why:{kind}", size=size(found.size), whole=size(found.of)),
        "bytes": found.size,
        "of": found.of,
        "sites": [
            {"place": h.site.place, "own": h.site.own, "bytes": counted, "held": h.held, "blocks": h.blocks, "at_peak": h.at_peak}
            for h, counted in found.holders[:LISTED]
        ],
        "named": [h.site.place for h, _ in found.holders[:NAMED]],
        "do": both(f"memory.do:{kind}"),
        "variables": [{"name": name, "value": value} for name, value in VARIABLES.get(found.kind, ())],
        "snapshot": written(s) if s is not None else None,
        "message": {**said.figures._asdict(), "path": said.path, "line": said.line} if said is not None else None,
        "components": dict(case.evidence.components),
    }
