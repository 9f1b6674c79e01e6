"""How a fix stands in a report: for those who only show the knowledge, without what chooses advice."""

from __future__ import annotations

from typing import Any

from kb.model import Fix, Text


def _text(text: Text | None) -> dict[str, str] | None:
    return text.json() if text is not None else None


def fix_json(fix: Fix) -> dict[str, Any]:
    made: dict[str, Any] = {"goal": fix.goal, "risk": fix.risk, "title": fix.title.json()}
    if fix.steps:
        made["steps"] = [s.json() for s in fix.steps]
    made["env"] = [
        {"name": e.name, "value": e.value, "scope": e.scope, "undo": e.undo, "caution": _text(e.caution)}
        for e in fix.env
    ]
    made["commands"] = [{"run": c.run, "changes": _text(c.changes), "why": _text(c.why)} for c in fix.commands]
    if fix.code:
        made["code"] = fix.code._asdict()
    return made
