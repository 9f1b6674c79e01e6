"""What is to be done about a line with one combination of literals, worked out once for all lines that have it."""

from __future__ import annotations

from typing import Protocol

from doctor.scan import error_blocks
from doctor.scan.engine import DIGITS
from doctor.scan.plan import GO_MARKS, IN_COMMENTS, Literal, Plan
from kb.sought import Whole
from parsers.named import NamedTuple

Key = int | tuple[int, ...]
# An anchor, with what it announces. None: the literal that was found is the anchor itself.
Opened = tuple[bytes | None, tuple[int, ...]]
Counted = tuple[bytes | None, int]


class Further(Protocol):
    """Where lines are counted that were not read."""

    further: int


class Same(NamedTuple):
    """What is done about a line that is not read, and about each one like it: it counts for some signals, or as one of these errors."""

    counted: tuple[int, ...] = ()
    further: Further | None = None
    harmless: bool = False


class Enough:
    """Which signals were seen often enough in this range."""

    def __init__(self, plan: Plan, silent: frozenset[int]) -> None:
        self._plan, self.silent = plan, silent
        self.full: set[int] = set()  # enough of it was kept
        self.capped: set[int] = set()  # of those, the ones whose further occurrences are not even counted
        self.dead: set[int] = set()  # literals that nobody needs any more
        self.absent: frozenset[int] = frozenset()  # cannot match in the window that is being read
        self.changes = 0

    def bury(self, number: int) -> None:
        """Which literals of a signal are of no more use, after something became known of it."""
        for n in self._plan.literals_of(number):
            literal = self._plan.literals[n]
            if not (literal.mark or literal.table) and all(
                x in self.full and (x in self.silent or x in self.capped) for _, x in literal.pairs
            ):
                self.dead.add(n)


class Treatment:
    """What is to be done about a line with one combination of literals. `lines` counts those that need no more than that."""

    __slots__ = ("alone", "capped", "claimable", "comment", "counted", "further", "go", "lines", "mark", "numbered", "only_counts", "only_mark", "open", "same", "settles", "table")

    def __init__(self, found: list[Literal], enough: Enough) -> None:
        claimable = False
        opened: dict[bytes | None, list[int]] = {}
        counted: dict[Counted, None] = {}
        capped: dict[bytes | None, None] = {}
        self.numbered = False  # is it asked for an anchor with digits, none of which stands in the literal?
        for literal in found:
            for anchor, number in literal.pairs:
                if number in enough.absent and number not in enough.full:
                    continue
                claimable = True
                needed = None if anchor == literal.fragment else anchor
                self.numbered = self.numbered or (DIGITS.isdisjoint(literal.fragment) and not DIGITS.isdisjoint(anchor))
                if number not in enough.full:
                    opened.setdefault(needed, []).append(number)
                elif number in enough.silent:
                    continue  # it never claimed a line
                elif number in enough.capped:
                    capped[needed] = None
                else:
                    counted[needed, number] = None
        self.claimable = claimable  # a literal belongs to a signal
        # Of a find that is a code to everyone who asks for it: not every finder leaves out what is a part of a longer number.
        self.alone = len(found[0].fragment) if len(found) == 1 and isinstance(found[0].fragment, Whole) else 0
        self.open: tuple[Opened, ...] = tuple((anchor, tuple(dict.fromkeys(n))) for anchor, n in opened.items())
        self.counted = tuple(counted)  # seen often enough: only counted
        self.capped = tuple(capped)  # seen often enough, and their count is 'at least' anyway
        self.mark = any(literal.mark for literal in found)
        self.table = any(literal.table for literal in found)
        self.comment = self.table and all(literal.fragment in IN_COMMENTS for literal in found if literal.table)
        self.only_mark = self.mark and not self.claimable and not self.table
        self.go = all(literal.fragment in GO_MARKS for literal in found)  # says nothing about the level
        self.further = self.only_mark and not self.go  # in a storm, one more
        self.settles = self.further and all(literal.fragment != error_blocks.MARK.encode() for literal in found)  # what follows a title is read
        claimed = None in capped or any(anchor is None for anchor, _ in counted)
        sure = all(anchor is None for anchor, _ in counted)
        self.only_counts = not self.table and not self.open and sure and (claimed or not self.mark)
        self.same = Same(tuple({number for _, number in counted}))  # what is done about one of these lines
        self.lines = 0


class Treatments(dict[Key, Treatment]):
    """Of the combinations of literals that the range has, worked out when one is first found and until more is full."""

    def __init__(self, plan: Plan, enough: Enough) -> None:
        super().__init__()
        self._plan, self._enough = plan, enough

    def __missing__(self, key: Key) -> Treatment:
        numbers = (key,) if isinstance(key, int) else dict.fromkeys(key)
        made = self[key] = Treatment([self._plan.literals[n] for n in numbers], self._enough)
        return made

    def forget(self, numbers: list[int]) -> None:
        """What was worked out with these signals changes."""
        changed: set[int] = set()
        self._enough.changes += 1
        for number in numbers:
            self._enough.bury(number)
            changed.update(self._plan.literals_of(number))
        for key in [k for k in self if (k in changed if isinstance(k, int) else not changed.isdisjoint(k))]:
            del self[key]
