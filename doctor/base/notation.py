"""How numbers of ranks and text of logs are written for people."""

from __future__ import annotations

import re
from collections.abc import Iterable


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


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """Text from a log without anything that could steer a terminal or reorder what is read."""
    return _CONTROL.sub("?", text.replace("\t", "    "))
