"""Patterns of users, compiled by the library that knows time limits: when they are read, tried, and shown."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

MOST = 20_000  # patterns that stay compiled


@lru_cache(maxsize=MOST)
def limited(pattern: str) -> Any:
    """A pattern that can be searched for with a time limit."""
    import regex  # the built-in knowledge does without

    return regex.compile(pattern)
