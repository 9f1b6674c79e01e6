"""A card: titled paragraphs, code and numbered links that are laid out for a width, or written as Markdown or text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from doctor.render.layout import cells, wrap
from doctor.render.markdown import escape, fence
from doctor.tui.shell import syntax
from doctor.tui.shell.line import BLANK, Line, Span, folded, shown


class Target(NamedTuple):
    """Where a link leads: an entry, a code, a variable, a card; or a place in a log."""

    kind: str  # entry | code | variable | card | place
    id: str


class _Block(NamedTuple):
    form: str  # title | label | text | bullet | code | link | gap
    text: str = ""
    label: str = ""
    style: str = ""
    lang: str = ""
    number: int = 0


class Doc:
    """Built once for a thing and a language; laid out at every width that a pane takes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.links: list[Target] = []
        self._blocks: list[_Block] = []

    def title(self, head: str, text: str, style: str = "title") -> None:
        self._blocks.append(_Block("title", text, head, style))

    def facts(self, *texts: str) -> None:
        self._blocks.append(_Block("text", "  ".join(t for t in texts if t), style="dim"))

    def label(self, text: str) -> None:
        self._blocks += [_Block("gap"), _Block("label", text, style="label")]

    def text(self, text: str, style: str = "") -> None:
        if text:
            self._blocks.append(_Block("text", text, style=style))

    def pair(self, label: str, text: str, style: str = "") -> None:
        if text:
            self._blocks.append(_Block("pair", text, label, style))

    def bullet(self, text: str, mark: str = "-", style: str = "") -> None:
        self._blocks.append(_Block("bullet", text, mark, style))

    def code(self, text: str, lang: str = "sh", remark: str = "") -> None:
        self._blocks.append(_Block("code", text.rstrip("\n"), remark, lang=lang))

    def log(self, text: str) -> None:
        self._blocks.append(_Block("log", text))

    def link(self, target: Target, text: str, style: str = "") -> None:
        """A numbered link: its number is the key that follows it."""
        self.links.append(target)
        self._blocks.append(_Block("link", text, target.id, style, number=len(self.links)))

    def gap(self) -> None:
        self._blocks.append(_Block("gap"))

    def layout(self, room: int) -> list[Line]:
        """The lines at that width."""
        lines: list[Line] = []
        for block in self._blocks:
            lines += self._lines(block, max(20, room))
        return lines

    def _lines(self, block: _Block, room: int) -> Iterable[Line]:
        if block.form == "gap":
            return [BLANK]
        if block.form == "title":
            head = f"{block.label}  " if block.label else ""
            rows = wrap(shown(block.text), max(8, room - cells(head)))
            pad = " " * cells(head)
            return [(Span(pad if i else head, "id"), Span(row, block.style)) for i, row in enumerate(rows)]
        if block.form == "label":
            return [(Span(shown(block.text), "label"),)]
        if block.form == "text":
            return folded(block.text, room, block.style)
        if block.form == "pair":
            return _hang(Span(f"{block.label}  ", "label"), block.text, room, block.style)
        if block.form == "bullet":
            return _hang(Span(f"{block.label} ", block.style or "dim"), block.text, room, block.style)
        if block.form == "link":
            mark = Span(f"[{block.number}] " if block.number < 10 else "    ", "key")
            first, *rest = _hang(mark, f"{block.label}  {block.text}".strip(), room, block.style)
            text = first[-1].text
            cut = len(block.label) if text.startswith(block.label) else 0
            return [(*first[:-1], Span(text[:cut], "link"), Span(text[cut:], block.style)), *rest]
        if block.form == "log":
            return folded(block.text, room, "log", 2)
        return self._code(block, room)

    def _code(self, block: _Block, room: int) -> list[Line]:
        """Lines to paste are never broken: a long one runs out of the pane (its whole text is what is copied)."""
        lines: list[Line] = []
        if block.label:
            lines += folded(f"# {block.label}", room, "dim", 2)
        for row in syntax.lines(block.text, block.lang):
            lines.append((Span("  "), *(Span(shown(s.text), s.style) for s in row)))
        return lines

    def markdown(self) -> str:
        """The card for an issue or a message; text from logs stands in fences that it cannot close."""
        rows: list[str] = []
        for block in self._blocks:
            if block.form == "gap":
                rows.append("")
            elif block.form == "title":
                rows += [f"## {escape(block.label)} {escape(block.text)}".replace("##  ", "## "), ""]
            elif block.form == "label":
                rows += [f"**{escape(block.text)}**", ""]
            elif block.form == "pair":
                rows.append(f"- {escape(block.label)}: {escape(block.text)}")
            elif block.form == "bullet":
                rows.append(f"- {escape(block.text)}")
            elif block.form == "link":
                rows.append(f"- {escape(block.label)} {escape(block.text)}".rstrip())
            elif block.form == "code":
                rows += ([f"{escape(block.label)}:"] if block.label else []) + fence(block.text, block.lang)
            elif block.form == "log":
                rows += fence(shown_lines(block.text))
            else:
                rows += [escape(block.text), ""]
        return "\n".join(rows).strip() + "\n"

    def plain(self) -> str:
        """Everything as text, for a test or a search."""
        return "\n".join("".join(s.text for s in line) for line in self.layout(100))


def shown_lines(text: str) -> str:
    return "\n".join(shown(row) for row in text.split("\n"))


def _hang(head: Span, text: str, room: int, style: str) -> list[Line]:
    """Text behind a head, further lines beneath its first letter."""
    indent = cells(head.text)
    if indent > room // 2:
        return [(head,), *folded(text, room, style, 2)]
    rows = [row for part in text.split("\n") for row in wrap(shown(part), max(8, room - indent))]
    return [(head if not i else Span(" " * indent), Span(row, style)) for i, row in enumerate(rows)]
