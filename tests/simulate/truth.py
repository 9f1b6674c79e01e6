"""What a right answer about a simulated job says."""

from __future__ import annotations

from typing import NamedTuple


class Truth(NamedTuple):
    """Whom a right answer names first, and by which entries (prefixes of codes)."""

    fault: str
    ranks: frozenset[int]
    codes: tuple[str, ...]
    hidden: bool = False  # the logs of the root are gone: its cause must not be claimed
    every: tuple[str, ...] = ()  # prefixes of codes that must all stand among the roots
