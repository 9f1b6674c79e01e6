"""`npu-doctor kb site -o DIR`: all knowledge as static pages in both languages, with a search that needs no server."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from doctor import render
from doctor.base import exits, notation
from doctor.base.addresses import path_of
from doctor.base.errors import UsageError
from doctor.base.output import inert
from doctor.base.words import named, word
from doctor.commands import common
from doctor.lookup.backlinks import Backlinks
from doctor.render import describe, site
from doctor.render.document import Document, Target
from kb import plain
from kb.invisible import STEERING
from kb.knowledge import Knowledge

LANGUAGES = ("en", "zh")
MAX_WORDS = 240  # of a page in the index, besides its title


def write(args: argparse.Namespace) -> int:
    known, folder = common.knowledge(args), Path(args.output)
    _empty(folder)
    files = size = 0
    try:
        for path, text in files_of(known):
            data = text.encode("utf-8")
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
            files, size = files + 1, size + len(data)
    except OSError as error:
        raise UsageError(f"cannot write '{error.filename or folder}': {error.strerror}", "-o DIR names a folder that you may write") from error
    sys.stdout.write(word("kb.site-written", common.language(args), path=folder / "index.html", files=files, size=notation.size(size)) + "\n")
    return exits.CLEAN


def _empty(folder: Path) -> None:
    """Pages of an earlier time are written over; into a folder of other things nothing is written."""
    try:
        there = os.listdir(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"cannot write '{folder}': {error.strerror}", "-o DIR names a folder that you may write") from error
    if there and not {"index.html", "search.js", "style.css"} <= set(there):
        raise UsageError(f"'{folder}' holds other things", "-o DIR names a new folder, an empty one, or one that holds these pages already")


def files_of(known: Knowledge) -> Iterator[tuple[str, str]]:
    """Every file of the site: its path and its text; the same for the same knowledge."""
    back = Backlinks(known)
    rows = codes_of(known)
    counts = {"entries": len(known.codes_of_entries), "codes": len(rows), "variables": len(known.variables()), "version": known.packs[0].header.version}
    for lang in LANGUAGES:
        pages = tuple(_pages(known, back, rows, lang))
        addresses = {f"{page.target.kind} {page.target.id}": page.path for page in pages}
        for page in pages:
            yield f"{lang}/{page.path}", _seen(site.page(page, lang, addresses))
        index = [(page.document.code, page.target.kind, page.path, _title(page.document), page.words) for page in pages]
        told = inert(json.dumps(index, ensure_ascii=False, separators=(",", ":")), "json")
        yield f"{lang}/index.json", told
        yield f"{lang}/index.js", f"const INDEX = {told};\n"
        yield f"{lang}/index.html", _seen(site.front(_groups(known, pages, lang), lang, word("kb.site-counts", lang, **counts)))
    yield "style.css", site.style()
    yield "search.js", (Path(render.__file__).parent / "site.js").read_text(encoding="utf-8")
    yield "index.html", site.entrance()


def _seen(page: str) -> str:
    """A page in which nothing is invisible and no text runs the other way: patterns of logs may hold anything."""
    return STEERING.sub("?", page)


def codes_of(known: Knowledge) -> list[tuple[str, dict[str, object]]]:
    """Every code with its place `FAMILY/CODE`; a family that has a code twice tells them apart by a number."""
    found: list[tuple[str, dict[str, object]]] = []
    times: dict[str, int] = {}
    for row in sorted(known.all_codes(), key=lambda row: (str(row["family"]), str(row["code"]))):
        place = f"{row['family']}/{row['code']}"
        times[place.lower()] = times.get(place.lower(), 0) + 1
        found.append((place if times[place.lower()] == 1 else f"{place}-{times[place.lower()]}", row))
    return found


def _pages(known: Knowledge, back: Backlinks, rows: list[tuple[str, dict[str, object]]], lang: str) -> Iterator[site.Page]:
    for brief in known.catalog():
        entry = known.entry(brief.code)
        if entry is not None:
            yield _page(Target("entry", brief.code), describe.entry(entry, known, lang, back), brief.severity, brief.words)
    for check in known.checks():
        yield _page(Target("entry", check.code), describe.check(check, known, lang), check.severity, " ".join(fact for fact, _ in check.wants))
    for place, row in rows:
        yield _page(Target("code", place), _mentioned(describe.code(row, lang), str(row["code"]), known, back, lang))
    for name in known.variables():
        yield _page(Target("variable", name), _mentioned(describe.variable(known.variable(name) or {}, lang), name, known, back, lang))
    for code in known.cards():
        card = known.card(code) or {}
        yield _page(Target("card", code), describe.card(card, lang), "", " ".join(map(str, card.get("keywords") or ())))


def _mentioned(document: Document, written: str, known: Knowledge, back: Backlinks, lang: str) -> Document:
    mentions = describe.mentions(back.about(written), known, lang)
    return document._replace(sections=(*document.sections, mentions)) if mentions.blocks else document


def _page(target: Target, document: Document, severity: str = "", words: str = "") -> site.Page:
    return site.Page(target, path_of(target.kind, target.id), document, severity, words[:MAX_WORDS])


def _title(document: Document) -> str:
    """Its title; of what has none, the beginning of its first sentence."""
    if document.title and not document.title.isupper():
        return document.title
    first = next((getattr(block, "text", "") for section in document.sections for block in section.blocks), "")
    return f"{document.title} {first if len(first) <= 110 else first[:109].rstrip() + '…'}".strip()


def _groups(known: Knowledge, pages: tuple[site.Page, ...], lang: str) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """Entries by domain, codes by family, variables, cards, checks."""
    paths = {(page.target.kind, page.target.id): page for page in pages}
    briefs = known.catalog()
    for domain in sorted({brief.domain for brief in briefs}):
        yield domain, [(b.code, paths["entry", b.code].path, plain.text(b.title).pick(lang)) for b in briefs if b.domain == domain]
    checks = known.checks()
    yield word("kb.site-checks", lang), [(c.code, paths["entry", c.code].path, f"{named('env.group', c.group, lang)}: {plain.text(c.title).pick(lang)}") for c in checks]
    families: dict[str, list[tuple[str, str, str]]] = {}
    for page in pages:
        if page.target.kind == "code":
            families.setdefault(page.target.id.partition("/")[0], []).append((page.document.code, page.path, _title(page.document)))
    for family, rows in sorted(families.items()):
        yield f"{word('kb.site-codes', lang)}: {family}", rows
    for kind, title in (("variable", "kb.site-variables"), ("card", "kb.site-cards")):
        yield word(title, lang), [(p.document.code, p.path, _title(p.document)) for p in pages if p.target.kind == kind]
