"""What no format claims: programs' output, shell sessions, launchers' logs.

A line and what it wrapped onto are one record.

    Loading checkpoint shards: 100%
    INFO 03-25 06:14:02 [core.py:880] init engine took 31.70 seconds

>>> [record.text for record in parse(["step 1", "   loss 0.3", "step 2"])]
['step 1\\n   loss 0.3', 'step 2']
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from parsers.parsed import Record
from parsers.runs import TEXT, runs

KIND = "text"
FORMAT = TEXT


def sniff(lines: Iterable[str]) -> bool:  # noqa: ARG001 - the shape every parser has
    """Never: text is what is left over, not what a file is."""
    return False


def parse(lines: Iterable[str]) -> Iterator[Record]:
    """Everything as text."""
    return runs((), lines)
