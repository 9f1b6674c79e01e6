"""Floods: what is done about a log that says the same a million times. All of it is decided here, for one range of a file.

Reading a line costs a hundred times what finding a literal in it costs, so a scan is as fast as it reads few lines. What
is left unread is counted, and the report says where a count is only a lower bound. From the mildest to the strongest:

0. *A common anchor.* A signal whose anchor stands in thousands of lines that lack the other text that its pattern needs is
   looked for by that text from then on (`Plan.narrow`); where no such text is rare the engine looks for the whole pattern.
1. *Enough of a signal.* The first `KEEP` lines of each are kept with place and captures (`KEEP_OF_PROCESS` in a file of
   one process, where more of the same says nothing new). Then the signal is full: lines with it are only counted, and a
   plain text is counted by its literal alone. Anything that takes more reading is from then on counted "at least", as is
   a text beyond `COUNT_EXACTLY`: it is capped.
2. *Enough of a literal.* When all that it announces is full and capped (or claims no line), it is dead. Dead ones found
   more than `DISTURBING` times in a window are left out of the search; the engine decides whether another finder pays.
3. *Lines whose literal is left out.* Only the error mark is found in them, as if nobody claimed them. They are asked for
   the anchors left out; when `BELIEVED` lines of one log statement were claimed so without exception, or none of them was,
   the next ones of that statement are not asked any more: it is settled.
4. *Enough of an error that nobody claims.* Of each log statement `KEEP_OF_STATEMENT` lines are read, the rest counts under
   their shape; so of lines of one form, which other programs write, when no number in them decides whether they are errors
   (of those where one does, lines with the same number are read until it is known what that says). Beyond `MAX_SHAPES` shapes a new one is only counted (`clusters.FURTHER`), and a statement not seen before
   is not read for it. After `NEW_IN_A_ROW` lines that were all of that kind, error lines are counted where they are found,
   and a mark that is found in nearly all of them is left out of the search: `marks` counts it.
5. *Enough of a fact about the job.* `KEEP_OF_OWNER` of each process are kept, so that in one stream of many ranks the loud
   ones do not crowd out the others. After `FUTILE` in a row that were too many of their process (`FUTILE_OF_PROCESS` where
   nobody else can speak up) the fact is full.

All quotas count in one range, whoever reads it: the number of workers makes no difference. When the user selected some
lines, nothing gets full and no statement is left unread: what a selection leaves out must not use up a quota.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from collections.abc import Set as AbstractSet

from doctor.scan.engine import DIGITS, Engine
from doctor.scan.finder import Finds
from doctor.scan.forms import deciding, form
from doctor.scan.marks import Mark, frequent
from doctor.scan.plan import Plan
from doctor.scan.treatments import Enough, Same, Treatments
from parsers.lazy import lazy

KEEP = 200
KEEP_OF_PROCESS = 5
COUNT_EXACTLY = 300
DISTURBING = 48
WORTH_ASKING = 64 << 10  # bytes of a window of which it is asked what cannot match in it
BELIEVED = 64
KEEP_OF_STATEMENT = 8
MAX_SHAPES = 500
MAX_FORMS = 2000
MAX_DECIDING = 1000
NEW_IN_A_ROW = 1000
KEEP_OF_OWNER = 40
FUTILE = 400
FUTILE_OF_PROCESS = 1
_MIXED = -1 << 40  # some lines of a log statement were claimed, some were not
_RAISED = lazy(rb"(?:Error|Exception(?:Group)?|Interrupt|Failure|Fault|Exit|Expired|Iteration)(?:\(|:|\s*$)")  # how exceptions are called

_STATEMENT = lazy(
    rb"\[(?:ERROR|CRITICAL|FATAL)\] ?[A-Z0-9_]{2,20}\([^)\n]{0,60}\): ?[\d:. -]{20,32}\[[^\]\n]{1,120}\]"
)


def statement(data: bytes, start: int, eol: int) -> bytes:
    """From `start`, behind the level: where in the software's source a line was written, as plog lines tell behind their level: `[stream.cc:12`."""
    at = data.find(b"[", start, eol)
    end = data.find(b"]", at, eol) if at >= 0 else -1
    return data[at:end] if end >= 0 else b""


