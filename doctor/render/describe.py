"""From the knowledge to documents: an entry, a code, a variable, a reference card, each with the links that lead on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from doctor.answer.fix_form import fix_json
from doctor.base.words import named, word
from doctor.render.document import (
    Block,
    Bullet,
    Code,
    Command,
    Document,
    Link,
    Listed,
    Pair,
    Pattern,
    Prose,
    Relation,
    Section,
    Target,
)  # fmt: skip
from doctor.render.fixes import fixes, references
from kb import plain
from kb.check import Check
from kb.knowledge import Knowledge
from kb.layers import BUILT_IN
from kb.model import Edge, Entry, Signal
from parsers.raised import WORDS

if TYPE_CHECKING:  # `explain` asks nobody who names an entry
    from doctor.lookup.backlinks import Backlinks

MAX_RELATED = 12
MAX_PATTERNS = 20
_OF_CODE = ("severity", "action", "related", "confidence", "ref")
_OF_VARIABLE = (
    "component", "type", "values", "range", "default", "caution", "since", "deprecated", "confidence", "ref",
)  # fmt: skip


def entry(one: Entry, known: Knowledge, lang: str, back: Backlinks | None = None, page: str = "") -> Document:
    """An entry, whole, as it reads outside any diagnosis."""
    one = plain.entry(one)
    facts = (
        word(one.severity, lang),
        named("role", one.role, lang),
        known.kind_title(one.kind).pick(lang),
        one.component,
        one.status if one.status != "stable" else "",
        "" if one.layer == BUILT_IN else word("replacing" if known.replaced(one.code) else "foreign", lang, layer=one.layer),
    )
    applies = " ".join(f"{k} {v}" for k, v in one.applies_to)
    variables = dict.fromkeys(e.name for f in one.fixes for e in f.env if known.variable(e.name))
    sections = (
        Section("applies", "", (Pair(word("applies", lang), applies),) if applies else ()),
        Section("cause", word("cause", lang), (Prose(one.cause.pick(lang)),)),
        Section("patterns", word("patterns", lang), tuple(Pattern(_pattern(s)) for s in one.signals[:MAX_PATTERNS])),
        Section("fix", word("fix", lang), fixes((fix_json(f) for f in one.fixes), lang)),
        Section("variables", word("variables", lang), tuple(_variable_link(name, known, lang) for name in variables)),
        *_relations(one, known, lang, back),
        Section("template", word("template", lang), _template(one, lang)),
        Section("refs", word("refs", lang), references((r._asdict() for r in one.references), page, one.code)),
    )
    return Document(one.code, one.title.pick(lang), facts, tuple(s for s in sections if s.blocks))


def check(one: Check, known: Knowledge, lang: str, page: str = "") -> Document:
    """A check of a machine, whole, as it reads away from any machine."""
    facts = (word(one.severity, lang), named("env.group", one.group, lang), known.kind_title(one.kind).pick(lang))
    conditions = tuple(Pattern(f"{fact}: {wanted}") for fact, wanted in (*one.when, *one.wants))
    sections = (
        Section("cause", word("cause", lang), (Prose(plain.text(one.cause).pick(lang)),)),
        Section("patterns", word("patterns", lang), conditions),
        Section("fix", word("fix", lang), fixes((fix_json(f) for f in plain.fixes(one.fixes)), lang)),
        Section("refs", word("refs", lang), references((r._asdict() for r in one.references), page, one.code)),
    )
    return Document(one.code, plain.text(one.title).pick(lang), facts, tuple(s for s in sections if s.blocks))


def _pattern(signal: Signal) -> str:
    """A leaf as its author wrote it: codes and exit codes are known by their numbers, not by the patterns made of them."""
    if signal.form in ("code", "exit"):
        return f"{signal.form} {' / '.join(signal.anchors[:6])}"
    if signal.form == "fields":
        return f"{signal.table}: " + ", ".join(f"{k} {v}" for k, v in signal.where)
    if signal.form == "raised":
        return "raised " + ", ".join(f"{k}: {v.replace('|', ', ') if k in WORDS else v}" for k, v in signal.where)
    return signal.pattern


def _template(one: Entry, lang: str) -> tuple[Block, ...]:
    """What shows the fault, or why no script does."""
    if one.no_repro:
        return (Prose(word(f"repro.{one.no_repro}", lang)),)
    if not one.repro:
        return ()
    name, slots = one.repro
    values = ", ".join(f"{k}={v}" for k, v in slots)
    return (Pattern(f"{name}  ({values})" if values else name),)


def _variable_link(name: str, known: Knowledge, lang: str) -> Link:
    return Link(Target("variable", name), _pick((known.variable(name) or {}).get("purpose"), lang))


def _relations(one: Entry, known: Knowledge, lang: str, back: Backlinks | None) -> Iterable[Section]:
    """What the entry follows from, what follows from it."""
    groups: tuple[tuple[str, Sequence[str], Iterable[str]], ...] = (
        ("symptom_of", _said(one.symptom_of), _ends(one.symptom_of, known)),
        ("caused_by", _said(one.caused_by), _ends(one.caused_by, known)),
        ("refines", one.refines, one.refines),
        ("refined_by", (), back.of(one, "refined_by") if back else ()),
        ("leads_to", (), back.of(one, "leads_to") if back else ()),
    )
    seen: set[str] = set()
    for name, said, codes in groups:
        rest = [c for c in dict.fromkeys(codes) if c != one.code and c not in seen]
        links = tuple(entry_links(rest[:MAX_RELATED], known, lang))
        seen.update(link.target.id for link in links)
        if said or rest:
            relation = Relation(word(name, lang), tuple(said), links, max(0, len(rest) - MAX_RELATED))
            yield Section(name, relation.label, (relation,))


def _said(edges: Iterable[Edge]) -> tuple[str, ...]:
    return tuple(e.entry or e.kind for e in edges)


def _ends(edges: Iterable[Edge], known: Knowledge) -> Iterable[str]:
    for edge in edges:
        if edge.entry:
            yield edge.entry
        else:
            yield from (b.code for b in known.catalog() if b.kind == edge.kind and b.role == "cause")


def entry_links(codes: Iterable[str], known: Knowledge, lang: str) -> Iterable[Link]:
    for code in codes:
        if (other := known.entry(code)) is not None:
            yield Link(Target("entry", code), plain.text(other.title).pick(lang))


def mentions(codes: Sequence[str], known: Knowledge, lang: str) -> Section:
    """The entries that speak of a code or a variable."""
    return Section("mentions", word("mentions", lang), tuple(entry_links(codes[:MAX_RELATED], known, lang)))


def code(row: Mapping[str, Any], lang: str) -> Document:
    """An error code, of one of the families that have it."""
    facts = (_pick(row.get("family_title"), lang) or str(row.get("family", "")), _pick(row.get("component"), lang))
    causes = tuple(_pick(cause, lang) for cause in row.get("causes") or ())
    blocks: list[Block] = [Prose(_pick(row["meaning"], lang), word("explain.meaning", lang))]
    if causes:
        blocks.append(Listed(word("explain.causes", lang), causes))
    section = Section("about", "", (*blocks, *_pairs(row, _OF_CODE, lang)))
    return Document(str(row["code"]), str(row.get("name") or ""), facts, (section,))


def variable(row: Mapping[str, Any], lang: str) -> Document:
    """An environment variable."""
    undo = _pick(row.get("undo"), lang)
    return Document(
        str(row["name"]),
        "",
        (),
        (
            Section("about", "", (Prose(_pick(row.get("purpose"), lang), word("explain.purpose", lang)),)),
            Section("fields", "", (*_pairs(row, _OF_VARIABLE, lang), *((Command(undo, (), True),) if undo else ()))),
        ),
    )


def card(row: Mapping[str, Any], lang: str) -> Document:
    """A reference card."""
    code_block = row.get("code_block") or row.get("snippet") or {}
    code = str(code_block.get("text", "")).rstrip() if isinstance(code_block, Mapping) else ""
    sections = (
        Section("text", "", (Prose(_pick(row.get("text"), lang).strip()),)),
        Section("code", "", (Code(code, str(code_block.get("lang", "sh"))),) if code else ()),
        Section("refs", word("refs", lang), references(row.get("references") or ())),
    )
    return Document(str(row["code"]), _pick(row.get("title"), lang), (), tuple(s for s in sections if s.blocks))


def bits(found: Iterable[Mapping[str, Any]], lang: str) -> Document:
    """The bits that are set in a word of error bits."""
    blocks: list[Block] = []
    for one in found:
        blocks.append(Pair(str(one["where"]), _pick(one["meaning"], lang)))
        if one.get("action"):
            blocks.append(Bullet(_pick(one["action"], lang)))
    return Document("", word("explain.bits", lang), (), (Section("about", "", tuple(blocks)),))


def _pairs(row: Mapping[str, Any], names: Iterable[str], lang: str) -> tuple[Pair, ...]:
    found = ((_label(name, lang), _pick(row.get(name), lang)) for name in names)
    return tuple(Pair(label, text) for label, text in found if text)


def _label(name: str, lang: str) -> str:
    return word(name if name in ("confidence", "caution") else f"explain.{name}", lang)


def _pick(value: object, lang: str) -> str:
    """A field of a table in the reader's language, whatever its shape."""
    if isinstance(value, Mapping):
        return str(value.get(lang) or value.get("en") or "")
    if isinstance(value, (list, tuple)):
        return ", ".join(_pick(v, lang) for v in value)
    return "" if value is None else str(value)
