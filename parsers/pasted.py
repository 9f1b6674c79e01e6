"""What carrying a log from one place to another made of it, undone: a terminal broke long lines at its width, an editor or a page wrote signs its own way.

>>> straight(decoded("module ‘vllm’ has no attribute &quot;x&quot;".encode())).decode()
'module \\'vllm\\' has no attribute "x"'
>>> [numbers for _, numbers in joined(b"a" * 80 + b"\\n" + b"b" * 80 + b"\\nend\\nnext\\n")][0]
[1, 4, 5]
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise
from unicodedata import east_asian_width

from parsers.hoped import without_hoped
from parsers.lazy import lazy
from parsers.line import read_line
from parsers.of_pytest import as_python
from parsers.unfolded import unfolded

_NARROWEST, _WIDEST = 60, 400  # cells of a window
_BYTES = 2  # of a cell, at most: a Chinese sign has three, and takes two
_USUAL = frozenset((80, 100, 120, 132, 140, 150, 160, 180, 200))  # widths by which a single broken line is believed
_FEW = 3  # clocks, and numbers of lines: of so many on an order is no chance
_BROKEN = 2  # lines that were broken at a width that no window has by itself, or between words
_SEVERAL = 20  # lines whose heads are looked at
_BEGINNING = 6  # signs by which rows are told to begin alike
_SIGNS = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "\u00a0": " "})
_ENTITY = lazy(r"&(?:amp;)?(quot|lt|gt|nbsp|amp|#39|#x27|#34|#60|#62);")
_MEANT = {"quot": '"', "#34": '"', "lt": "<", "#60": "<", "gt": ">", "#62": ">", "nbsp": " ", "amp": "&", "#39": "'", "#x27": "'"}
_ENTITIES = lazy(rb"&(?:amp;)?(?:quot|lt|gt|#39|#x27|#34);")
_BENT = lazy(rb"\xe2\x80[\x98-\x9f]")
_LONGEST = 120  # signs of what every line may begin with
_DIGIT = lazy(r"\d")
_NUMBERED = lazy(r"\s{0,8}(?P<n>\d{1,7})(?=[:\s|.-]|$)")
_MARKED = lazy(rb"\s{0,8}\d{1,7}(?=[:\s|.-]|$)|>")
_CLOCK = lazy(rb"(?:\d{4}[-/]\d\d[-/]\d\d[T -])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?")
_SHORT = 8 << 10  # bytes of a paste
_WRITTEN = lazy(rb"\[[A-Z]{4,8}\] [A-Z_]{2,20}\(\d")
_HEAD, _FRAME = b"Traceback (most recent call last)", b'  File "'
# How a line begins that goes on with none before it; and what of a table or a rule is as wide as its neighbours.
_BEGINS = lazy(
    r"\[?\d{4}[-/]\d\d[-/]\d\d|\[?\(?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b|Traceback \(|(?:[A-Za-z_]\w*\.){0,8}[A-Z]\w{2,60}(?:Error|Exception)\b: "
    r"|\[?rank\d|\(\w[\w ]{0,60}pid=|E[A-Z0-9]\d{4}[:\[]|[$#] |\s*File \"|- |\* |```|$"
)
_OF_A_TABLE = lazy(r"\s*[+|│┃╭╰├=*#~^-]|[^\n]{0,400}[|│┃+]\s*$|[^\n]{0,200}\d%\|")


Carried = tuple[bytes, list[int]]
"""A text, and the numbers that its lines had; none where they are the same."""


def decoded(data: bytes) -> bytes:
    """The text with the signs that its entities of HTML stand for; itself where there are none."""
    if not _ENTITIES.search(data):
        return data
    return _ENTITY.sub(lambda found: _MEANT[found[1]], data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def straight(data: bytes) -> bytes:
    """The text with plain quotes: editors and pages bend them, and so does a compiler, whose own they are."""
    return data.decode("utf-8", "surrogateescape").translate(_SIGNS).encode("utf-8", "surrogateescape") if _BENT.search(data) else data


def joined(data: bytes) -> Iterator[Carried]:
    """The text with its lines as they may have been before they were broken, and the number of the first part of each."""
    if max(map(len, data.split(b"\n"))) > _WIDEST * _BYTES:
        return  # of most logs a line is longer than any window is wide
    rows = [row.removesuffix("\r") for row in data.decode("utf-8", "surrogateescape").split("\n")]
    widths = [_cells(row) for row in rows]
    width = max(widths)
    if _NARROWEST <= width <= _WIDEST:
        for breaks, least, sign in ((_cut(rows, widths, width), 1 if width in _USUAL else _BROKEN, ""), (_between_words(rows, widths, width), _BROKEN, " ")):
            found = _going_on(rows, breaks)
            if len(found) >= least:
                yield _at(rows, found, sign)


def _going_on(rows: list[str], breaks: set[int]) -> set[int]:
    """Those rows that go on with the one before: what other rows begin with as well, which follow on none so long, is a beginning."""
    begun = {_DIGIT.sub("0", row[:_BEGINNING]) for number, row in enumerate(rows) if number not in breaks}
    return {number for number in breaks if _DIGIT.sub("0", rows[number][:_BEGINNING]) not in begun and not _is_known(rows[number])}


def _at(rows: list[str], breaks: set[int], sign: str) -> Carried:
    """The text without these breaks."""
    whole: list[str] = []
    numbers: list[int] = []
    for number, row in enumerate(rows):
        if number in breaks:  # goes on with the row before
            whole[-1] += sign + row
        else:
            whole.append(row)
            numbers.append(number + 1)
    return "\n".join(whole).encode("utf-8", "surrogateescape"), numbers


def _cut(rows: list[str], widths: list[int], width: int) -> set[int]:
    """The rows before which a line was cut, at the very last cell or before a sign of two."""
    full = [n for n, (row, cells) in enumerate(zip(rows, widths, strict=True)) if cells in (width, width - 1) and not _OF_A_TABLE.match(row)]
    return {n + 1 for n in full if n + 1 < len(rows) and not _BEGINS.match(rows[n + 1]) and (widths[n] == width or _cells(rows[n + 1][:1]) == 2)}


def _between_words(rows: list[str], widths: list[int], width: int) -> set[int]:
    """The rows before which a line was broken since the next word had no room."""
    return {
        n
        for n, (before, row) in enumerate(pairwise(rows), 1)
        if 2 * widths[n - 1] > width and not row[:1].isspace() and widths[n - 1] + 1 + _cells(row.partition(" ")[0]) > width and not _BEGINS.match(row) and not _OF_A_TABLE.match(before)
    }


def _cells(text: str) -> int:
    """How many cells of a terminal it takes."""
    return len(text) if text.isascii() else sum(_of(sign) for sign in text)


def _of(sign: str) -> int:
    return 2 if east_asian_width(sign) in "WF" else 1


def bare(data: bytes) -> bytes:
    """The text without what every line begins with, but for its digits: a clock, a name, a mark of quotation."""
    rows = data.decode("utf-8", "surrogateescape").split("\n")
    said = [row for row in rows if row.strip()]
    begin = _DIGIT.sub("0", said[0][:_LONGEST]) if len(said) > 1 else ""
    for row in reversed(said):
        if not begin:
            break
        begin = begin[: _alike((begin, _DIGIT.sub("0", row[: len(begin)])))]
    alike = len(begin)
    while alike and any(row[alike - 1].isalnum() for row in said):  # a word that all begin with is their own
        alike -= 1
    if not begin[:alike].strip() or any(map(_is_known, said[:_SEVERAL])):
        alike = 0
    return "\n".join(row[alike:] for row in rows).encode("utf-8", "surrogateescape")


def _is_known(row: str) -> bool:
    """Is it understood what stands before the line's own words? That tells whose the line is, and stays."""
    line = read_line(row)
    return line.kind not in ("text", "traceback") or line.text.strip() != row.strip() or line.level is not None


