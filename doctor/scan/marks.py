"""The error mark of a storm is counted at once, not found line by line.

When every error line is only counted any more, the mark that they hold is left out of the search: one pass over a window
tells how many lines hold it. In the lines where something else is found, the mark is put beside that as if it had been found.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from doctor.scan.finder import Finds
from doctor.scan.plan import GO_MARKS, Plan

OFTEN = 256  # finds of a mark in a window, from which on it is worth a pass of its own
ALONE = 4  # it is when it is found so many times as often as everything else


def frequent(finds: Finds, plan: Plan) -> int | None:
    """The mark that nearly all finds of a window are of."""
    if len(finds) < OFTEN:
        return None
    [(number, times)] = Counter(number for _, number in finds).most_common(1)
    literal = plan.literals[number] if number >= 0 else None
    if literal is None or not literal.mark or literal.pairs or literal.table or literal.fragment in GO_MARKS:
        return None
    return number if times >= OFTEN and (len(finds) - times) * ALONE <= times else None


class Mark:
    """A mark that is left out of the search."""

    def __init__(self, number: int, text: bytes) -> None:
        self.number, self._text = number, text

    def lines(self, data: bytes, limit: int) -> int:
        """How many lines hold it."""
        return len(_rest_of_line(self._text).findall(data, 0, limit))

    def beside(self, data: bytes, limit: int, finds: Finds) -> int:
        """Puts it among what was found in lines that hold both; in how many of those that begin below a limit."""
        marked: Finds = []
        below, eol = 0, -1
        for end, _ in finds:
            if end > eol + 1:  # a literal may end with the end of its line
                start = data.rfind(b"\n", 0, end - 1) + 1
                eol = data.find(b"\n", end - 1)
                eol = len(data) if eol < 0 else eol
                if (at := data.find(self._text, start, eol)) >= 0:
                    marked.append((at + len(self._text), self.number))
                    below += at < limit
        finds += marked
        finds.sort()
        return below

    def everywhere(self, data: bytes, finds: Finds) -> None:
        """Puts each place of it among what was found."""
        finds += [(found.end(), self.number) for found in _itself(self._text).finditer(data)]
        finds.sort()


@lru_cache(maxsize=64)
def _itself(text: bytes) -> re.Pattern[bytes]:
    return re.compile(re.escape(text))


@lru_cache(maxsize=64)
def _rest_of_line(text: bytes) -> re.Pattern[bytes]:
    return re.compile(re.escape(text) + rb".*()")  # what is found is empty: nothing is copied
