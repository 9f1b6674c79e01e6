"""Draws the blocks of documents for a terminal: labels in a column, what is to be pasted on lines of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from doctor.base import notation
from doctor.base.words import word
from doctor.render.document import (
    Block,
    Bullet,
    Code,
    Command,
    Decoded,
    Document,
    Evidence,
    Fix,
    Link,
    Listed,
    Pair,
    Prose,
    Reference,
    Relation,
)
from doctor.render.layout import Style, cells, cut, linked, paint, wrap

if TYPE_CHECKING:  # explaining needs no report
    from doctor.render.compose import Finding

LABEL = 10  # cells of the label column


def labelled(label: str, text: str, style: Style, name: str | None = None, link: str = "") -> Iterator[str]:
    """Text behind its label, wrapped; `link`: the page or file that it leads to where a terminal can follow."""
    pad = " " * max(0, LABEL - 2 - cells(label))
    for number, row in enumerate(wrap(text, max(20, style.width - LABEL - 1))):
        head = f"  {paint(label, 'label', style)}{pad}" if not number else " " * LABEL
        shown = linked(paint(row, name, style) if name else row, link, style) if link else paint(row, name, style) if name else row
        yield f"{head} {shown}".rstrip()


def headline(found: Finding, style: Style, most: int | None = None) -> Iterator[str]:
    """Severity, code, title, and how sure at the right of the first row: a long title wraps, over `most` rows where that is said."""
    head = cells(found.tag) + len(found.code) + 4
    tail = f"{found.confidence} {found.sure}"
    room = style.width - head
    beside = room - cells(tail) - 2 >= 24  # a narrow screen has it beneath the code
    wide = room - cells(tail) - 2 if beside else max(20, room)
    rows = wrap(" ".join(found.title.split()), wide)
    if most is not None and len(rows) > most:
        rows = [*rows[: most - 1], cut(" ".join(rows[most - 1 :]), wide)]
    gap = " " * max(2, room - cells(rows[0]) - cells(tail)) if beside else ""
    begin = f"{paint(found.tag, found.severity, style)}  {paint(found.code, 'bold', style)}  {paint(rows[0], 'bold', style)}"
    yield f"{begin}{gap}{paint(tail, 'dim', style) if beside else ''}"
    yield from (" " * head + paint(row, "bold", style) for row in rows[1:])
    if not beside:
        yield " " * head + paint(tail, "dim", style)


def bullet(text: str, style: Style) -> Iterator[str]:
    for number, row in enumerate(wrap(text, max(20, style.width - 4))):
        yield ("  - " if not number else "    ") + row


def indented(text: str, style: Style, indent: int = 6) -> Iterator[str]:
    for row in wrap(text, max(20, style.width - indent)):
        yield f"{' ' * indent}{row}"


def joined(notes: tuple[str, ...]) -> str:
    """Notes one behind the other, without a full stop before a semicolon."""
    return "; ".join((*(note.rstrip(".。") for note in notes[:-1]), *notes[-1:]))


def command(one: Command, lang: str, style: Style, indent: int) -> Iterator[str]:
    """A line to paste is never broken; its notes go above when they do not fit. What takes it back is a remark: a block is pasted whole."""
    told, rows = joined(one.notes), one.run.split("\n")
    if one.undo:
        yield from remark(one.notes, style, indent)
        yield from (" " * indent + paint(f"# {word('undo', lang)}: {row}", "dim", style) for row in rows)
        return
    if told and len(rows) == 1 and indent + cells(one.run) + 4 + cells(told) <= style.width:
        yield " " * indent + paint(one.run, "code", style) + paint(f"    # {told}", "dim", style)
        return
    yield from remark(one.notes, style, indent)
    for row in rows:
        yield " " * indent + paint(row, "code", style)


def remark(notes: tuple[str, ...], style: Style, indent: int) -> Iterator[str]:
    """What to know before a command, above it; nothing without notes."""
    for row in wrap(joined(notes), max(20, style.width - indent - 2)) if notes else ():
        yield " " * indent + paint(f"# {row}", "dim", style)


def command_labelled(label: str, run: str, style: Style) -> Iterator[str]:
    """A labelled line to paste: never broken."""
    pad = " " * max(0, LABEL - 2 - cells(label))
    yield f"  {paint(label, 'label', style)}{pad} {paint(run, 'code', style)}"


def fixes(found: Iterable[Fix], lang: str, style: Style) -> Iterator[str]:
    """Fixes in the order in which to try them; commands and variables stand on lines of their own, ready to be pasted."""
    for number, fix in enumerate(found, 1):
        label = word("fix", lang) if number == 1 else ""
        yield from labelled(label, f"{number}. [{fix.goal}] {fix.headline}", style)
        for part in fix.parts:
            if isinstance(part, Bullet):
                yield from labelled("", f"- {part.text}", style)
            elif isinstance(part, Command):
                yield from command(part, lang, style, LABEL + 2)
            else:
                yield from _code(part, style, LABEL + 2)


def _code(part: Code, style: Style, indent: int) -> Iterator[str]:
    if part.note:
        yield from labelled("", f"# {part.note}", style, "dim")
    for row in part.text.split("\n"):
        yield " " * indent + paint(row, "dim" if part.old else "code", style)


_ASIDE = ("patterns", "variables", "template")  # of an entry: for who looks into the knowledge itself
_APART = ("cause", "fix", "text", "code", "refs")


def explained(found: Document, lang: str, style: Style) -> str:
    """A document of the knowledge, whole."""
    rows = [*_head(found, style)]
    for section in found.sections:
        if section.name in _ASIDE:
            continue
        if section.name in _APART:
            rows.append("")
        if section.name == "fix":
            rows += fixes(found.fixes, lang, style)
            continue
        if section.name == "mentions":
            rows.append(f"{section.label}:")
        for block in section.blocks:
            rows += _block(block, lang, style)
    return "\n".join(rows) + "\n"


def _head(found: Document, style: Style) -> Iterator[str]:
    head = "  ".join(paint(text, "bold", style) for text in (found.code, found.title) if text)
    if head:
        yield head
    facts = f" {style.dot} ".join(fact for fact in found.facts if fact)
    if facts:
        yield paint(facts, "dim", style)


def _block(block: Block, lang: str, style: Style) -> Iterable[str]:
    if isinstance(block, Prose):
        return _pair(block.label, block.text, style) if block.label else wrap(block.text, style.width)
    if isinstance(block, Pair):
        return _pair(block.label, block.text, style)
    if isinstance(block, Listed):
        return _pair(block.label, "; ".join(block.texts), style)
    if isinstance(block, Bullet):
        return indented(block.text, style, 4)
    if isinstance(block, Command):
        return command(block, lang, style, 2)
    if isinstance(block, Code):
        return _code(block, style, 4)
    if isinstance(block, Relation):
        told = block.said or tuple(link.target.id for link in block.links)
        return _pair(block.label, ", ".join(told), style)
    if isinstance(block, Link):
        head = f"  {block.target.id}  "
        rows = wrap(block.text, max(20, style.width - cells(head)))
        return [(head if not number else " " * cells(head)) + row for number, row in enumerate(rows)]
    if isinstance(block, Reference):
        return [f"  {block.title}  {block.url}".rstrip()]
    if isinstance(block, Fix):
        return fixes((block,), lang, style)
    if isinstance(block, Evidence):
        return [f"  {notation.place(block.path, block.line)}", *(f"    {row}" for row in block.text.split("\n"))]
    if isinstance(block, Decoded):
        return _pair(block.code, f"{block.name} {block.meaning}".strip(), style)
    return [f"  {block.text}"]  # a pattern


def _pair(label: str, text: str, style: Style) -> Iterator[str]:
    head = f"{label}: "
    first, *more = wrap(head + text, max(20, style.width - 4))
    named = first.startswith(head)
    yield f"  {paint(head, 'label', style)}{first[len(head):]}" if named else f"  {first}"
    yield from (f"    {row}" for row in more)
