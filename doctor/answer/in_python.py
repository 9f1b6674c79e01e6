"""A command that became the reader's own call in Python, as code."""

from __future__ import annotations

from doctor.findings import python_call
from kb.model import CodeFix, Fix


def in_python(fix: Fix) -> Fix:
    """A command that became the reader's own call in Python is code, not a line for a shell."""
    calls = [c for c in fix.commands if c.run.startswith(python_call.BEGIN)]
    if not calls or fix.code is not None:
        return fix
    told = tuple(c.why for c in calls if c.why)  # in both languages, as remarks in code are not
    return fix._replace(steps=(*fix.steps, *told), commands=tuple(c for c in fix.commands if c not in calls), code=CodeFix("python", "", "\n".join(c.run for c in calls)))
