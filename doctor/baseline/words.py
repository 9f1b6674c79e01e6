"""The words of a shape."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"[\w#]+|[^\w\s#]")
_HEAD = re.compile(r"^(?:\[[A-Z]+\] ?\w+\([^)]{0,60}\):[-#:. ]*)?(?:[ #:]*(?:\[[^\]]{0,80}\]|\([^)]{0,80}\)))*[ #:]*")


def tokens(shape: str) -> tuple[str, ...]:
    """Words and signs, without the head of a plog line."""
    return tuple(_TOKEN.findall(_HEAD.sub("", shape)))


def spoken(shape: str) -> tuple[str, ...]:
    """Its words that are no numbers and no signs."""
    return tuple(word for word in tokens(shape) if word[0].isalpha())
