"""`npu-doctor explain`: what a code, an entry, a variable or a card means, in any spelling found in logs."""

from __future__ import annotations

import json
import sys
from typing import Any

from doctor.answer.advice import fix_json
from doctor.base import exits
from doctor.base.lang import word
from doctor.base.notation import clean
from doctor.commands import common
from doctor.lookup import bits
from doctor.render import layout
from doctor.render.layout import Style, paint, wrap
from doctor.render.text import fixes as fix_lines
from kb import plain, spelling
from kb.knowledge import Knowledge
from kb.model import Entry

LABELS = {
    "meaning": ("meaning", "含义"), "causes": ("likely causes", "可能原因"), "action": ("first action", "首先"), "ref": ("source", "来源"),
    "confidence": ("confidence", "可信度"), "entries": ("entries about it", "相关条目"), "related": ("related codes", "相关错误码"),
    "values": ("values", "取值"), "range": ("range", "范围"), "default": ("default", "默认值"), "since": ("since", "起始版本"),
    "deprecated": ("deprecated", "已废弃"), "undo": ("undo", "撤销"), "caution": ("caution", "注意"), "component": ("component", "组件"),
    "bits": ("bits set", "置位"), "severity": ("handling level", "处理级别"), "purpose": ("purpose", "作用"), "type": ("type", "类型"),
}  # fmt: skip


def main(argv: list[str]) -> int:
    made = common.parser(
        "explain",
        "Explain an error code in any spelling (507018, EI0006, retCode=0x28, errcode:(0x800000,0,0), 80E01801), an entry, an environment variable or a card.",
    )
    made.add_argument("what", nargs="+", metavar="CODE|ENTRY|VARIABLE")
    made.add_argument("-f", "--format", choices=("text", "json"), default="text")
    made.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    args = made.parse_args(argv)
    known = common.knowledge(args)
    lang = common.language(args)
    written = " ".join(args.what)
    found = look_up(written, known)
    if not any(found.values()):
        return _unknown(written, known, lang)
    if args.format == "json":
        sys.stdout.write(json.dumps(found, ensure_ascii=False, indent=1, default=str) + "\n")
        return exits.CLEAN
    sys.stdout.write(text(found, known, lang, layout.style_of(sys.stdout, args.color)))
    return exits.CLEAN


def look_up(written: str, known: Knowledge) -> dict[str, Any]:
    """Everything that the knowledge says about a spelling."""
    name = written.strip()
    entry = known.entry(name.upper())
    variable = known.variable(name) or known.variable(name.upper())
    rows = list(known.decode(name))
    set_bits = bits.decode(name, known)
    about = [b.code for b in known.catalog() if _mentions(b.words, name)] if rows or set_bits else []
    return {
        "entry": entry_json(plain.entry(entry)) if entry else None,
        "variable": variable,
        "card": known.card(name.upper()) or known.card(f"CARD-{name.upper()}"),
        "codes": rows,
        "bits": set_bits,
        "entries": about[:12],
    }


def _mentions(words: str, name: str) -> bool:
    return any(len(k) > 3 and k in words.split() for k in spelling.candidates(name))


def entry_json(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.code, "slug": entry.slug, "domain": entry.domain, "status": entry.status, "severity": entry.severity, "role": entry.role,
        "kind": entry.kind, "component": entry.component, "confidence": entry.confidence, "applies_to": dict(entry.applies_to),
        "title": entry.title.json(), "cause": entry.cause.json(),
        "patterns": [s.pattern or dict(s.where) for s in entry.signals],
        "fixes": [fix_json(f) for f in entry.fixes],
        "symptom_of": [e.entry or e.kind for e in entry.symptom_of], "refines": list(entry.refines),
        "caused_by": [e.entry or e.kind for e in entry.caused_by],
        "repro": entry.repro[0] if entry.repro else None,
        "references": [r._asdict() for r in entry.references],
    }  # fmt: skip


def text(found: dict[str, Any], known: Knowledge, lang: str, style: Style) -> str:
    parts = []
    if found["entry"]:
        entry = known.entry(found["entry"]["id"])
        if entry:
            parts.append(entry_text(plain.entry(entry), known, lang, style))
    if found["variable"]:
        parts.append(_variable(found["variable"], lang, style))
    if found["card"]:
        parts.append(_card(found["card"], lang, style))
    if found["bits"]:
        parts.append(_bits(found["bits"], lang, style))
    parts += [_code(row, lang, style) for row in found["codes"][:6]]
    if found["entries"]:
        rows = [f"{_label('entries', lang)}:"]
        for code in found["entries"]:
            entry = known.entry(code)
            if entry:
                rows.append(f"  {code}  {plain.text(entry.title).pick(lang)}")
        parts.append("\n".join(rows) + "\n")
    return "\n".join(parts)


