"""Error lines that no signal claims, folded by shape so that a storm becomes a few lines of report."""

from __future__ import annotations

import re
from functools import lru_cache

from doctor.scan.floods import MAX_SHAPES
from doctor.scan.forms import CODE
from doctor.scan.harvest import Cluster, Place
from kb import spelling
from parsers.lazy import lazy

FURTHER = "(further shapes)"
_HEAD = lazy(r"^\[[A-Z]+\] ?([A-Z0-9_]+)\([^)]*\): ?[\d:. -]+(?:\[([^\]:]+)[^\]]*\])?")
_MASKS = (
    (lazy(r"<([a-z]{2,20})-[0-9a-z]{1,20}>"), r"<\1>"),  # the name that stands for another in redacted logs
    (lazy(r"0[xX][0-9a-fA-F]+"), "0x.."),
    (lazy(r"\b[0-9a-fA-F]{12,}\b"), "<hex>"),
    (lazy(r"(?<![\w.])/[\w.+-]+(?:/[\w.+@%-]+)+"), "<path>"),
    (lazy(r"\d+(?:\.\d+)*"), "<n>"),
    (lazy(r"[ \t]+"), " "),
)
_CODE = lazy(CODE)


@lru_cache(maxsize=8)  # of one line it is asked by who counts it, and by who asks what it means
def template(text: str) -> str:
    """The shape of a line: numbers, addresses and paths masked, codes kept, the head of a plog line reduced to its origin."""
    text = text[:600]
    origin = ""
    if m := _HEAD.match(text):
        origin, text = f"{m[1]} [{m[2]}] " if m[2] else f"{m[1]} ", text[m.end() :]
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        kept.append(match[0])
        return f"\x00{chr(0xE000 + len(kept) - 1)}\x00"

    text = _CODE.sub(keep, text)
    for pattern, mask in _MASKS:
        text = pattern.sub(mask, text)
    for number, code in enumerate(kept[:200]):
        text = text.replace(f"\x00{chr(0xE000 + number)}\x00", code)
    return (origin + text.strip())[:240]


class Clusters:
    """Collects unclaimed error lines of one source."""

    def __init__(self) -> None:
        self.total = 0
        self.full = False  # are there so many shapes that a new one is only counted?
        self._found: dict[str, tuple[int, Place]] = {}

    def count(self, shape: str, times: int) -> None:
        """More lines of a shape that is known, or of so many that are not that they have no shape of their own."""
        if not times:
            return
        self.total += times
        number, place = self._found.get(shape) or (0, next(iter(self._found.values()))[1])
        self._found[shape] = (number + times, place)

    def further(self, text: str) -> bool:
        """Has a line a shape that is only counted as one of those which have none of their own?"""
        return self.full and template(text) not in self._found

    def add(self, place: Place) -> str:
        """A line; its shape is returned."""
        self.total += 1
        shape = template(place.text)
        if self.full and shape not in self._found:
            shape = FURTHER
        number, first = self._found.get(shape, (0, place))
        self._found[shape] = (number + 1, first)
        self.full = len(self._found) >= MAX_SHAPES
        return shape

    def result(self) -> tuple[Cluster, ...]:
        return tuple(
            Cluster(shape, n, place, spelling.in_text(place.text)) for shape, (n, place) in self._found.items()
        )
