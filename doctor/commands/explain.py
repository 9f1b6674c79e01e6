"""`npu-doctor explain`: what a code, an entry, a variable or a card means, in any spelling found in logs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from doctor.answer.advice import fix_json
from doctor.base import exits
from doctor.base.notation import clean
from doctor.base.words import word
from doctor.commands import common
from doctor.lookup import error_bits
from doctor.render import describe, layout
from doctor.render.document import Document
from doctor.render.layout import Style
from doctor.render.terminal import explained
from kb import plain, spelling
from kb.check import Check
from kb.knowledge import Knowledge
from kb.model import Entry

if TYPE_CHECKING:
    from doctor.lookup.search import Found, Index


def arguments() -> common.Parser:
    made = common.parser(
        "explain",
        "Explain an error code in any spelling (507018, EI0006, retCode=0x28, errcode:(0x800000,0,0), 80E01801), an entry, an environment variable or a card.",
    )
    made.add_argument("what", nargs="+", metavar="CODE|ENTRY|VARIABLE")
    made.add_argument("-f", "--format", choices=("text", "json"), default="text")
    made.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    known = common.knowledge(args)
    lang = common.language(args)
    written = " ".join(args.what)
    found = look_up(written, known)
    if not any(found.values()):
        from doctor.lookup.search import Index

        index = Index(known)
        named = index.meant(written)
        if not named:
            return _unknown(written, index, lang)
        found = _meant(written, named, known, lang)
    if args.format == "json":
        sys.stdout.write(json.dumps(found, ensure_ascii=False, indent=1, default=str) + "\n")
        return exits.CLEAN
    common.write(text(found, known, lang, layout.style_of(sys.stdout, args.color)), None)
    return exits.CLEAN


def is_known(written: str) -> bool:
    """Is it a code, an entry, a variable or a card, or plainly meant by one?"""
    from kb.knowledge import load

    known = load()
    if any(look_up(written, known).values()):
        return True
    from doctor.lookup.search import Index

    return bool(Index(known).meant(written))


def _meant(written: str, found: tuple[Found, ...], known: Knowledge, lang: str) -> dict[str, Any]:
    """What the titles of one entry, or of few, name by that word."""
    sys.stderr.write(f"npu-doctor: {word('explain.named', lang, what=clean(written)[:80], id=found[0].id)}\n")
    made = look_up(found[0].id, known)
    return {**made, "entries": [one.id for one in found[1:]]}


def look_up(written: str, known: Knowledge) -> dict[str, Any]:
    """Everything that the knowledge says about a spelling."""
    name = written.strip()
    entry = known.entry(name.upper())
    variable = known.variable(name) or known.variable(name.upper())
    rows = list(known.decode(name))
    set_bits = error_bits.decode(name, known)
    about = [b.code for b in known.catalog() if _mentions(b.words, name)] if rows or set_bits else []
    return {
        "entry": entry_json(plain.entry(entry)) if entry else None,
        "variable": variable,
        "check": check_json(check) if (check := known.check(name.upper())) else None,
        "card": known.card(name.upper()) or known.card(f"CARD-{name.upper()}"),
        "codes": rows,
        "bits": set_bits,
        "entries": about[:12],
    }


def check_json(check: Check) -> dict[str, Any]:
    """A check as it reads away from any machine."""
    from doctor.env.report import away

    shown = plain.fixes(away(check).fixes)
    return {
        "id": check.code, "slug": check.slug, "group": check.group, "status": check.status, "severity": check.severity, "kind": check.kind,
        "confidence": check.confidence, "title": plain.text(check.title).json(), "cause": plain.text(check.cause).json(), "when": dict(check.when),
        "assert": dict(check.wants), "fixes": [fix_json(f) for f in shown], "references": [r._asdict() for r in check.references],
    }  # fmt: skip


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
    """Every meaning of what was asked for, one beneath the other."""
    return "\n".join(explained(one, lang, style) for one in _documents(found, known, lang))


def _documents(found: dict[str, Any], known: Knowledge, lang: str) -> Iterator[Document]:
    if found["entry"] and (entry := known.entry(found["entry"]["id"])) is not None:
        yield describe.entry(entry, known, lang)
    if found["check"] and (check := known.check(found["check"]["id"])) is not None:
        from doctor.env.report import away

        yield describe.check(away(check), known, lang)
    if found["variable"]:
        yield describe.variable(found["variable"], lang)
    if found["card"]:
        yield describe.card(found["card"], lang)
    if found["bits"]:
        yield describe.bits(found["bits"], lang)
    yield from (describe.code(row, lang) for row in found["codes"][:6])
    if found["entries"]:
        yield Document("", "", (), (describe.mentions(found["entries"], known, lang),))


def _unknown(written: str, index: Index, lang: str) -> int:
    """Nothing is known: what is near in its words is offered, never another number than the one that was typed."""
    sys.stderr.write(f"npu-doctor: {word('explain.unknown', lang, what=clean(written)[:80])}\n")
    code = any(c.isdigit() for c in written) and " " not in written.strip() and "_" not in written
    near = [] if code else index.search(written, 5)
    if near:
        rows = "".join(f"     {r.id}  {r.title.pick(lang)}\n" for r in near)
        sys.stderr.write(f" = {word('explain.near', lang)}\n{rows}")
    else:
        sys.stderr.write(f" = {word('explain.elsewhere', lang)}\n")
    return exits.FINDINGS
