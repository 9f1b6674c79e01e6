"""The knowledge as cards: an entry, a code, a variable, a reference card, each with the links that lead on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from doctor.answer.advice import fix_json
from doctor.tui.shell.doc import Doc, Target
from doctor.tui.shell.words import word
from kb import plain, spelling
from kb.knowledge import Knowledge
from kb.model import Edge, Entry, Signal, Text

MAX_RELATED = 12


def card(known: Knowledge, target: Target, lang: str, back: Backlinks | None = None) -> Doc:
    """The card of anything the knowledge has; an empty one when it has it no longer."""
    doc = Doc(target.id)
    if target.kind == "entry" and (entry := known.entry(target.id)) is not None:
        _entry(doc, entry, known, lang, back)
    elif target.kind == "code":
        code, _, family = target.id.partition("@")
        rows = known.decode(code)
        for row in sorted(rows, key=lambda r: r.get("family") != family and bool(family)):
            _code(doc, row, lang)
        _mentions(doc, code, known, lang, back)
    elif target.kind == "variable" and (variable := known.variable(target.id)) is not None:
        _variable(doc, variable, lang)
        _mentions(doc, target.id, known, lang, back)
    elif target.kind == "card" and (reference := known.card(target.id)) is not None:
        _reference_card(doc, reference, lang)
    return doc


def filled(text: Text, lang: str) -> str:
    """A text outside a diagnosis: placeholders show their default or a word to fill in."""
    return plain.text(text).pick(lang)


def _entry(doc: Doc, entry: Entry, known: Knowledge, lang: str, back: Backlinks | None) -> None:
    doc.title(entry.code, filled(entry.title, lang))
    applies = " ".join(f"{k} {v}" for k, v in entry.applies_to)
    doc.facts(
        word(entry.severity, lang),
        word(f"role:{entry.role}", lang),
        known.kind_title(entry.kind).pick(lang),
        entry.component,
        entry.status if entry.status != "stable" else "",
    )
    doc.pair(word("applies", lang), applies)
    doc.label(word("cause", lang))
    doc.text(filled(entry.cause, lang))
    doc.label(word("patterns", lang))
    for signal in entry.signals[:20]:
        doc.bullet(_pattern(signal), "·", "code")
    fixes(doc, [fix_json(f) for f in plain.entry(entry).fixes], lang)
    _cards_of_variables(doc, [e.name for f in entry.fixes for e in f.env], known, lang)
    relations(doc, entry, known, lang, back)
    if entry.repro:
        doc.label(word("template", lang))
        doc.text(f"{entry.repro[0]}  ({', '.join(f'{k}={v}' for k, v in entry.repro[1])})".replace("  ()", ""), "code")
    references(doc, [r._asdict() for r in entry.references], lang)


def _pattern(signal: Signal) -> str:
    """A leaf as its author wrote it: codes and exit codes are known by their numbers, not by the patterns made of them."""
    if signal.form in ("code", "exit"):
        return f"{signal.form} {' / '.join(signal.anchors[:6])}"
    if signal.form == "fields":
        return f"{signal.table}: " + ", ".join(f"{k} {v}" for k, v in signal.where)
    return signal.pattern


def fixes(doc: Doc, found: Iterable[Mapping[str, Any]], lang: str) -> None:
    """The fixes in the order in which to try them; every command ready to be pasted."""
    found = list(found)
    if found:
        doc.label(word("fix", lang))
    for number, fix in enumerate(found, 1):
        doc.bullet(f"[{word(fix['goal'], lang)}] {fix['title'][lang]}", f"{number}.", "goal")
        for step in fix.get("steps", ()):
            doc.bullet(step[lang], "   -")
        for env in fix["env"]:
            caution = env["caution"][lang] if env["caution"] else ""
            doc.code(f"export {env['name']}={env['value']}", "sh", caution)
            doc.code(f"{env['undo']}    # {word('undo', lang)}", "sh")
        for command in fix["commands"]:
            notes = [command["why"][lang]] if command["why"] else []
            if command["changes"]:
                notes.append(f"{word('changes', lang)}: {command['changes'][lang]}")
            doc.code(command["run"], "sh", "; ".join(notes))
        if code := fix.get("code"):
            if code["before"].strip():
                doc.code(code["before"], code["lang"], word("before", lang))
                doc.code(code["after"], code["lang"], word("after", lang))
            else:
                doc.code(code["after"], code["lang"])


def paste_of(fix: Mapping[str, Any]) -> str:
    """What of a fix can be pasted: variables, commands, else its code."""
    rows = [f"export {e['name']}={e['value']}" for e in fix["env"]] + [c["run"] for c in fix["commands"]]
    if not rows and fix.get("code"):
        rows = [fix["code"]["after"].rstrip()]
    return "\n".join(rows)


def references(doc: Doc, found: Iterable[Mapping[str, Any]], lang: str) -> None:
    rows = [f"{r['title']}  {r['url'] or ''}".strip() for r in found]
    if rows:
        doc.label(word("refs", lang))
        for row in rows:
            doc.bullet(row, "-", "dim")


def relations(doc: Doc, entry: Entry, known: Knowledge, lang: str, back: Backlinks | None = None) -> None:
    """What the entry follows from, what follows from it: each a link."""
    groups = (
        ("symptom_of", list(_ends(entry.symptom_of, known))),
        ("caused_by", list(_ends(entry.caused_by, known))),
        ("refines", [*entry.refines]),
        ("refined_by", back.of(entry, "refined_by") if back else []),
        ("leads_to", back.of(entry, "leads_to") if back else []),
    )
    seen: set[str] = set()
    for name, codes in groups:
        rest = [c for c in dict.fromkeys(codes) if c != entry.code and c not in seen]
        if not rest:
            continue
        doc.label(word(name, lang))
        for code in rest[:MAX_RELATED]:
            if (other := known.entry(code)) is not None:
                seen.add(code)
                doc.link(Target("entry", code), filled(other.title, lang))
        if len(rest) > MAX_RELATED:
            doc.text(f"... {len(rest) - MAX_RELATED} {word('more', lang)}", "dim")


def _ends(edges: Iterable[Edge], known: Knowledge) -> Iterable[str]:
    for edge in edges:
        if edge.entry:
            yield edge.entry
        else:
            yield from (b.code for b in known.catalog() if b.kind == edge.kind and b.role == "cause")


class Backlinks:
    """Who names an entry: what it shows up as, and its more precise forms. Read once: it needs every entry."""

    def __init__(self, known: Knowledge) -> None:
        self._by_entry: dict[str, list[tuple[str, str]]] = {}
        self._by_kind: dict[str, list[str]] = {}
        self._by_word: dict[str, list[str]] = {}
        for brief in known.catalog():
            for word_ in set(brief.words.split()):
                if len(word_) > 3 and (word_.isupper() or any(c.isdigit() or c == "_" for c in word_)):
                    self._by_word.setdefault(word_, []).append(brief.code)
        for code in known.codes_of_entries:
            entry = known.entry(code)
            if entry is None:
                continue
            for edge in entry.symptom_of:
                if edge.entry:
                    self._by_entry.setdefault(edge.entry, []).append(("leads_to", code))
                else:
                    self._by_kind.setdefault(edge.kind, []).append(code)
            for edge in entry.caused_by:
                self._by_entry.setdefault(edge.entry, []).append(("leads_to", code))
            for other in entry.refines:
                self._by_entry.setdefault(other, []).append(("refined_by", code))

    def about(self, written: str) -> list[str]:
        """Entries whose words hold a code or a variable, in any of its spellings."""
        names = [k for k in spelling.candidates(written) if len(k) > 3] or [written]
        return sorted({code for name in names for code in self._by_word.get(name, ())})

    def of(self, entry: Entry, name: str) -> list[str]:
        found = [code for way, code in self._by_entry.get(entry.code, ()) if way == name]
        if name == "leads_to" and entry.role == "cause":
            found += self._by_kind.get(entry.kind, ())
        return found


def _cards_of_variables(doc: Doc, names: Iterable[str], known: Knowledge, lang: str) -> None:
    unique = list(dict.fromkeys(n for n in names if known.variable(n)))
    if unique:
        doc.label(word("variables", lang))
    for name in unique:
        row = known.variable(name) or {}
        doc.link(Target("variable", name), _pick(row.get("purpose"), lang))


def _code(doc: Doc, row: Mapping[str, Any], lang: str) -> None:
    from doctor.commands.explain import LABELS

    family = row.get("family_title")
    doc.title(str(row["code"]), str(row.get("name") or ""))
    doc.facts(_pick(family, lang) or str(row.get("family", "")), _pick(row.get("component"), lang))
    doc.text(_pick(row["meaning"], lang))
    for cause in row.get("causes") or ():
        doc.bullet(_pick(cause, lang), "·")
    for name in ("severity", "action", "related", "confidence", "ref"):
        doc.pair(LABELS[name][lang == "zh"], _pick(row.get(name), lang))
    doc.gap()


def _variable(doc: Doc, row: Mapping[str, Any], lang: str) -> None:
    from doctor.commands.explain import LABELS

    doc.title(str(row["name"]), "")
    doc.text(_pick(row.get("purpose"), lang))
    doc.gap()
    for name in (
        "component",
        "type",
        "values",
        "range",
        "default",
        "caution",
        "since",
        "deprecated",
        "confidence",
        "ref",
    ):
        doc.pair(LABELS[name][lang == "zh"], _pick(row.get(name), lang))
    if undo := _pick(row.get("undo"), lang):
        doc.code(undo, "sh", LABELS["undo"][lang == "zh"])


def _reference_card(doc: Doc, row: Mapping[str, Any], lang: str) -> None:
    doc.title(str(row["code"]), _pick(row.get("title"), lang))
    doc.gap()
    doc.text(_pick(row.get("text"), lang).strip())
    block = row.get("code_block") or row.get("snippet") or {}
    if isinstance(block, Mapping) and block.get("text"):
        doc.code(str(block["text"]), str(block.get("lang", "sh")))
    references(doc, [{"title": r.get("title", ""), "url": r.get("url", "")} for r in row.get("references") or ()], lang)


def _mentions(doc: Doc, written: str, known: Knowledge, lang: str, back: Backlinks | None) -> None:
    about = back.about(written) if back else []
    if about:
        doc.label(word("mentions", lang))
    for code in about[:MAX_RELATED]:
        if (entry := known.entry(code)) is not None:
            doc.link(Target("entry", code), filled(entry.title, lang))


def _pick(value: object, lang: str) -> str:
    """A field of a table in the reader's language, whatever its shape."""
    if isinstance(value, Mapping):
        return str(value.get(lang) or value.get("en") or "")
    if isinstance(value, (list, tuple)):
        return ", ".join(_pick(v, lang) for v in value)
    return "" if value is None else str(value)
