"""How times, durations, counts, sizes, ranks, places and text of logs are written for people: the one place for it.

A pace counts its times in seconds: `doctor/pace/stamps.py` writes those.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from kb.invisible import STEERING
from parsers.lazy import lazy


def spans(numbers: Iterable[int]) -> str:
    """`0-23, 25, 30-31`.

    >>> spans([3, 1, 2, 7])
    '1-3, 7'
    """
    out: list[list[int]] = []
    for number in sorted(set(numbers)):
        if out and number == out[-1][1] + 1:
            out[-1][1] = number
        else:
            out.append([number, number])
    return ", ".join(f"{a}-{b}" if b > a else str(a) for a, b in out)


def folded(names: Iterable[str]) -> str:
    """Names of machines in short.

    >>> folded(["node001", "node002", "node007", "head"])
    'head,node[001-002,007]'
    """
    groups: dict[tuple[str, str], list[str]] = {}
    rows = []
    for name in dict.fromkeys(names):
        found = _NUMBERED.fullmatch(name)
        if found and not _ADDRESS.fullmatch(name):
            groups.setdefault((found[1], found[3]), []).append(found[2])
        else:
            rows.append(name)
    for (before, after), digits in groups.items():
        padded = any(len(d) > 1 and d[0] == "0" for d in digits)
        for width in sorted({len(d) for d in digits}) if padded else (0,):
            numbers = {int(d) for d in digits if not width or len(d) == width}
            told = ",".join("-".join(f"{int(n):0{width}}" for n in part.split("-")) for part in spans(numbers).split(", "))
            rows.append(f"{before}{told}{after}" if len(numbers) == 1 else f"{before}[{told}]{after}")
    return ",".join(sorted(rows))


_NUMBERED = lazy(r"(.*?)(\d{1,18})([^\d]*)")
_ADDRESS = lazy(r"[\d.]+|[0-9a-fA-F:]*:[0-9a-fA-F:]*")


def times(count: int) -> str:
    """How often: `x7`."""
    return f"x{count}"


def size(number: float) -> str:
    """Bytes: `312 B`, `58.1 KiB`."""
    for unit in ("B", "KiB", "MiB"):
        if number < 1024:
            return f"{number} B" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} GiB"


def duration(value: float, lang: str = "en") -> str:
    """Seconds as people say them: `41 s`, `30 min`, `1.5 h`, `12 d`."""
    second, minute, hour, day = ("秒", "分钟", "小时", "天") if lang == "zh" else ("s", "min", "h", "d")
    if value < 120:
        return f"{value:.0f} {second}"
    if value < 7200:
        return f"{value / 60:.0f} {minute}"
    return f"{value / 3600:.1f} {hour}" if value < 10 * 86400 else f"{value / 86400:.0f} {day}"


def moment(time: str | None) -> str:
    """A time of a report: `2026-03-02 09:14:44.121690`; empty when there is none."""
    return (time or "").replace("T", " ")


def short_moment(time: str) -> str:
    """A time in a table: to the millisecond."""
    return moment(time)[:23]


def share(part: float) -> str:
    """A part of one: `95%`."""
    return f"{part:.0%}"


def surety(confidence: float) -> str:
    """The name of the word for how sure a finding is."""
    return "high" if confidence >= 0.9 else "medium" if confidence >= 0.7 else "low"


def place(path: str, line: int) -> str:
    """A line of a log: `plog-7.log:12`."""
    return f"{path}:{line}"


# The head of a plog line, from its origin up to the message: of all this, level, module and process are worth a glance.
_HEAD = (
    r"^(\[[A-Z]+\]) ?([A-Z0-9_]+\(-?\d+),[^)]*\): ?\d{4}-\d\d-\d\d[- ]([\d:]{8}[\d.]*) ?"
    r"(?:\[[^\]\s]+:\d+\])? ?(?:\[?\d+\]?|tid:\d+,)? ?(?:\w+(?:\(\d+\))? ?: ?)?(?:\[INIT\]\[DEFAULT\])?"
)


def brief(row: str) -> str:
    """A plog line with its head shortened, so that the message is what catches the eye."""
    return re.sub(_HEAD, lambda m: f"{m[1]} {m[2]}) {m[3]} ", row, count=1)


def message(text: str) -> str:
    """A line of a log from its message on: the head of a plog line would fill the row."""
    first = text.split("\n")[0]
    short = brief(first)
    return short.partition(") ")[2].partition(" ")[2] or short if short != first else first


def clean(text: str) -> str:
    """Text from a log without anything that could steer a terminal or reorder what is read."""
    return STEERING.sub("?", text.replace("\t", "    "))
