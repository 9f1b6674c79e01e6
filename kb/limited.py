"""Patterns of users: searched for under a time limit, by the library that knows one, where their form does not promise that they are quick."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from kb import effort, sre

MOST = 20_000  # patterns that stay compiled


def search(pattern: str, text: str, timeout: float) -> Any:
    """The first match. TimeoutError: it takes longer."""
    quick, longest = _quick(pattern)
    return quick.search(text) if len(text) <= longest else limited(pattern).search(text, timeout=timeout)


@lru_cache(maxsize=MOST)
def limited(pattern: str) -> Any:
    """A pattern that can be searched for with a time limit."""
    import regex  # the built-in knowledge does without

    return regex.compile(pattern)


@lru_cache(maxsize=MOST)
def _quick(pattern: str) -> tuple[Any, int]:
    """A pattern, and how long a text may be for it; the library without a limit takes half the time to prepare one."""
    longest = effort.harmless_up_to(pattern)
    return (sre.compiled(pattern) if longest else None), longest
