"""Lines that are said again and again: what is done about one of them is done about all, without looking for anything in them.

A dense log, with a find in nearly every line, costs a loop over its lines. Where most of them are the same as earlier ones,
or differ in their numbers alone, they are told apart by a few passes over the whole window instead. Only what comes to
counting is done so, and only as long as nothing changes in what `floods` has enough of. Numbers that may decide are found:
a line with a literal that has digits, or with a number that may be a code, is only the same as one of the same bytes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate
from typing import NamedTuple

from doctor.scan.engine import Engine
from doctor.scan.finder import Finds
from doctor.scan.floods import Floods
from doctor.scan.treatments import Same
from doctor.scan.windows import MAX_LINE
from parsers.lazy import lazy

DENSE = 200  # bytes for each find, at most, in a window whose lines are looked at in this way
PARTS = (4 << 10, 16 << 10, 32 << 10, 32 << 10)  # bytes of a window after which what was learnt of it is made use of
SMALLEST = 64 << 10  # bytes of a window that is worth it
MAX_KNOWN = 20_000  # lines, and as many forms of lines, whose treatment is remembered
LONGEST = 1000  # bytes of such a line
LONGEST_REST = 64  # windows that are read line by line after some in which nothing was gained

_DIGITS = bytes.maketrans(b"123456789", b"000000000")
# Words of which their digits decide what they are: long hexadecimal ones, and codes with letters.
_MIXED = lazy(rb"\b(?:E[A-Z]?0|ERR0|(?=[a-fA-F]*0)(?=0*[a-fA-F])[0a-fA-F]+)\b")
# A number that may be a code, but for the process in the head of a line.
_CODE = rb"[^0-9A-Za-z_(][1-5][0-9]{5}[^0-9A-Za-z_]|\([1-5][0-9]{5}[^0-9A-Za-z_,]"

_NEWLINE = 10
_NOTHING = Same()


def alike(data: bytes) -> bytes:
    """Lines with each number reduced to a zero."""
    data = data.translate(_DIGITS)
    for zeros in (b"000000", b"000", b"00", b"00"):
        data = data.replace(zeros, b"0")
    return data


class _Lines(NamedTuple):
    """Some lines of a window, where each ends (with its line break), and their forms: of those in which no number may decide."""

    texts: list[bytes]
    ends: list[int]
    forms: dict[int, bytes]

    def start(self, number: int) -> int:
        return self.ends[number] - len(self.texts[number]) - 1


class Repeats:
    """What is known of the lines of one range of a source."""

    def __init__(self, engine: Engine, floods: Floods) -> None:
        self._engine, self._floods = engine, floods
        self._texts: dict[bytes, Same] = {}
        self._forms: dict[bytes, Same] = {}
        self._state: object = None
        self._by_text, self._by_form = True, False  # are lines of the same bytes looked for, and those that differ in numbers?
        self._again = True  # are lines of a part said again, as far as that can be told by their forms?
        self._rest = self._next_rest = 0  # windows to be read line by line
        self._lines: _Lines | None = None
        self._seen = self._left = 0  # lines of this window, and those that were not known

    def parts(self, data: bytes, limit: int) -> Iterator[Finds]:
        """What stands in the lines of a window that are not known, part by part; the others are counted. What is learnt of a part holds for the next."""
        self._seen = self._left = 0
        if not self._suits(data, limit):
            self._lines = None
            yield self._engine.find(data, self._floods.left_out.literals)
            return
        start, tried = 0, self._by_form
        for size in (*PARTS, limit):
            end = limit if limit - start <= size else data.rfind(b"\n", start, start + size) + 1 or limit
            if end > start:
                seen, left = self._seen, self._left
                yield self._part(data, start, end)
                new, of = self._left - left, self._seen - seen
                if (tried or not self._again) and start and 10 * new > 9 * of:  # nothing is said again here
                    self._lines = None
                    yield [(at + end, literal) for at, literal in self._engine.find(data[end:], self._floods.left_out.literals)]
                    break
                self._by_form = self._by_form or (start > PARTS[0] and 2 * new > of)
            start = end
        self._settle()

    @property
    def asks(self) -> bool:
        """Is it to be told what is done about each line?"""
        return self._lines is not None

    def learn(self, data: bytes, start: int, eol: int, same: Same) -> None:
        """What was done about a line, which was no more than counting."""
        lines = self._lines
        if lines is None or eol - start > LONGEST or data[start : start + 1] in (b" ", b"\t", b"&"):  # may stand beneath a title
            return
        if not same.numbers_decide and lines.forms:
            form = lines.forms.get(bisect_left(lines.ends, eol + 1))
            if form is not None and len(self._forms) < MAX_KNOWN and _MIXED.search(form) is None:
                self._forms[form] = same
                return
        if len(self._texts) < MAX_KNOWN:
            self._texts[data[start:eol]] = same

    def _suits(self, data: bytes, limit: int) -> bool:
        """Is much found in a window, and anything that is known of lines a help?"""
        if not self._floods.everything or limit < SMALLEST or self._floods.left_out.mark is not None or b"\x1b" in data:
            return False
        if self._rest:
            self._rest -= 1
            return False
        sample = data[: PARTS[0]]
        if len(self._engine.find(sample, self._floods.left_out.literals)) * DENSE <= len(sample):
            return False
        return (limit == len(data) or data[limit - 1] == _NEWLINE) and max(map(len, data.split(b"\n"))) <= MAX_LINE  # read piece by piece

    def _settle(self) -> None:
        """A window is over: was it worth it?"""
        if 2 * self._left <= self._seen:
            self._next_rest = 0
        else:
            self._by_text = True
            self._rest = self._next_rest = min(LONGEST_REST, 2 * self._next_rest + 1)

    def _part(self, data: bytes, start: int, end: int) -> Finds:
        if self._state != (state := self._floods.state()):
            self._state = state
            self._texts.clear()
            self._forms.clear()
        texts = data[start:end].split(b"\n")
        left: Sequence[int] = range(len(texts))
        if self._by_text:
            left = [left[at] for at in self._unknown(self._texts, texts)]
        by_text = len(left)
        forms: dict[int, bytes] = {}
        self._again = True
        if self._by_form and left:
            part = data[start:end] if len(left) == len(texts) else b"\n".join(map(texts.__getitem__, left))
            rows = alike(part).split(b"\n")
            self._again = 10 * len(set(rows).difference(self._forms)) <= 9 * len(rows)
            if self._again and (digits := self._engine.numbered(_CODE)) is not None:
                found = digits(part)
                decided = _numbers(found, [texts[n] for n in left]) if found else frozenset()
                unknown = self._unknown(self._forms, rows, decided)
                forms = {left[at]: rows[at] for at in unknown if at not in decided}
                left = [left[at] for at in unknown]
            self._by_text = self._by_text and (16 * by_text < 15 * len(texts) or 2 * len(left) > by_text)  # forms tell nearly all of them
        self._seen += len(texts)
        self._left += len(left)
        ends = list(accumulate((len(text) + 1 for text in texts), initial=start))[1:] if left else []
        lines = self._lines = _Lines(texts, ends, forms)
        return self._search(lines, left)

    def _unknown(self, known: Mapping[bytes, Same], rows: Sequence[bytes], but: AbstractSet[int] = frozenset()) -> Sequence[int]:
        """Counts the rows that are known; the numbers of the others, and of those that are not to be told by what is known."""
        if not known:
            return range(len(rows))
        counted = Counter(rows)
        counted.subtract(map(rows.__getitem__, but))
        for row, times in counted.items():
            if (same := known.get(row)) is not None:
                self._floods.count(same, times)
        return [n for n, row in enumerate(rows) if row not in known or n in but]

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
        known, row = (self._forms, lines.forms[number]) if number in lines.forms else (self._texts, text)
        if len(known) < MAX_KNOWN and len(text) <= LONGEST:
            known[row] = _NOTHING


def _numbers(found: Finds, rows: Sequence[bytes]) -> frozenset[int]:
    """In which rows, that are searched as one text, something was found."""
    ends = list(accumulate(len(row) + 1 for row in rows))
    return frozenset(bisect_left(ends, end) for end, _ in found)