class LeftOut:
    """The literals that the range does without, and the error lines in which one of them may stand."""

    def __init__(self, plan: Plan, silent: frozenset[int], settled: Settled) -> None:
        self._plan, self._silent, self._settled = plan, silent, settled
        self.literals: frozenset[int] = frozenset()
        self.mark: Mark | None = None  # one of them, which stands in nearly all lines
        self._anchors: re.Pattern[bytes] | None = None
        self.numbered = False  # has one of their anchors digits, and the literal none?
        self._claimed: dict[bytes, int] = {}  # lines of a log statement that were claimed without exception; below zero: that were not

    def more(self, finds: Finds, dead: AbstractSet[int], mark: int | None, engine: Engine) -> None:
        """Leaves out what was found too often for nothing in a window, and a mark that is only counted."""
        often = Counter(number for _, number in finds if number in dead or number == mark)
        if often.total() <= DISTURBING:
            return
        wanted = self.literals | {number for number, times in often.items() if times > DISTURBING // 6}
        allowed = frozenset(dead) if mark is None else frozenset((*dead, mark))
        literals = engine.quieten(wanted, allowed, often.total())
        if literals == self.literals:
            return
        self.literals = literals
        self._forget_unclaimed()
        if mark is not None and mark in literals:
            self.mark = Mark(mark, self._plan.literals[mark].fragment)
        every = [(anchor, x.fragment) for x in map(self._plan.literals.__getitem__, literals) for anchor, number in x.pairs if number not in self._silent]
        anchors = {anchor for anchor, _ in every}
        self.numbered = any(DIGITS.isdisjoint(fragment) and not DIGITS.isdisjoint(anchor) for anchor, fragment in every)
        self._anchors = re.compile(b"|".join(map(re.escape, sorted(anchors, reverse=True)))) if anchors else None

    def nothing(self) -> None:
        """Everything is looked for again."""
        self.literals, self.mark, self._anchors, self.numbered = frozenset(), None, None, False
        self._forget_unclaimed()

    def claim(self, data: bytes, start: int, eol: int) -> bool:
        """Is a line with an error mark claimed by a signal whose literal is left out?"""
        if not self.literals:
            return False
        name = statement(data, start + 1, eol)
        if name in self._settled:
            return self._claimed.get(name, 0) > 0
        claimed = self._anchors is not None and self._anchors.search(data, start, eol) is not None
        before = self._claimed.get(name, 0)
        step = 1 if claimed else -1
        times = before + step if before * step >= 0 else _MIXED
        self._claimed[name] = max(times, _MIXED)
        if times >= BELIEVED and name:
            self._settled[name] = _Statement()
        return claimed

    def never_claims(self, name: bytes) -> bool:
        """Is it known that no literal which is left out claims lines of a log statement?"""
        return not self.literals or _MIXED < self._claimed.get(name, 0) <= -BELIEVED

    def _forget_unclaimed(self) -> None:
        """Other literals may claim what these did not."""
        for name in [n for n in self._settled if self._claimed.get(n, 0) <= 0]:
            del self._settled[name]
        self._claimed = {n: times for n, times in self._claimed.items() if times > 0 or times == _MIXED}


class _Statement:
    """A place in the software's source that logs errors which no signal claims, or a form of such lines."""

    __slots__ = ("faulty", "further", "harmless", "numbers", "seen", "shape", "told")

    def __init__(self) -> None:
        self.seen, self.further, self.shape = 0, 0, ""
        self.harmless = 0  # lines that reported no error
        self.numbers = False  # may a number decide whether a line reports an error?
        self.told: set[tuple[bytes, ...]] = set()  # such numbers of lines that reported none
        self.faulty: dict[tuple[bytes, ...], int] = {}  # and of lines that reported one


Settled = dict[bytes, _Statement]
"""Log statements of which a further line is counted where its mark is found: as one that some signal claims, which nobody adds up, or as an error."""


class Unclaimed:
    """Which error lines that no signal claims are read, and how many lines are not."""

    def __init__(self, everything: bool, settled: Settled, never_claimed: Callable[[bytes], bool]) -> None:
        self._everything, self._settled, self._never_claimed = everything, settled, never_claimed
        self._statements: dict[bytes, _Statement] = {}
        self._forms: dict[bytes, _Statement] = {}
        self._statement: _Statement | None = None  # of the line that is being read
        self._deciding: tuple[bytes, ...] = ()  # its numbers that may make it an error
        self.same: Same | None = None  # what was done about the last line, if it was no more than counting
        self._new = 0  # lines in a row that were of none of the shapes kept
        self.further = 0  # lines that came when there were enough shapes
        self.flooded = False  # whoever finds an error line only counts it as a further one

    def only_counts(self, data: bytes, start: int, eol: int, enough_shapes: bool, was_read: bool) -> bool:
        """Is this line counted instead of read? Of one that is read, `shaped` or `harmless` is told."""
        self._statement = self.same = None
        if not self._everything:
            return False
        name = statement(data, start + 1, eol)
        known = self._statements.get(name)
        if known is None:
            if _STATEMENT.match(data, start, eol) is not None:
                if enough_shapes:
                    self.further += 1
                    self._count_new()
                    self.same = Same(further=self) if self.flooded else None
                    return True
                known = self._statements[name] = _Statement()
            elif not was_read:
                return self._form_counts(data[start:eol], enough_shapes)
        elif known.seen >= KEEP_OF_STATEMENT:
            known.further += 1
            self.same = Same(further=known)
            if self._never_claimed(name):
                self._settled[name] = known
            return True
        self._statement = known
        return False

    def _form_counts(self, raw: bytes, enough_shapes: bool) -> bool:
        """Were enough lines of this form read, and all of them alike? In a flood one of a new form is only counted, unless it may be an exception."""
        name = form(raw)
        known = self._forms.get(name)
        if known is None:
            if self.flooded and enough_shapes and _RAISED.search(raw) is None:
                self.further += 1
                self.same = Same(further=self)
                return True
            if name and len(self._forms) < MAX_FORMS:
                known = self._forms[name] = _Statement()
        elif known.numbers:
            self._deciding = deciding(raw)
            if known.harmless >= KEEP_OF_STATEMENT and self._deciding in known.told:
                self._new, self.same = 0, Same(harmless=True)
                return True
            if known.faulty.get(self._deciding, 0) >= KEEP_OF_STATEMENT:
                known.further += 1
                self.same = Same(further=known)
                return True
        else:
            if known.seen >= KEEP_OF_STATEMENT and not known.harmless:
                known.further += 1
                self.same = Same(further=known)
                return True
            if known.harmless >= KEEP_OF_STATEMENT and not known.seen:
                self._new, self.same = 0, Same(harmless=True)
                return True
        self._statement = known
        return False

    def calm(self) -> None:
        """Lines that report no error were counted."""
        self._new = 0

    def harmless(self, numbers: bool) -> None:
        """The line that was read reports no error; might one with other numbers do so?"""
        self._new = 0
        if (known := self._statement) is not None:
            if known.numbers and len(known.told) < MAX_DECIDING:
                known.told.add(self._deciding)
            known.harmless, known.numbers = known.harmless + 1, known.numbers or numbers

    def shaped(self, shape: str, is_kept: bool, numbers: bool) -> None:
        """Of which shape the error was that was read, whether that is one of those kept, and whether its numbers made it an error."""
        if is_kept:
            self._new = 0
        else:
            self._count_new()
        if (known := self._statement) is not None:
            if known.numbers and len(known.faulty) < MAX_DECIDING:
                known.faulty[self._deciding] = known.faulty.get(self._deciding, 0) + 1
            known.seen, known.shape, known.numbers = known.seen + 1, shape, known.numbers or numbers

    def _count_new(self) -> None:
        self._new += 1
        self.flooded = self.flooded or self._new >= NEW_IN_A_ROW

    def unread(self) -> list[tuple[str, int]]:
        """Of which shapes how many lines were not read; tells it once."""
        every = (*self._statements.values(), *self._forms.values())
        told = [(known.shape, known.further) for known in every]
        for known in every:
            known.further = 0
        return told


class Floods:
    """What one range has seen enough of; the scan asks before it reads and tells what it found."""

    def __init__(self, plan: Plan, engine: Engine, silent: frozenset[int], one_process: bool, everything: bool) -> None:
        self._plan, self._engine, self.everything = plan, engine, everything
        self.keep = KEEP_OF_PROCESS if one_process else KEEP
        self.counts: dict[int, int] = {}
        self._returned: frozenset[int] = frozenset()  # signals that stood in a window after one in which they could not
        self.enough = Enough(plan, silent)
        self.treatments = Treatments(plan, self.enough)
        self.settled: Settled = {}
        self.left_out = LeftOut(plan, silent, self.settled)
        self.unclaimed = Unclaimed(everything, self.settled, self.left_out.never_claims)

    def keeps(self, number: int) -> bool:
        """Counts an occurrence of a signal; is it one of those that are kept?"""
        count = self.counts[number] = self.counts.get(number, 0) + 1
        if count == self.keep:
            self.fill(number, self._plan.exact[number])
        return count <= self.keep

    def fill(self, number: int, exact: bool) -> None:
        """Enough was kept of a signal. Only a text that is found without reading the line goes on being counted."""
        if not self.everything:
            return
        self.enough.full.add(number)
        if not exact and number not in self.enough.silent:
            self.enough.capped.add(number)
        self._add()
        self.treatments.forget([number])

    def state(self) -> object:
        """What decides how lines are treated: as long as it is the same, the same is done about the same line.

        In a flood fewer lines are read, but what is known of one remains true.
        """
        return self.enough.changes, self.left_out.literals, len(self._plan.fragments)

    def before_window(self, data: bytes) -> None:
        """Signals that cannot match in a window are not asked about its lines. One that came back is asked from then on: each change forgets what is known of lines."""
        absent = self._plan.absent(data) - self._returned if self.everything and len(data) >= WORTH_ASKING else frozenset()
        if absent != self.enough.absent:
            self._returned |= self.enough.absent - absent
            self.enough.absent = absent
            self.enough.changes += 1
            self.treatments.clear()

    def before_part(self, data: bytes) -> None:
        """The same, in the middle of a dense window: thousands of its lines may follow."""
        self._add()
        self.before_window(data)

    def count(self, same: Same, times: int) -> None:
        """Lines about which the same is done as about one that came before."""
        for number in same.counted:
            self.counts[number] += times
        if same.further is not None:
            same.further.further += times
        elif same.harmless and times:
            self.unclaimed.calm()

    def _add(self) -> None:
        """Adds the lines that were only counted."""
        for treatment in self.treatments.values():
            if treatment.lines:
                for number in {number for _, number in treatment.counted}:
                    self.counts[number] += treatment.lines
                treatment.lines = 0

    def settle(self) -> None:
        """The same, and what was counted often enough counts 'at least' from now on."""
        self._add()
        much = [n for n in self.enough.full - self.enough.capped if self.counts.get(n, 0) >= COUNT_EXACTLY]
        if much:
            self.enough.capped.update(much)
            self.treatments.forget(much)

    def count_marks(self, data: bytes, limit: int, finds: Finds, plainly: bool) -> None:
        """Counts the lines with the mark that is left out; it is put among the finds where there is more to see."""
        mark = self.left_out.mark
        if mark is None:
            return
        if plainly:
            self.unclaimed.further += mark.lines(data, limit) - mark.beside(data, limit, finds)
        else:
            mark.everywhere(data, finds)

    def after_window(self, data: bytes, finds: Finds) -> None:
        """A window is over: what disturbed in it is left out of the next one."""
        self.settle()
        if len(finds) <= DISTURBING or self._engine.awaited:
            return
        if self._engine.much and self._plan.narrow(data, self._engine.understands):
            self._engine.change(self._plan.fragments, self._plan.unneeded, self._plan.patterns)
            self.treatments.clear()
            self.left_out.nothing()
            for number in self.enough.full:
                self.enough.bury(number)
            return  # what was left out of this window was not found in it
        mark = self.left_out.mark.number if self.left_out.mark is not None else None
        if mark is None and self.unclaimed.flooded:
            mark = frequent(finds, self._plan)
        if self.enough.dead or mark is not None:
            self.left_out.more(finds, self.enough.dead, mark, self._engine)