def _label(name: str, lang: str) -> str:
    en, zh = LABELS[name]
    return zh if lang == "zh" else en


def entry_text(entry: Entry, known: Knowledge, lang: str, style: Style) -> str:
    rows = [f"{paint(entry.code, 'bold', style)}  {paint(entry.title.pick(lang), 'bold', style)}"]
    rows.append(
        paint(
            f"{word(entry.severity, lang)} · {entry.role} · {entry.kind} · {entry.component}".replace(
                "·", "·" if style.unicode else "|"
            ),
            "dim",
            style,
        )
    )
    rows += ["", *wrap(entry.cause.pick(lang), style.width), ""]
    rows += list(fix_lines([fix_json(f) for f in entry.fixes], lang, style))
    for title, codes in (
        ("refines", entry.refines),
        ("symptom_of", [e.entry or e.kind for e in entry.symptom_of]),
        ("caused_by", [e.entry or e.kind for e in entry.caused_by]),
    ):
        if codes:
            rows.append(f"  {title}: {', '.join(codes)}")
    rows += ["", *(f"  {r.title}  {r.url}".rstrip() for r in entry.references)]
    del known
    return "\n".join(rows) + "\n"


def _pairs(pairs: list[tuple[str, str]], lang: str, style: Style) -> str:
    rows = []
    for name, value in pairs:
        if value:
            head = f"  {_label(name, lang)}: "
            body = wrap(value, max(20, style.width - 6))
            rows.append(f"{paint(head, 'label', style)}{body[0]}")
            rows += [f"    {row}" for row in body[1:]]
    return "\n".join(rows) + "\n"


def _code(row: dict[str, Any], lang: str, style: Style) -> str:
    head = f"{paint(row['code'], 'bold', style)}  {row.get('name') or ''}  {paint('[' + str(row.get('family', '')) + ']', 'dim', style)}"
    causes = "; ".join(c[lang] for c in row.get("causes") or ())
    component = row.get("component")
    pairs = [
        ("component", component[lang] if isinstance(component, dict) else component or ""),
        ("meaning", row["meaning"][lang]),
        ("severity", row.get("severity") or ""),
        ("causes", causes),
        ("action", (row.get("action") or {}).get(lang, "")),
        ("related", ", ".join(row.get("related") or ())),
        ("confidence", row.get("confidence") or ""),
        ("ref", row.get("ref") or ""),
    ]
    return f"{head}\n{_pairs(pairs, lang, style)}"


def _bits(found: list[dict[str, Any]], lang: str, style: Style) -> str:
    rows = [paint(f"{_label('bits', lang)}:", "bold", style)]
    for one in found:
        rows += [f"  {line}" for line in wrap(f"{one['where']}: {one['meaning'][lang]}", style.width - 4)]
        if one.get("action"):
            rows += [f"    {line}" for line in wrap(one["action"][lang], style.width - 6)]
    return "\n".join(rows) + "\n"


def _variable(row: dict[str, Any], lang: str, style: Style) -> str:
    def pick(value: Any) -> str:
        return (
            value.get(lang, "")
            if isinstance(value, dict)
            else ", ".join(value)
            if isinstance(value, list)
            else str(value or "")
        )

    pairs = [
        (name, pick(row.get(name)))
        for name in (
            "purpose",
            "component",
            "type",
            "values",
            "range",
            "default",
            "caution",
            "undo",
            "since",
            "deprecated",
            "ref",
            "confidence",
        )
    ]
    return f"{paint(row['name'], 'bold', style)}\n{_pairs(pairs, lang, style)}"


def _card(row: dict[str, Any], lang: str, style: Style) -> str:
    rows = [
        paint(f"{row['code']}  {row['title'][lang]}", "bold", style),
        "",
        *wrap(str(row["text"][lang]).strip(), style.width),
    ]
    code = row.get("code_block") or {}
    if code:
        rows += ["", *(f"    {paint(r, 'code', style)}" for r in str(code.get("text", "")).rstrip().split("\n"))]
    rows += ["", *(f"  {r.get('title', '')}  {r.get('url', '')}" for r in row.get("references") or ())]
    return "\n".join(rows) + "\n"


def _unknown(written: str, known: Knowledge, lang: str) -> int:
    from doctor.lookup.search import search

    near = search(known, written, 5)
    sys.stderr.write(f"npu-doctor: nothing is known about '{clean(written)[:80]}'\n")
    if near:
        sys.stderr.write(" = help: near it are\n" + "".join(f"     {r.id}  {r.title.pick(lang)}\n" for r in near))
    return exits.INCONCLUSIVE
