"""A sentence with less beside its point: remarks in brackets go before its end, where names and consequences stand, is cut.

>>> shorter("The text (one that was quoted at length) is of kernel plugh_3 (index).", lambda text: len(text) < 50)
'The text is of kernel plugh_3 (index).'
>>> shorter("What it needs (see run_plugh.sh beside it) is told.", lambda text: len(text) < 30)
'What it needs (see run_plugh.sh beside it) is told.'
"""

from __future__ import annotations

from collections.abc import Callable

from parsers.lazy import lazy

_REMARK = lazy(r" ?\([^()]{3,400}\)| ?（[^（）]{3,400}）")
_NAME = lazy(r"\w_\w|\w\.\w|--?\w+[-=]|/\w|[A-Z]{2,}\d|=")

LONGEST = 20_000  # characters: no remarks that go make a longer one fit


def shorter(text: str, fits: Callable[[str], bool]) -> str:
    """The text without as many of its remarks as it takes to fit, the longest first; those that name something stay."""
    if len(text) > LONGEST:
        return text
    remarks = sorted((found[0] for found in _REMARK.finditer(text) if not _NAME.search(found[0])), key=len, reverse=True)
    for remark in remarks:
        if fits(text):
            break
        text = text.replace(remark, "", 1)
    return text
