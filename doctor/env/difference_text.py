"""Differences of machines as text or Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from doctor.base.words import word
from doctor.env.difference import Difference, Node
from doctor.render.layout import cells, cut
from doctor.render.markdown import escape

MAX_NAMES = 6  # machines named in one group
MAX_VALUES = 12  # of one fact
MAX_BESIDE = 4
VALUE = 60  # cells


def render(nodes: Sequence[Node], rows: Sequence[Difference], lang: str, markdown: bool, facts: int) -> str:
    lines = _markdown(rows, lang) if markdown else _text(rows, lang)
    if not rows:
        return word("env.diff-same", lang, nodes=len(nodes), facts=facts) + "\n"
    head = word("env.diff-head-one", lang, nodes=len(nodes)) if len(rows) == 1 else word("env.diff-head", lang, nodes=len(nodes), rows=len(rows))
    return "\n".join([("# " if markdown else "") + head, "", *lines]) + "\n"


def who(names: Sequence[str], last: bool, lang: str) -> str:
    """Machines by name; a large group by its number, the largest as the others."""
    if len(names) <= MAX_NAMES:
        return ", ".join(names)
    if last:
        return word("env.diff-others", lang, nodes=len(names))
    return f"{', '.join(names[:3])} ... ({word('env.diff-nodes', lang, nodes=len(names))})"


def _groups(row: Difference, lang: str) -> Iterator[tuple[str, str]]:
    shown = row.values if len(row.values) <= MAX_VALUES else (*row.values[: MAX_VALUES - 1], row.values[-1])
    for number, (value, names) in enumerate(shown):
        if number == MAX_VALUES - 1 and len(row.values) > MAX_VALUES:
            yield f"... +{len(row.values) - MAX_VALUES}", ""
        yield value or word("env.diff-absent", lang), who(names, number == len(shown) - 1, lang)


def _text(rows: Sequence[Difference], lang: str) -> Iterator[str]:
    for row in rows:
        yield row.fact
        groups = [(cut(value, VALUE), names) for value, names in _groups(row, lang)]
        wide = max(cells(value) for value, _ in groups) + 2
        yield from (f"  {value}{' ' * (wide - cells(value))}{names}".rstrip() for value, names in groups)
        if row.beside:
            yield f"    {word('env.diff-with', lang)}: {_beside(row)}"
        yield ""


def _beside(row: Difference) -> str:
    more = f" ... +{len(row.beside) - MAX_BESIDE}" if len(row.beside) > MAX_BESIDE else ""
    return ", ".join(row.beside[:MAX_BESIDE]) + more


def _markdown(rows: Sequence[Difference], lang: str) -> Iterator[str]:
    yield "| | | |\n| --- | --- | --- |"
    for row in rows:
        for number, (value, names) in enumerate(_groups(row, lang)):
            yield f"| {escape(row.fact) if not number else ''} | {escape(value)} | {escape(names)} |"
