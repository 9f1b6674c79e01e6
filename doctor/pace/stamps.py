"""Times of day as heads of lines carry them, in seconds; many at once, because there are millions of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone

STAMP = rb"[ \[(]{0,3}(?:[A-Z]{4,8} )?((?:\d{4}[-/])?\d\d[-/]\d\d[T -]\d\d:\d\d):(\d\d(?:[.,]\d{1,6})?)"
HEAD = re.compile(STAMP)
MAX_KEPT = 1 << 16
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


def of_text(time: str | None) -> float:
    """The time that a line was read with: `2026-03-02T10:21:44.118305`."""
    if not time:
        return float("nan")
    try:
        return datetime.fromisoformat(time).replace(tzinfo=timezone.utc).timestamp()
    except ValueError:
        return float("nan")


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
