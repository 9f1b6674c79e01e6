"""Sentences that demand something: of what, what it has to be, and what it was.

    the type of 'x' must be one of {float16, float32}, but got int32.
    biasOptional's dtype should be [DT_FLOAT], actual is [DT_BFLOAT16].

>>> demand("the type of 'x' must be one of {float16, float32}, but got int32.", VERB)
Demand(subject="the type of 'x'", allowed='one of {float16, float32}', given='int32')
"""

from __future__ import annotations

import re

from parsers.lazy import lazy
from parsers.named import NamedTuple

VERB = lazy(
    r"\b(?:(?:must|should|can) (?:only )?(?:be|support)|only supports?|(?:is|are) expected to be|to be|"
    r"(?:must|should|ha(?:s|ve) to|needs? to|is required to|(?:is|are) expected to)(?: not)? (?:be|have|contain|match|equal|divide|support|specify|provide|set))\b"
)
_GOT = lazy(
    r"(?:[,;.]? (?:but|and) (?:it |now |actually |currently )?(?:got|found|given|received|is|are|was|has)|[,;.]? (?:now |actually |currently )?(?:got|received|actual(?:ly)?(?: value| dtype)? is|given is))\b:? ?"
)
_END = lazy(r"\.?$|[.;] ")
_LONGEST = 160


class Demand(NamedTuple):
    """The parts of such a sentence; `given` is "" when it is not told."""

    subject: str
    allowed: str
    given: str


def demand(sentence: str, verb: re.Pattern[str]) -> Demand | None:
    """What a sentence demands; nothing when it has no such verb, or nobody of whom."""
    found = verb.search(sentence)
    if found is None or not (subject := sentence[: found.start()].strip()):
        return None
    rest = sentence[found.end() : found.end() + 4 * _LONGEST]
    got = _GOT.search(rest)
    allowed, given = (rest[: got.start()], rest[got.end() :]) if got is not None else (rest, "")
    allowed = _up_to_end(allowed)
    return Demand(subject[-_LONGEST:], f"not {allowed}" if allowed and " not" in found[0] else allowed, _up_to_end(given))


def _up_to_end(text: str) -> str:
    text = text[:_LONGEST]
    end = _END.search(text)
    return text[: end.start()].strip(" ,") if end is not None else text.strip(" ,")
