"""The table that `print(prof.key_averages(...).table(...))` writes, once a step, into a training log:

a rule of dashes, `Name    Self CPU %    ...    # of Calls    Input Shapes`, a rule, one row an operator, a rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from doctor.ops.compiled import Table

_GAP = re.compile(r"\s{2,}")
_RULE = re.compile(r"^[-\s]+$")
MAX_NAMES = 20_000
MAX_SHAPES = 200


def parse(lines: Iterable[str]) -> Table:
    """Every table of a text; each further header is a further step."""
    calls: dict[str, int] = {}
    shapes: dict[str, dict[str, None]] = {}
    later: dict[str, dict[str, None]] = {}
    steps, counted, shaped, inside = 0, -1, -1, False
    for line in lines:
        text = line.strip()
        if text.startswith("Name  ") and ("CPU" in text or "NPU" in text or "Calls" in text):
            header = _GAP.split(text)
            counted = header.index("# of Calls") if "# of Calls" in header else -1
            shaped = header.index("Input Shapes") if "Input Shapes" in header else -1
            steps, inside = steps + 1, True
            continue
        if not inside or not text or _RULE.match(text):
            continue
        cells = _GAP.split(text)
        if text.startswith(("Self CPU time total", "Self NPU time total", "CPU time total", "NPU time total")):
            inside = False
            continue
        name = cells[0][:200]
        if len(cells) < 3 or (name not in calls and len(calls) >= MAX_NAMES):
            continue
        count = cells[counted] if 0 <= counted < len(cells) else ""
        calls[name] = calls.get(name, 0) + (int(count) if count.isdigit() else 1)
        seen = shapes.setdefault(name, {})
        if 0 <= shaped < len(cells) and cells[shaped].startswith("["):
            shape = cells[shaped]
            if shape not in seen and len(seen) < MAX_SHAPES:
                if steps > 1:
                    later.setdefault(name, {})[shape] = None
                seen[shape] = None
    return Table(
        calls,
        {name: tuple(found) for name, found in shapes.items()},
        {name: tuple(found) for name, found in later.items()},
        steps,
        any(shapes.values()),
    )
