"""The knowledge as cards: an entry, a code, a variable, a reference card, each with the links that lead on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import kb
from doctor.lookup.backlinks import Backlinks
from doctor.render import describe
from doctor.render.document import Document, Target
from doctor.tui.shell.doc import Doc
from kb.knowledge import Knowledge


def card(known: Knowledge, target: Target, lang: str, back: Backlinks | None = None) -> Doc:
    """The card of anything the knowledge has; an empty one when it has it no longer."""
    entry = known.entry(target.id) if target.kind == "entry" else None
    return Doc(target.id, lang, tuple(_documents(known, target, lang, back)), entry.severity if entry else "")


def _documents(known: Knowledge, target: Target, lang: str, back: Backlinks | None) -> Iterator[Document]:
    if target.kind == "entry" and (entry := known.entry(target.id)) is not None:
        yield _arranged(describe.entry(entry, known, lang, back))
    elif target.kind == "code":
        code, _, family = target.id.partition("@")
        rows = sorted(known.decode(code), key=lambda r: r.get("family") != family and bool(family))
        found = [describe.code(row, lang) for row in rows]
        yield from found[:-1]
        yield from (_with_mentions(one, code, known, lang, back) for one in found[-1:])
    elif target.kind == "variable" and (variable := known.variable(target.id)) is not None:
        yield _with_mentions(describe.variable(variable, lang), target.id, known, lang, back)
    elif target.kind == "card" and (reference := known.card(target.id)) is not None:
        yield describe.card(reference, lang)


LATE = ("patterns", "template", "refs")  # what an author wants to know; a reader wants the way out


def _arranged(one: Document) -> Document:
    return one._replace(sections=tuple(sorted(one.sections, key=lambda s: s.name in LATE)))


def _with_mentions(one: Document, written: str, known: Knowledge, lang: str, back: Backlinks | None) -> Document:
    """Beneath it the entries that speak of it."""
    about = describe.mentions(back.about(written), known, lang) if back else None
    return one._replace(sections=(*one.sections, about)) if about and about.blocks else one


def template_text(name: str) -> str:
    """The source of a template; empty when there is none of that name."""
    if not name.isidentifier() or name.startswith("_"):
        return ""
    path = Path(kb.__file__).parent / "repro" / f"{name}.py"
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
