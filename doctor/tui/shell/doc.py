"""A card: documents laid out for the width of a pane with numbered links, or written as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from doctor.base import notation
from doctor.base.words import word
from doctor.render import markdown
from doctor.render.document import (
    Block,
    Bullet,
    Code,
    Command,
    Decoded,
    Document,
    Evidence,
    Fix,
    FixPart,
    Link,
    Listed,
    Pair,
    Pattern,
    Prose,
    Reference,
    Relation,
    Section,
    Target,
)  # fmt: skip
from doctor.render.excerpt import excerpt
from doctor.render.layout import cells, wrap
from doctor.render.markdown import escape, fence
from doctor.tui.shell import syntax
from doctor.tui.shell.line import BLANK, GLYPHS, Line, Span, folded, shown, tail, width

MAX_EVIDENCE = 6  # places shown on a card; all of them are in the evidence view
LEFT_OUT = ("note", "shape")  # they stand in `why` and in the evidence
CLOSE = ("where", "reason", "applies", "about", "codes", "code")  # sections that stand right beneath what is above them
HITS = "hits"  # evidence of which a line each is enough: the log itself is a key away


class Doc:
    """Made once for a thing and a language; laid out at every width that a pane takes."""

    def __init__(self, name: str, lang: str = "en", documents: Sequence[Document] = (), severity: str = "") -> None:
        self.name, self.lang, self.documents, self.severity = name, lang, tuple(documents), severity
        self.links = [target for d in self.documents for _, blocks in _sections(d) for b in blocks for target in _targets(b)]

    def layout(self, room: int) -> list[Line]:
        """The lines at that width."""
        return list(_Layout(self.lang, max(20, room), self.severity).lines(self.documents))

    def markdown(self) -> str:
        """The card for an issue or a message; text from logs stands in fences that it cannot close."""
        rows = [row for one in self.documents for row in _markdown(one, self.lang)]
        return "\n".join(rows).strip() + "\n"

    def plain(self) -> str:
        """Everything as text, for a test or a search."""
        return "\n".join("".join(s.text for s in line) for line in self.layout(100))


def _sections(document: Document) -> Iterator[tuple[Section, tuple[Block, ...]]]:
    """What a card shows of a document."""
    for section in document.sections:
        if section.name not in LEFT_OUT:
            yield section, section.blocks[:MAX_EVIDENCE] if section.name in ("evidence", HITS) else section.blocks


def _targets(block: Block) -> tuple[Target, ...]:
    if isinstance(block, Evidence):
        return (Target("place", notation.place(block.path, block.line)),)
    if isinstance(block, Relation):
        return tuple(link.target for link in block.links)
    return (block.target,) if isinstance(block, Link) else ()


class _Layout:
    """Blocks to lines of one width; links are numbered as they come, the number is the key that follows one."""

    def __init__(self, lang: str, room: int, severity: str) -> None:
        self.lang, self.room, self.severity, self._links = lang, room, severity, 0

    def lines(self, documents: Sequence[Document]) -> Iterator[Line]:
        for number, document in enumerate(documents):
            if number:
                yield BLANK
            yield from self._head(document)
            for section, blocks in _sections(document):
                if section.name not in CLOSE:
                    yield BLANK
                if section.label and section.name not in CLOSE:
                    yield (Span(shown(section.label), "label"),)
                if section.name == HITS:
                    yield from self._hits([b for b in blocks if isinstance(b, Evidence)])
                else:
                    for at, block in enumerate(blocks, 1):
                        yield from self._block(block, at)
                if section.aside:
                    hidden = len(section.blocks) - len(blocks)
                    yield from folded(section.aside + (f"  (+{hidden} v)" if hidden else ""), self.room, "dim")

    def _head(self, document: Document) -> Iterator[Line]:
        head = f"{document.code}  " if document.code else ""
        if head or document.title:
            rows = wrap(shown(document.title), max(8, self.room - cells(head)))
            pad = " " * cells(head)
            yield from ((Span(pad if i else head, "id"), Span(row, "title")) for i, row in enumerate(rows))
        facts = [fact for fact in document.facts if fact]
        if facts and self.severity:
            tag = Span(f"{GLYPHS.get(self.severity, '')} {facts.pop(0)}", self.severity)
            yield from self._hang(tag, "  " + "  ".join(facts), "dim")
        elif facts:
            yield from folded("  ".join(facts), self.room, "dim")

    def _hits(self, found: Sequence[Evidence]) -> Iterator[Line]:
        """A line each, beneath the name of its file."""
        path = ""
        for one in found:
            if one.path != path:
                path = one.path
                yield (Span(tail(shown(path), self.room), "dim"),)
            self._links += 1
            mark = Span(f"[{self._links}] " if self._links < 10 else "    ", "key")
            time = one.time.partition(" ")[2][:12]
            head = (mark, Span(f"{word('at-line', self.lang)} {one.line}", "link"), Span(f"  {time}  " if time else "  ", "dim"))
            yield (*head, *self._excerpt(one, self.room - width(head)))

    def _excerpt(self, one: Evidence, room: int) -> Iterator[Span]:
        """The part of a line that matched, marked, with what stands around it as far as there is room."""
        message = notation.message(one.text).strip()
        told = excerpt(one._replace(text=message) if one.matched in message else one, room)
        text, at = shown(told.text), 0
        for begin, end, style in ((0, told.at, "log"), (told.at, told.at + told.size, "matched"), (told.at + told.size, room, "log")):
            piece = ""
            while at < len(text) and cells(text[:at]) < end:
                piece, at = piece + text[at], at + 1
            if begin < end:
                yield Span(piece, style)

    def _block(self, block: Block, at: int) -> Iterable[Line]:
        if isinstance(block, Fix):
            return self._fix(block, at)
        if isinstance(block, (Bullet, Command, Code)):
            return self._part(block, "")
        if isinstance(block, Evidence):
            place = notation.place(block.path, block.line)
            return [*self._link(place, f"  {block.time}" if block.time else ""), *folded(block.text, self.room, "log", 2)]
        if isinstance(block, Link):
            return self._link(block.target.id, f"{block.text}  {block.aside}".rstrip())
        if isinstance(block, Relation):
            return self._relation(block)
        if isinstance(block, Prose):
            return folded(block.text, self.room)
        if isinstance(block, Pair):
            return self._hang(Span(f"{block.label}  ", "label"), block.text)
        if isinstance(block, Decoded):
            return self._hang(Span(f"{block.code} {block.name}".strip() + "  ", "label"), block.meaning)
        if isinstance(block, Listed):
            return [line for text in block.texts for line in self._hang(Span("· ", "dim"), text)]
        if isinstance(block, Pattern):
            return self._hang(Span("· ", "code"), block.text, "code")
        return self._hang(Span("- ", "dim"), f"{block.title}  {block.url}".strip(), "dim")

    def _fix(self, fix: Fix, number: int) -> Iterator[Line]:
        if number > 1:
            yield BLANK
        yield from self._hang(Span(f"{number}. ", "goal"), f"[{fix.goal}] {fix.headline}", "goal")
        for part in fix.parts:
            yield from self._part(part, "   ")

    def _part(self, part: FixPart, pad: str) -> Iterable[Line]:
        if isinstance(part, Bullet):
            return self._hang(Span(f"{pad}- ", "dim"), part.text)
        if isinstance(part, Code):
            return self._code(part.text, part.lang, part.note)
        undo = f"    # {word('undo', self.lang)}" if part.undo else ""
        return self._code(part.run + undo, "sh", "; ".join(part.notes))

    def _code(self, text: str, lang: str, remark: str) -> list[Line]:
        """Lines to paste are never broken: a long one runs out of the pane (its whole text is what is copied)."""
        lines = folded(f"# {remark}", self.room, "dim", 2) if remark else []
        for row in syntax.lines(text.rstrip("\n"), lang):
            code = (Span(" ", "code"), *(Span(shown(s.text), s.style) for s in row))
            lines.append((Span(" "), *code, Span(" " * max(1, self.room - 1 - width(code)), "code")))
        return lines

    def _relation(self, relation: Relation) -> Iterator[Line]:
        for link in relation.links:
            yield from self._link(link.target.id, link.text)
        if relation.more:
            yield from folded(word("n-more", self.lang, n=relation.more), self.room, "dim")

    def _link(self, label: str, text: str) -> list[Line]:
        self._links += 1
        mark = Span(f"[{self._links}] " if self._links < 10 else "    ", "key")
        first, *rest = self._hang(mark, f"{label}  {text}".strip())
        told = first[-1].text
        cut = len(label) if told.startswith(label) else 0
        return [(*first[:-1], Span(told[:cut], "link"), Span(told[cut:])), *rest]

    def _hang(self, head: Span, text: str, style: str = "") -> list[Line]:
        """Text behind a head, further lines beneath its first letter."""
        indent = cells(head.text)
        if indent > self.room // 2:
            return [(head,), *folded(text, self.room, style, 2)]
        rows = [row for part in text.split("\n") for row in wrap(shown(part), max(8, self.room - indent))]
        return [(head if not i else Span(" " * indent), Span(row, style)) for i, row in enumerate(rows)]


def _markdown(document: Document, lang: str) -> Iterator[str]:
    yield from (f"## {escape(document.code)} {escape(document.title)}".replace("##  ", "## ").rstrip(), "")
    if facts := "  ".join(fact for fact in document.facts if fact):
        yield from (escape(facts), "")
    for section, blocks in _sections(document):
        yield ""
        if section.label and section.name not in CLOSE:
            yield from (f"**{escape(section.label)}**", "")
        for at, block in enumerate(blocks, 1):
            yield from _markdown_block(block, at, lang)
        if section.aside:
            yield from ("", escape(section.aside))


def _markdown_block(block: Block, at: int, lang: str) -> Iterator[str]:
    if isinstance(block, Fix):
        yield f"{at}. {escape(f'[{block.goal}] {block.headline}')}"
        yield from markdown.parts(block, lang)
    elif isinstance(block, (Bullet, Command, Code)):
        yield from markdown.parts(Fix("", "", (), (block,)), lang)
    elif isinstance(block, Evidence):
        yield f"- {escape(notation.place(block.path, block.line))} {escape(block.time)}".rstrip()
        yield from fence("\n".join(map(shown, block.text.split("\n"))))
    elif isinstance(block, Relation):
        yield from (f"- {escape(link.target.id)} {escape(link.text)}" for link in block.links)
    elif isinstance(block, Prose):
        yield from (escape(block.text), "")
    else:
        yield f"- {escape(_told(block))}"


def _told(block: Pair | Listed | Pattern | Decoded | Link | Reference) -> str:
    """A block of one line."""
    if isinstance(block, Pair):
        return f"{block.label}: {block.text}"
    if isinstance(block, Listed):
        return f"{block.label}: {'; '.join(block.texts)}"
    if isinstance(block, Decoded):
        return block.told
    if isinstance(block, Link):
        return f"{block.target.id} {block.text} {block.aside}".rstrip()
    if isinstance(block, Reference):
        return f"{block.title} {block.url}".rstrip()
    return block.text
