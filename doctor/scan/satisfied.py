"""Literals that are not looked for any more, because all that they announce was seen often enough.

In a flood of errors that the knowledge knows, finding each of them again is what a scan costs. An error line in which
only the error mark is found may then be one of those: a few lines of each log statement are asked, the rest is believed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Set as AbstractSet

from doctor.scan.engine import Engine
from doctor.scan.error_lines import statement
from doctor.scan.finder import Finds
from doctor.scan.plan import Plan

DISTURBING = 48  # finds in one window that mean nothing any more: then looking without them is worth a new finder
BELIEVED = 64  # lines of one log statement, all of them claimed: then the next ones are believed to be
_NEVER = -1 << 40


class LeftOut:
    """The literals that one range does without."""

    def __init__(self, plan: Plan, silent: AbstractSet[int]) -> None:
        self._plan, self._silent = plan, silent
        self.literals: frozenset[int] = frozenset()
        self._anchors: re.Pattern[bytes] | None = None
        self._claimed: dict[bytes, int] = {}
        self.believed: set[bytes] = set()  # log statements whose lines need not be asked any more

    def more(self, finds: Finds, dead: AbstractSet[int], engine: Engine) -> None:
        """Leaves out what was found too often for nothing in a window."""
        often = Counter(number for _, number in finds if number in dead)
        if often.total() <= DISTURBING:
            return
        wanted = self.literals | {number for number, times in often.items() if times > DISTURBING // 6}
        literals = engine.quieten(wanted, frozenset(dead))
        if literals == self.literals:
            return
        self.literals = literals
        pairs = [pair for n in literals for pair in self._plan.literals[n].pairs]
        anchors = {anchor for anchor, number in pairs if number not in self._silent}
        self._anchors = re.compile(b"|".join(map(re.escape, sorted(anchors, reverse=True)))) if anchors else None

    def claim(self, data: bytes, start: int, eol: int) -> bool:
        """Is a line with an error mark claimed by a signal whose literal is left out?"""
        name = statement(data, start + 1, eol)
        if name in self.believed:
            return True
        if self._anchors is None or self._anchors.search(data, start, eol) is None:
            self._claimed[name] = _NEVER
            return False
        times = self._claimed[name] = self._claimed.get(name, 0) + 1
        if times >= BELIEVED and name:
            self.believed.add(name)
        return True
