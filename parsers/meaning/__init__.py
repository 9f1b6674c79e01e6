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

from importlib import import_module

from parsers.errno import in_words
from parsers.lazy import lazy
from parsers.meaning.anchors import ANCHORS
from parsers.meaning.said import ASSERTION, FOLLOWING, LONGEST, Reading, Said, said_by

# Of MindCluster's components. It stays in the line, where it tells who spoke; it is no part of what was said.
_HEAD = lazy(r"\[[A-Z]{4,8}\] {1,8}\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{6} \d{1,19} {1,8}[\w./-]{1,160}\.go:\d{1,7} {1,8}(?=\S)")

__all__ = ["FOLLOWING", "Reading", "Said", "asks", "read", "said_by"]


def asks(said: Said) -> bool:
    """May anything be read here? Then the lines that follow are worth fetching, which costs more than this."""
    text = in_words(said.text[:LONGEST])
    if said.reaches(len(text)) or (not text.strip() and said.type.endswith(ASSERTION)):
        return True
    return any(anchor in text for anchors in ANCHORS.values() for anchor in anchors)


def read(said: Said) -> tuple[Reading, ...]:
    """What the text says, as rows of the tables of meaning; empty when no reader understands it."""
    text = in_words(said.text[:LONGEST])
    goes_on = said.reaches(len(text))
    sought = "\n".join((text, *(line[:LONGEST] for line in said.following[:FOLLOWING]))) if goes_on else text
    if text[:1] == "[" and (head := _HEAD.match(text)) is not None:
        text = text[head.end() :]
    bare = not text.strip() and said.type.endswith(ASSERTION)
    for name, anchors in ANCHORS.items():
        if any(anchor in sought for anchor in anchors) or (bare and name == "rules"):
            found: tuple[Reading, ...] = import_module(f"parsers.meaning.{name}").read(said._replace(text=text))
            if found:
                return found
    return ()
