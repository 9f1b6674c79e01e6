"""What a failure means, read from its words alone: for software and messages that nobody has written knowledge about.

Each module reads one kind of sentence and gives rows of one table (`Reading`); `read` asks those whose anchors stand in
the text, from the most telling to the plainest, and takes what the first one understands: one failure has one meaning.
Everything is bounded, costs no more than the text is long, and takes any text.

>>> [row.table for row in read(Said("cannot import name 'foo' from 'bar'", "ImportError"))]
['meaning.import']
>>> read(Said("all is well"))
()
"""

from __future__ import annotations

from collections.abc import Callable

from parsers.meaning import imports, limits, missing, permissions, plain, refusals, rules, timeouts, unsupported
from parsers.meaning.said import FOLLOWING, LONGEST, Reading, Said, said_by

__all__ = ["FOLLOWING", "UNMARKED", "Reading", "Said", "read", "said_by"]

UNMARKED = plain.UNMARKED
_READERS: tuple[tuple[tuple[str, ...], Callable[[Said], tuple[Reading, ...]]], ...] = tuple(
    (module.ANCHORS, module.read)
    for module in (unsupported, imports, permissions, missing, timeouts, refusals, limits, rules, plain)
)


def read(said: Said) -> tuple[Reading, ...]:
    """What the text says, as rows of the tables of meaning; empty when no reader understands it."""
    text = said.text[:LONGEST]
    title = said.reaches(len(text))
    sought = "\n".join((text, *(line[:LONGEST] for line in said.following[:FOLLOWING]))) if title else text
    bare = not text.strip() and said.type.endswith(rules.ASSERTION)  # the source line tells its rule
    for anchors, reader in _READERS:
        if bare or any(anchor in sought for anchor in anchors):
            found = reader(said._replace(text=text))
            if found:
                return found
    return ()
