"""Numbers of ranks as people write them."""

from __future__ import annotations

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
