"""Characters that steer a terminal, or that nobody sees."""

from __future__ import annotations

from typing import Any

from parsers.lazy import lazy

# Controls, and what is invisible or moves the text around it: marks of direction, joiners, separators, blanks without width, tags.
STEERING = lazy(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    r"\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)

WEB_PAGE = lazy(r"https?://[^\s<>\"'`\\\x00-\x20\x7f]+")  # where a reference may lead


def steering(value: Any) -> str:
    """The first such character in anything that a YAML file holds, as `the character U+001B`; empty when there is none."""
    if isinstance(value, dict):
        return next(filter(None, (steering(one) for pair in value.items() for one in pair)), "")
    if isinstance(value, (list, tuple)):
        return next(filter(None, map(steering, value)), "")
    found = STEERING.search(value) if isinstance(value, str) else None
    return f"the character U+{ord(found[0]):04X}" if found is not None else ""
