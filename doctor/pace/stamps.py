"""Times of day as heads of lines carry them, in seconds; many at once, because there are millions of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone

STAMP = rb"[ \[(]{0,3}(?:[A-Z]{4,8} )?((?:\d{4}[-/])?\d\d[-/]\d\d[T -]\d\d:\d\d):(\d\d(?:[.,]\d{1,6})?)"
HEAD = re.compile(STAMP)
MAX_KEPT = 1 << 16
FEW_LINES = 1 << 10  # bytes
YEAR = 2000  # of stamps that tell none: only differences count then


class _Minutes(dict[bytes, float]):
    """The seconds of each minute that was met."""

    def __missing__(self, written: bytes) -> float:
        if len(self) > MAX_KEPT:
            self.clear()
        made = self[written] = _minute(written.decode("ascii"))
        return made


def _minute(written: str) -> float:
    plain = written.replace("/", "-").replace("T", " ")
    day, clock = plain[: plain.rindex(":") - 3], plain[plain.rindex(":") - 2 :]
    if len(day) < 8:
        day = f"{YEAR}-{day}"
    try:
        return datetime.fromisoformat(f"{day} {clock}").replace(tzinfo=timezone.utc).timestamp()
    except ValueError:
        return float("nan")


_MINUTES = _Minutes()


def seconds(minutes: Iterable[bytes], parts: Sequence[bytes]) -> list[float]:
    """Stamps cut into their minutes and seconds."""
    told = map(float, b" ".join(parts).replace(b",", b".").split())
    return [a + b for a, b in zip(map(_MINUTES.__getitem__, minutes), told, strict=True)]


_DATE = re.compile(rb"\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}(\d{1,2}) (\d\d:\d\d:\d\d)(?: [A-Z]{2,5})? (\d{4})\b")
_MONTHS = (b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec")


def latest(text: bytes) -> float:
    """The last time that stands in a text, as a log writes it or as `date` and `dmesg -T` do."""
    few = text[text.find(b"\n", max(0, len(text) - FEW_LINES)) + 1 :]  # nearly always it stands in one of the last lines
    last = _last(few) or _last(text)
    if last is None:
        return float("nan")
    if last.re is HEAD:
        return seconds([last[1]], [last[2]])[0]
    month, day = _MONTHS.index(last[1]) + 1, int(last[2])
    try:
        clock_of_day = last[3].decode("ascii")
        return datetime.fromisoformat(f"{last[4].decode('ascii')}-{month:02d}-{day:02d} {clock_of_day}").replace(tzinfo=timezone.utc).timestamp()
    except ValueError:
        return float("nan")


def _last(text: bytes) -> re.Match[bytes] | None:
    return max((found for pattern in (HEAD, _DATE) for found in pattern.finditer(text)), key=lambda found: found.start(), default=None)


def told(moment: float) -> str:
    """As people write it; without a year where the log told none."""
    if moment != moment:
        return ""
    made = datetime.fromtimestamp(moment, timezone.utc)
    return made.strftime("%m-%d %H:%M:%S" if made.year == YEAR else "%Y-%m-%d %H:%M:%S")


_CLOCK = re.compile(rb"(?:(\d+) ?d(?:ays?,?)? ?)?(?:(\d+):)?(\d+):(\d+)$|(?:(\d+)d ?)?(?:(\d+)h ?)?(?:(\d+)m ?)?(?:(\d+)s)?$")


def clock(written: bytes) -> float:
    """`1:02:03`, `26:02`, `2h 3m 4s`, `1 day, 2:03:04`."""
    found = _CLOCK.match(written.strip())
    if found is None:
        return float("nan")
    days, hours, minutes, rest = found.groups()[:4] if found[3] is not None else found.groups()[4:]
    return int(days or 0) * 86400 + int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(rest or 0)
