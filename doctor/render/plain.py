"""A fix as plain lines, for messages of programs that show no markup: SARIF, JUnit, annotations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from doctor.base.words import word
from doctor.render.document import Bullet, Code, Fix, FixPart


def fixes(found: Iterable[Fix], lang: str) -> Iterator[str]:
    """Each fix with all its parts."""
    for number, fix in enumerate(found, 1):
        yield f"{number}. [{fix.goal}] {fix.headline}"
        for part in fix.parts:
            yield from _part(part, lang)


def _part(part: FixPart, lang: str) -> Iterator[str]:
    if isinstance(part, Bullet):
        yield f"   - {part.text}"
    elif isinstance(part, Code):
        if part.note:
            yield f"   # {part.note}"
        yield from (f"   {row}" for row in part.text.split("\n"))
    else:
        notes = "; ".join((*part.notes, *((word("undo", lang),) if part.undo else ())))
        if notes:
            yield f"   # {notes}"
        yield from (f"   {row}" for row in part.run.split("\n"))
