"""Who names an entry, a code, a variable: the relations of the knowledge read backwards."""

from __future__ import annotations

from kb import spelling
from kb.knowledge import Knowledge
from kb.model import Entry


class Backlinks:
    """Who names an entry: what it shows up as, and its more precise forms. Read once: it needs every entry."""

    def __init__(self, known: Knowledge) -> None:
        self._by_entry: dict[str, list[tuple[str, str]]] = {}
        self._by_kind: dict[str, list[str]] = {}
        self._by_word: dict[str, list[str]] = {}
        for brief in known.catalog():
            for term in set(brief.words.split()):
                if len(term) > 3 and (term.isupper() or any(c.isdigit() or c == "_" for c in term)):
                    self._by_word.setdefault(term, []).append(brief.code)
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
