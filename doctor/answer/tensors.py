"""Which tensor was too much: the size that was asked for, what the process held already, and the line of the user's own that asked.

    File "train.py", line 82, in features
      x = nn.functional.normalize(x, dim=1)
    RuntimeError: NPU out of memory. Tried to allocate 9.78 GiB (NPU 0; 32.00 GiB total capacity; 29.80 GiB already allocated; ...

A large part of the card in one piece is no matter of the batch: that line is. A small piece on a full card is what one step keeps.
"""

from __future__ import annotations

import os

from doctor.base.words import both
from doctor.findings.evaluate import Finding
from doctor.findings.situation import Situation
from doctor.scan.harvest import Caller
from kb.model import SAID, Fix, Text
from parsers.lazy import lazy
from parsers.meaning.memory import figures

ENTRIES = frozenset({"MEM001", "MEM009"})  # whose cause is the program's own memory, and not told more closely
LARGE = 12  # parts in a hundred of a card that make one tensor the suspect
FULL = 60  # and what the process itself must hold at least: else others, or gaps, are
# Lines that make no tensor of their own: what is large then was asked for elsewhere.
_ELSEWHERE = lazy(r"\b(?:backward|step|to|npu|cuda|load\w*|from_pretrained|from_config|compile|train|fit|generate|main|run|spawn|launch)\(|\b(?:import|raise)\b")
_WHEN = ((f"{SAID}tensor", ("~ .",)),)


def told(finding: Finding, made: Caller | None, situation: Situation) -> Finding:
    """The finding with that as its reason and the first of its fixes; itself where the line is a library's, or the figures tell of others."""
    if finding.entry.code not in ENTRIES or made is None or made.package or not made.code or _ELSEWHERE.search(made.code):
        return finding
    seen = next((found for hit in finding.instances[0].hits if (found := figures(hit.place.text)) is not None), None)
    if seen is None or not seen.tried or not seen.capacity or 100 * seen.allocated < FULL * seen.capacity:
        return finding
    large = 100 * seen.tried >= LARGE * seen.capacity
    said = {"tensor": _gib(seen.tried), "held": _gib(seen.allocated), "card": _gib(seen.capacity), "made_at": os.path.basename(made.place), "times": f"{seen.allocated / seen.tried:.1f}".removesuffix(".0")}
    kind = "tensor" if large else "step" if situation.first("activity") == "training" else "piece"
    fix = Fix("resolve", "low", Text(**both(f"room-less-{kind}")), (Text(**both(f"room-how-{kind}")),), (), (), None, _WHEN)
    cause, reason = finding.entry.cause, both("tensor-why" if large else "piece-why")
    entry = finding.entry._replace(fixes=(fix, *finding.entry.fixes), cause=Text(f"{reason['en']} {cause.en}", f"{reason['zh']}{cause.zh}"))
    first, *more = finding.instances
    return finding._replace(entry=entry, instances=(first._replace(captures={**first.captures, **said}), *more))


def _gib(size: int) -> str:
    """
    >>> _gib(10501771919), _gib(754974720)
    ('9.78 GiB', '720 MiB')
    """
    return f"{size / 2**30:.2f} GiB" if size >= 1 << 30 else f"{size / 2**20:.0f} MiB"


