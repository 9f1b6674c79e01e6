"""Lines that are said again and again: what is done about one of them is done about all, without looking for anything in them.

A dense log, with a find in nearly every line, costs a loop over its lines. Where most of them are the same as earlier ones,
or differ in their numbers alone, they are told apart by a few passes over the whole window instead. Only what comes to
counting is done so, and only as long as nothing changes in what `floods` has enough of.

The form of a line is the line with its digits masked, but for those that may decide what it is: they are found, and stay.
These are the digits of literals, of codes, of what the operating system calls its errors, and whether an error code is zero.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from doctor.scan import error_blocks
from doctor.scan.engine import Engine
from doctor.scan.escapes import ESCAPE
from doctor.scan.finder import Finds, Form
from doctor.scan.floods import Floods
from doctor.scan.plan import Plan
from doctor.scan.treatments import Same
from doctor.scan.windows import MAX_LINE
from parsers.named import NamedTuple

DENSE = 200  # bytes for each find, at most, in a window whose lines are looked at in this way
PARTS = (4 << 10, 16 << 10, 32 << 10, 32 << 10, 64 << 10, 128 << 10)  # bytes of a window after which what was learnt of it is made use of
SMALLEST = 64 << 10  # bytes of a window that is worth it
MAX_KNOWN = 20_000  # lines, and as many forms of lines, whose treatment is remembered
FEW = 8  # of so many lines of a part one that is not known makes it worth to look for its form
VAIN = 500  # so many lines of a part in a row that were not known make it no longer worth to ask
LONGEST = 1000  # bytes of such a line
LONGEST_REST = 64  # windows that are read line by line after some in which nothing was gained

_MASK = b"\xff"  # in no text that is encoded as it should be
_MASKED = bytes.maketrans(b"0123456789", _MASK * 10)
_ERRNO = rb"(?:strerror|(?:[Ee]rr|ERR)(?:no|NO))[^0-9\n]{0,14}"
# Numbers that may decide what a line is, besides those of literals: what `clusters.template` keeps and `forms.deciding` tells.
_DECIDING = {
    Form(rb"(?:[^0-9A-Za-z_(.]|[^0-9]\.)[1-5][0-9]{5}", rb"[^0-9A-Za-z_]"): 6,  # no fraction of a second
    Form(rb"\([1-5][0-9]{5}", rb"[^0-9A-Za-z_,]"): 6,  # but for the process in the head of a line
    Form(rb"[^0-9A-Za-z_](?:E[A-Z0-9][0-9]{4}|ERR[0-9]{5})", rb"[^0-9A-Za-z_]"): 5,
    Form(_ERRNO + rb"[0-9]{1,3}", rb"[^0-9]"): 3,
    Form(_ERRNO + rb"0[xX][0-9a-fA-F]", rb"[^0-9a-fA-F]"): 3,
    Form(rb"error code[^0-9\n]{0,14}0[xX0]{0,20}", rb"[^0-9a-fA-FxX]"): 3,
}  # each with so many bytes at its end as tell it apart

_NEWLINE = 10
_NOTHING = Same()


class _Lines(NamedTuple):
    """Some lines of a window, where each ends (with its line break), and their forms: of those in which no number may decide."""

    texts: list[bytes]
    ends: list[int]
    forms: dict[int, bytes]


class Repeats:
    """What is known of the lines of one range of a source."""

    def __init__(self, plan: Plan, engine: Engine, floods: Floods) -> None:
        self._plan, self._engine, self._floods = plan, engine, floods
        self._sizes: dict[int, int] = {}  # bytes before the end of a find that may decide, by what was found
        self.stretches: list[tuple[int, int]] = []  # of the window, in which was searched for the last part
        self._texts: dict[bytes, Same] = {}
        self._forms: dict[bytes, Same] = {}
        self._state: object = None
        self._by_text, self._by_form = True, False  # are lines of the same bytes looked for, and those of the same form?
        self._again = True  # are lines of a part said again, as far as that can be told by their masked digits?
        self._rest = self._next_rest = 0  # windows to be read line by line
        self._lines: _Lines | None = None
        self._seen = self._left = 0  # lines of this window, and those that were not known
        self._doubled = False  # are there lines of a part that are not known, and stand in it more than once?
        self._vain = 0  # lines of which it was asked in vain since the last one that had become known

    def parts(self, data: bytes, limit: int) -> Iterator[Finds]:
        """What stands in the lines of a window that are not known, part by part; the others are counted. What is learnt of a part holds for the next."""
        self._seen = self._left = 0
        if not self._suits(data, limit):
            self._lines, self.stretches = None, [(0, limit)]
            yield self._engine.find(data, self._floods.left_out.literals)
            return
        start, tried = 0, self._by_form
        for size in (*PARTS, limit):
            end = limit if limit - start <= size else data.rfind(b"\n", start, start + size) + 1 or limit
            if end > start:
                if start > PARTS[0]:
                    self._floods.before_part(data)
                seen, left = self._seen, self._left
                yield self._part(data, start, end)
                new, of = self._left - left, self._seen - seen
                if (tried or not self._again) and start and 10 * new > 9 * of:  # nothing is said again here
                    self._lines, self.stretches = None, [(end, limit)]
                    yield [(at + end, literal) for at, literal in self._engine.find(data[end:], self._floods.left_out.literals)]
                    break
                self._by_form = self._by_form or (start > PARTS[0] and FEW * new > of)
            start = end
        self._settle()

    @property
    def asks(self) -> bool:
        """Is it to be told what is done about each line?"""
        return self._lines is not None

    def learn(self, data: bytes, start: int, eol: int, same: Same, numbers_decide: bool) -> None:
        """What was done about a line, which was no more than counting. `numbers_decide`: might another one of its form be another thing?"""
        lines = self._lines
        if lines is None or eol - start > LONGEST or data.startswith(error_blocks.BEGINS, start):
            return
        if not numbers_decide and lines.forms:
            form = lines.forms.get(bisect_left(lines.ends, eol + 1))
            if form is not None and len(self._forms) < MAX_KNOWN:
                self._forms[form] = same
        if len(self._texts) < MAX_KNOWN:
            self._texts[data[start:eol]] = same

    def again(self, data: bytes, start: int, eol: int) -> bool:
        """Is the line in which something was found known by now, since the part was searched? Then it is counted."""
        lines = self._lines
        if not self._doubled or lines is None or data.startswith(error_blocks.BEGINS, start):
            return False
        same = self._texts.get(data[start:eol])
        if same is None and lines.forms:
            same = self._forms.get(lines.forms.get(bisect_left(lines.ends, eol + 1), b""))
        if same is None:
            self._vain += 1
            self._doubled = self._vain < VAIN
            return False
        if self._floods.state() != self._state:
            self._forget()
            return False
        self._vain = 0
        self._floods.count(same, 1)
        return True

    def _forget(self) -> None:
        """Other things are done about lines than before."""
        self._state = self._floods.state()
        self._texts.clear()
        self._forms.clear()
        self._sizes.clear()

    def _suits(self, data: bytes, limit: int) -> bool:
        """Is much found in a window, and anything that is known of lines a help?"""
        if not self._floods.everything or limit < SMALLEST or self._floods.left_out.mark is not None:
            return False
        if self._rest:
            self._rest -= 1
            return False
        sample = data[: PARTS[0]]
        if len(self._engine.find(sample, self._floods.left_out.literals)) * DENSE <= len(sample):
            return False
        return (limit == len(data) or data[limit - 1] == _NEWLINE) and not _any_longer(data, MAX_LINE)  # read piece by piece

    def _settle(self) -> None:
        """A window is over: was it worth it?"""
        if 2 * self._left <= self._seen:
            self._next_rest = 0
        else:
            self._by_text = True
            self._rest = self._next_rest = min(LONGEST_REST, 2 * self._next_rest + 1)

    def _part(self, data: bytes, start: int, end: int) -> Finds:
        if self._floods.state() != self._state:
            self._forget()
        texts = data[start:end].split(b"\n")
        left: Sequence[int] = range(len(texts))
        if self._by_text:
            left = self._unknown(self._texts, texts)
        by_text, asked = len(left), bool(self._texts)
        forms: dict[int, bytes] = {}
        self._again = True
        if self._by_form and left:
            part = data[start:end] if len(left) == len(texts) else b"\n".join(map(texts.__getitem__, left))
            rows = part.translate(_MASKED).split(b"\n")
            self._again = 10 * len(set(rows).difference(self._forms)) <= 9 * len(rows) and _MASK not in part
            if self._again and (digits := self._engine.numbered(tuple(_DECIDING))) is not None:
                rows = self._with_deciding(part, digits(b"\n" + part + b"\n"), rows)
                unknown = self._unknown(self._forms, rows)
                forms = {left[at]: rows[at] for at in unknown}
                left = [left[at] for at in unknown]
            self._by_text = self._by_text and (not asked or 16 * by_text < 15 * len(texts) or 2 * len(left) > by_text)  # forms tell nearly all of them
        self._vain, self._doubled = 0, 8 * len(set(forms.values() if forms else map(texts.__getitem__, left))) < 7 * len(left)
        self._seen += len(texts)
        self._left += len(left)
        ends = [end + n for n, end in enumerate(accumulate(map(len, texts)), start + 1)] if left else []
        lines = self._lines = _Lines(texts, ends, forms)
        self.stretches = [(ends[n] - 1 - len(texts[n]), ends[n] - 1) for n in left if ESCAPE in texts[n]] if ESCAPE in data else []
        return self._search(lines, left)

    def _with_deciding(self, part: bytes, found: Finds, rows: list[bytes]) -> list[bytes]:
        """The rows of a part with those digits that may decide what they are; `found`: behind which bytes these stand."""
        if not found:
            return rows
        kept, sizes = bytearray(part.translate(_MASKED)), self._sizes
        for end, number in found:
            end -= 1  # a line break was put before the part
            size = sizes.get(number)
            if size is None:
                size = sizes[number] = self._size(number)
            start = end - size
            if start < 0:
                start = 0
            kept[start:end] = part[start:end]
        return bytes(kept).split(b"\n")

    def _size(self, number: int) -> int:
        """How many bytes before the end of a find may decide."""
        beyond = number - len(self._plan.fragments)
        if beyond >= 0:
            return 1 + list(_DECIDING.values())[beyond]
        if number in self._plan.patterns:
            return MAX_LINE
        return max(len(text) for text in (self._plan.fragments[number], *(anchor for anchor, _ in self._plan.literals[number].pairs)))

    def _unknown(self, known: Mapping[bytes, Same], rows: Sequence[bytes]) -> Sequence[int]:
        """Counts the rows that are known; the numbers of the others."""
        if not known:
            return range(len(rows))
        counted = Counter(rows)
        for row, times in counted.items():
            if (same := known.get(row)) is not None:
                self._floods.count(same, times)
        unknown = counted.keys() - known.keys()
        return [n for n, row in enumerate(rows) if row in unknown] if unknown else ()

    def _search(self, lines: _Lines, left: Sequence[int]) -> Finds:
        """What stands in some lines, as if all had been searched; those in which nothing does are known from now on."""
        rows = [lines.texts[n] for n in left]
        last = len(lines.texts) - 1  # ends without a line break
        part = b"\n".join(rows) + (b"\n" if left and left[-1] != last else b"")
        finds: Finds = []
        at = moved = 0
        number, empty = -1, False
        for end, literal in self._engine.find(part, self._floods.left_out.literals):
            while end > at:
                if empty:
                    self._nothing(lines, left[number])
                number, empty = number + 1, True
                at += len(rows[number]) + 1
                moved = lines.ends[left[number]] - at
            empty = False
            finds.append((end + moved, literal))
        for n in left[number + 1 :]:
            self._nothing(lines, n)
        return finds

    def _nothing(self, lines: _Lines, number: int) -> None:
        """In a line nothing stands that is looked for."""
        text = lines.texts[number]
        if len(text) > LONGEST or ESCAPE in text:  # a literal may stand on both sides of an escape
            return
        if number in lines.forms and len(self._forms) < MAX_KNOWN:
            self._forms[lines.forms[number]] = _NOTHING
        if len(self._texts) < MAX_KNOWN:
            self._texts[text] = _NOTHING


def _any_longer(data: bytes, size: int) -> bool:
    """Has one of the lines more bytes than so many?"""
    at = 0
    while len(data) - at > size:
        eol = data.rfind(b"\n", at, at + size + 1)
        if eol < 0:
            return True
        at = eol + 1
    return False
