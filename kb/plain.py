"""An entry as it reads outside any diagnosis: nothing is bound, and no text shows a slot."""

from __future__ import annotations

from kb.model import Entry, Fix, Text, Variant
from kb.placeholders import closed, fill_code, unbound


def text(written: Text) -> Text:
    """Both languages without slots."""
    return Text(unbound(written.en), closed(unbound(written.zh)))


def entry(written: Entry) -> Entry:
    """The entry with defaults and words to fill in where a diagnosis would put what the log told."""
    return written._replace(
        title=text(written.title),
        cause=text(written.cause),
        fixes=tuple(_fix(fix) for fix in written.fixes),
        variants=tuple(_variant(variant) for variant in written.variants),
    )


def _variant(variant: Variant) -> Variant:
    return variant._replace(
        title=_maybe(variant.title), cause=_maybe(variant.cause), fixes=tuple(_fix(fix) for fix in variant.fixes)
    )


def fixes(written: tuple[Fix, ...]) -> tuple[Fix, ...]:
    """Fixes without slots."""
    return tuple(_fix(fix) for fix in written)


def _fix(fix: Fix) -> Fix:
    return fix._replace(
        title=text(fix.title),
        steps=tuple(text(step) for step in fix.steps),
        env=tuple(e._replace(value=unbound(e.value), caution=_maybe(e.caution)) for e in fix.env),
        commands=tuple(
            c._replace(run=unbound(c.run), changes=_maybe(c.changes), why=_maybe(c.why)) for c in fix.commands
        ),
        code=fix.code._replace(before=fill_code(fix.code.before, {}), after=fill_code(fix.code.after, {})) if fix.code else None,
    )


def _maybe(written: Text | None) -> Text | None:
    return text(written) if written is not None else None