def _without_numbers(rows: list[str]) -> list[str]:
    """Lines as `cat -n`, `grep -n` or an editor found them: themselves where they are not numbered one by one."""
    if _NUMBERED.match(rows[0]) is None:
        return rows
    found = [_NUMBERED.match(row) for row in rows]
    numbers = [int(one["n"]) for one in found if one is not None]
    if len(numbers) < _FEW or None in found[:-1] or any(after != before + 1 for before, after in pairwise(numbers)):
        return rows
    rests = [row[one.end() :] if one is not None else row for row, one in zip(rows, found, strict=True)]
    said = [rest for rest in rests if rest]
    sign = said[0][:1] if said else ""
    if sign and not sign.isspace() and any(not rest.startswith(sign) for rest in said):
        return rows
    apart = 1 if sign != " " else min(2, *(len(rest) - len(rest.lstrip(" ")) for rest in said if rest.strip()), 2)
    return [rest[apart:] for rest in rests]


def _alike(rows: Collection[str]) -> int:
    """With how many signs all begin that are the same."""
    least, most = min(rows), max(rows)
    return next((n for n, (one, other) in enumerate(zip(least, most, strict=False)) if one != other), min(len(least), len(most)))


def unmarked(data: bytes) -> bytes:
    """The text without what can be nothing but marks: numbers of lines, signs of quotation."""
    if not _MARKED.match(data):
        return data
    rows = _without_numbers(data.decode("utf-8", "surrogateescape").split("\n"))
    while (said := [row for row in rows if row.strip()]) and len(said) > 1 and all(row.startswith(">") for row in said):
        blank = all(row[1:2] in ("", " ") for row in said)
        rows = [row[1 + (blank and row[1:2] == " ") :] for row in rows]
    return "\n".join(rows).encode("utf-8", "surrogateescape")


def upright(data: bytes) -> Carried | None:
    """The text that a page showed with its newest line first, in its own order; None where it stands so."""
    rows = data.removesuffix(b"\n").split(b"\n")
    if not _upside_down(rows):
        return None
    return b"\n".join(reversed(rows)) + b"\n", list(range(len(rows), 0, -1))


def _upside_down(rows: list[bytes]) -> bool:
    """Does the time fall from line to line, or do frames stand above the head of their traceback?"""
    newest, oldest = next(_clocks(rows), b""), next(_clocks(reversed(rows)), b"")
    if newest != oldest:
        clocks = list(_clocks(rows)) if newest > oldest else []
        return len(clocks) >= _FEW and all(before >= after for before, after in pairwise(clocks))
    heads = [n for n, row in enumerate(rows) if _HEAD in row]
    return bool(heads) and all(
        any(_FRAME in row for row in rows[max(0, n - 2) : n]) and not any(_FRAME in row for row in rows[n + 1 : n + 2]) for n in heads
    )


def _clocks(rows: Iterable[bytes]) -> Iterator[bytes]:
    return (found[0] for row in rows if (found := _CLOCK.search(row[:80])) is not None)


def plain(data: bytes) -> bytes:
    """The text as it read before, where there is no doubt."""
    return as_python(without_hoped(decoded(unmarked(data))))


def ways(data: bytes) -> Iterator[Carried]:
    """How a plain text may have read before it was carried; what CANN wrote at length never was."""
    if len(data) > _SHORT and _WRITTEN.match(data) and _WRITTEN.match(data.rstrip().rpartition(b"\n")[2]):
        return
    for own in (straight(data), bare(data)):
        if own != data:
            yield own, []
    yield from joined(data)
    yield from filter(None, (unfolded(data), upright(data)))
