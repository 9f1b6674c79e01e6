"""What the knowledge says about a spelling: an entry, a check, a code, a variable or a card, as data and as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from doctor.answer.fix_form import fix_json
from doctor.base import addresses
from doctor.lookup import error_bits
from doctor.render import describe
from doctor.render.document import Document
from doctor.render.layout import Style
from doctor.render.terminal import explained
from kb import plain, spelling
from kb.check import Check
from kb.knowledge import Knowledge
from kb.layers import BUILT_IN
from kb.model import Entry


def look_up(written: str, known: Knowledge) -> dict[str, Any]:
    """Everything that the knowledge says about a spelling."""
    name = written.strip()
    entry = known.entry(name.upper())
    variable = known.variable(name) or known.variable(name.upper())
    rows = list(known.decode(name))
    set_bits = error_bits.decode(name, known)
    keys = [key for key in spelling.candidates(name) if len(key) > 3] if rows or set_bits else []
    about = [brief.code for brief in known.mentioning(keys)] if keys else []
    return {
        "entry": entry_json(plain.entry(entry)) if entry else None,
        "variable": variable,
        "check": check_json(check) if (check := known.check(name.upper())) else None,
        "card": known.card(name.upper()) or known.card(f"CARD-{name.upper()}"),
        "codes": rows,
        "bits": set_bits,
        "entries": about[:12],
    }


def named(written: str, known: Knowledge) -> dict[str, Any]:
    """The same; of a spelling that is nothing itself, what it plainly names."""
    found = look_up(written, known)
    if any(found.values()):
        return found
    from doctor.lookup.search import Index

    meant = Index(known).meant(written)
    return {**look_up(meant[0].id, known), "entries": [one.id for one in meant[1:]]} if meant else found


def check_json(check: Check) -> dict[str, Any]:
    """A check as it reads away from any machine."""
    from doctor.env.report import away

    shown = plain.fixes(away(check).fixes)
    return {
        "id": check.code, "slug": check.slug, "group": check.group, "status": check.status, "severity": check.severity, "kind": check.kind,
        "confidence": check.confidence, "title": plain.text(check.title).json(), "cause": plain.text(check.cause).json(), "when": dict(check.when),
        "assert": dict(check.wants), "fixes": [fix_json(f) for f in shown], "references": [r._asdict() for r in check.references],
    }  # fmt: skip


def entry_json(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.code, "slug": entry.slug, "domain": entry.domain, "status": entry.status, "severity": entry.severity, "role": entry.role,
        "kind": entry.kind, "component": entry.component, "confidence": entry.confidence, "applies_to": dict(entry.applies_to),
        "title": entry.title.json(), "cause": entry.cause.json(),
        "patterns": [s.pattern or dict(s.where) for s in entry.signals],
        "fixes": [fix_json(f) for f in entry.fixes],
        "symptom_of": [e.entry or e.kind for e in entry.symptom_of], "refines": list(entry.refines),
        "caused_by": [e.entry or e.kind for e in entry.caused_by],
        "repro": entry.repro[0] if entry.repro else None, "no_repro": entry.no_repro or None,
        "references": [r._asdict() for r in entry.references],
    }  # fmt: skip


def text(found: dict[str, Any], known: Knowledge, lang: str, style: Style) -> str:
    """Every meaning of what was asked for, one beneath the other."""
    return "\n".join(explained(one, lang, style) for one in _documents(found, known, lang))


def _documents(found: dict[str, Any], known: Knowledge, lang: str) -> Iterator[Document]:
    if found["entry"] and (entry := known.entry(found["entry"]["id"])) is not None:
        yield describe.entry(entry, known, lang, page=addresses.page("entry", entry.code, lang) if entry.layer == BUILT_IN else "")
    if found["check"] and (check := known.check(found["check"]["id"])) is not None:
        from doctor.env.report import away

        yield describe.check(away(check), known, lang, addresses.page("entry", check.code, lang))
    if found["variable"]:
        yield describe.variable(found["variable"], lang)
    if found["card"]:
        yield describe.card(found["card"], lang)
    if found["bits"]:
        yield describe.bits(found["bits"], lang)
    yield from (describe.code(row, lang) for row in found["codes"][:6])
    if found["entries"]:
        yield Document("", "", (), (describe.mentions(found["entries"], known, lang),))
