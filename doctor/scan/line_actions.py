"""What is to be done about a line in which certain literals stand: worked out once, until a signal has enough hits."""

from __future__ import annotations

from doctor.scan.plan import GO_MARK, Literal, Plan

COUNT_EXACTLY = 300  # occurrences of a text in one range; of more the count is 'at least'

Key = int | tuple[int, ...]
# An anchor, with what it announces. None: the literal that was found is the anchor itself.
Opened = tuple[bytes | None, tuple[int, ...]]
Counted = tuple[bytes | None, int]


class Known:
    """Which signals were seen often enough in this range."""

    def __init__(self, plan: Plan, silent: frozenset[int]) -> None:
        self._plan, self.silent = plan, silent
        self.full: set[int] = set()  # enough of it was kept
        self.capped: set[int] = set()  # of those, the ones whose further occurrences are not even counted
        self.dead: set[int] = set()  # literals that nobody needs any more

    def bury(self, number: int) -> None:
        """Which literals of a signal are of no more use, after something became known of it."""
        for n in self._plan.literals_of(number):
            literal = self._plan.literals[n]
            if not (literal.mark or literal.table) and all(
                x in self.full and (x in self.silent or x in self.capped) for _, x in literal.pairs
            ):
                self.dead.add(n)


class Action:
    """Of a line with one combination of literals. `lines` counts those that need no more than that."""

    __slots__ = ("capped", "claimable", "counted", "go", "lines", "mark", "only_counts", "only_mark", "open", "table")

    def __init__(self, found: list[Literal], known: Known) -> None:
        opened: dict[bytes | None, list[int]] = {}
        counted: dict[Counted, None] = {}
        capped: dict[bytes | None, None] = {}
        for literal in found:
            for anchor, number in literal.pairs:
                needed = None if anchor == literal.fragment else anchor
                if number not in known.full:
                    opened.setdefault(needed, []).append(number)
                elif number in known.silent:
                    continue  # it never claimed a line
                elif number in known.capped:
                    capped[needed] = None
                else:
                    counted[needed, number] = None
        self.claimable = any(literal.pairs for literal in found)  # a literal belongs to a signal
        self.open: tuple[Opened, ...] = tuple((anchor, tuple(dict.fromkeys(n))) for anchor, n in opened.items())
        self.counted = tuple(counted)  # seen often enough: only counted
        self.capped = tuple(capped)  # seen often enough, and their count is 'at least' anyway
        self.mark = any(literal.mark for literal in found)
        self.table = any(literal.table for literal in found)
        self.only_mark = self.mark and not self.claimable and not self.table
        self.go = all(literal.fragment == GO_MARK.encode() for literal in found)  # says nothing about the level
        claimed = None in capped or any(anchor is None for anchor, _ in counted)
        sure = all(anchor is None for anchor, _ in counted)
        self.only_counts = not self.table and not self.open and sure and (claimed or not self.mark)
        self.lines = 0


class Actions(dict[Key, Action]):
    """The actions of one range, made when they are first needed."""

    def __init__(self, plan: Plan, silent: frozenset[int]) -> None:
        super().__init__()
        self._plan = plan
        self.known = Known(plan, silent)
        self.counts: dict[int, int] = {}

    def __missing__(self, key: Key) -> Action:
        numbers = (key,) if isinstance(key, int) else dict.fromkeys(key)
        action = self[key] = Action([self._plan.literals[n] for n in numbers], self.known)
        return action

    def settle(self) -> None:
        """Adds the lines that were only counted."""
        for action in self.values():
            if action.lines:
                for number in {number for _, number in action.counted}:
                    self.counts[number] += action.lines
                action.lines = 0
        much = [n for n in self.known.full - self.known.capped if self.counts.get(n, 0) >= COUNT_EXACTLY]
        if much:
            self.known.capped.update(much)
            self._forget(much)

    def fill(self, number: int, exact: bool) -> None:
        """Enough was kept of a signal. Only a text that is found without reading the line goes on being counted."""
        self.known.full.add(number)
        if not exact and number not in self.known.silent:
            self.known.capped.add(number)
        self.settle()
        self._forget([number])

    def _forget(self, numbers: list[int]) -> None:
        """What was worked out with these signals changes."""
        changed: set[int] = set()
        for number in numbers:
            self.known.bury(number)
            changed.update(self._plan.literals_of(number))
        for key in [k for k in self if (k in changed if isinstance(k, int) else not changed.isdisjoint(k))]:
            del self[key]
