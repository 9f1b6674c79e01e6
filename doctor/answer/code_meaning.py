"""What a code that a finding caught means, by the tables of codes: told at once, so that nobody has to look it up.

Texts of an entry may name it after the capture: `{event_is|}` is the short name, `{event_means|}` the meaning, `{event_advice|}` what to do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from doctor.answer.advice import Values
from doctor.answer.of_stack import fitted
from doctor.findings.situation import UNKNOWN, Situation
from kb.knowledge import Knowledge
from kb.model import Entry, Text
from parsers.lazy import lazy

_SLOT = lazy(r"\{(\w+)_(?:is|means|advice)[|}]")


def completed(known: Values, entry: Entry, knowledge: Knowledge, situation: Situation = UNKNOWN) -> Values:
    """The values with what the tables say of the codes that the entry's texts ask for."""
    asked = {match[1] for text in _texts(entry) if "_" in text.en for match in _SLOT.finditer(text.en)}
    one, zh = dict(known.one), dict(known.zh)
    for name in sorted(asked):
        row = _row(known.one.get(name, ""), knowledge)
        if row is None:
            continue
        meaning, action = _sentence(row["meaning"]), _sentence(fitted(row.get("action") or {}, situation))
        one |= {f"{name}_is": row.get("name") or meaning["en"], f"{name}_means": meaning["en"]} | ({f"{name}_advice": action["en"]} if action["en"] else {})
        zh |= {f"{name}_is": meaning["zh"], f"{name}_means": meaning["zh"]} | ({f"{name}_advice": action["zh"]} if action["zh"] else {})
    return known._replace(one=one, zh=zh) if asked else known


def _texts(entry: Entry) -> Iterator[Text]:
    yield entry.title
    yield entry.cause
    for fix in entry.every_fix:
        yield fix.title
        yield from fix.steps


def _row(written: str, knowledge: Knowledge) -> Mapping[str, Any] | None:
    """The code's row, where only one family knows it: the same number may be another thing elsewhere."""
    rows = knowledge.decode(written) if written else ()
    rows = tuple(row for row in rows if written in row.get("forms", ())) or rows  # as that family alone writes it
    return rows[0] if rows and len({row["family"] for row in rows}) == 1 and rows[0].get("meaning") else None


def _sentence(text: Mapping[str, str]) -> dict[str, str]:
    return {lang: text.get(lang, "").rstrip(".。 ") for lang in ("en", "zh")}
