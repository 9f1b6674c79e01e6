"""What is to be done about a line in which certain literals stand: worked out once, until a signal has enough hits."""

from __future__ import annotations

from doctor.scan.plan import Literal, Plan

Key = int | tuple[int, ...]
# An anchor, with what it announces. None: the literal that was found is the anchor itself.
Opened = tuple[bytes | None, tuple[int, ...]]
Counted = tuple[bytes | None, int]


class Action:
    """Of a line with one combination of literals. `lines` counts those that need no more than that."""

    __slots__ = ("capped", "claimable", "counted", "idle", "lines", "mark", "only_counts", "only_mark", "open", "table")

    def __init__(self, plan: Plan, found: list[Literal], full: set[int], facts: frozenset[int], dead: bool) -> None:
        opened: dict[bytes | None, list[int]] = {}
        counted: dict[Counted, None] = {}
        capped: dict[bytes | None, None] = {}
        for literal in found:
            for anchor, number in literal.pairs:
                needed = None if anchor == literal.fragment else anchor
                if number not in full:
                    opened.setdefault(needed, []).append(number)
                elif number in facts:
                    continue  # a fact never claimed a line
                elif plan.exact[number]:
                    counted[needed, number] = None
                else:
                    capped[needed] = None
        self.claimable = any(literal.pairs for literal in found)  # a literal belongs to a signal
        self.open: tuple[Opened, ...] = tuple((anchor, tuple(dict.fromkeys(n))) for anchor, n in opened.items())
        self.counted = tuple(counted)  # seen often enough: only counted
        self.capped = tuple(capped)  # seen often enough, and their count is 'at least' anyway
        self.mark = any(literal.mark for literal in found)
        self.table = any(literal.table for literal in found)
        self.only_mark = self.mark and not self.claimable and not self.table
        self.idle = dead and not self.mark and not self.table
        claimed = None in capped or any(anchor is None for anchor, _ in counted)
        sure = all(anchor is None for anchor, _ in counted)
        self.only_counts = not self.table and (self.idle or (not self.open and sure and claimed))
        self.lines = 0


class Actions(dict[Key, Action]):
    """The actions of one range, made when they are first needed."""

    def __init__(self, plan: Plan, facts: frozenset[int]) -> None:
        super().__init__()
        self._plan, self._facts = plan, facts
        self.full: set[int] = set()  # signals of which enough was kept
        self.dead = [False] * len(plan.literals)  # literals that nobody needs any more
        self._idle: list[Action] = []

    def __missing__(self, key: Key) -> Action:
        numbers = (key,) if isinstance(key, int) else dict.fromkeys(key)
        found = [self._plan.literals[n] for n in numbers]
        action = self[key] = Action(self._plan, found, self.full, self._facts, all(self.dead[n] for n in numbers))
        if action.idle:
            self._idle.append(action)
        return action

    def disturbed(self) -> int:
        """How many lines since the last question were looked at for nothing."""
        lines = sum(action.lines for action in self._idle)
        for action in self._idle:
            action.lines = 0
        return lines

    def settle(self, counts: dict[int, int]) -> None:
        """Adds the lines that were only counted."""
        for action in self.values():
            if action.lines:
                for number in {number for _, number in action.counted}:
                    counts[number] += action.lines
                action.lines = 0

    def fill(self, number: int, counts: dict[int, int]) -> None:
        """Enough was kept of a signal: whatever was worked out with it changes."""
        self.settle(counts)
        self.full.add(number)
        self.clear()
        self._idle.clear()

    def close(self, number: int, counts: dict[int, int]) -> None:
        """A fact that brings nothing new is not looked at any more; it never claimed a line."""
        self.fill(number, counts)
        for n in self._plan.literals_of(number):
            literal = self._plan.literals[n]
            if not (literal.mark or literal.table):
                self.dead[n] = all(x in self.full and x in self._facts for _, x in literal.pairs)
