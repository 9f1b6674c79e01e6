"""JSON that somebody else wrote, read within bounds: a value of three bytes takes sixty when it has been read.

>>> read(b'{"a": [1, 2]}')
{'a': [1, 2]}
>>> read(b"[" * 100_000)
Traceback (most recent call last):
...
parsers.foreign_json.ForeignJsonError: it is nested too deep
>>> read("[[], [], []]", most=3)
Traceback (most recent call last):
...
parsers.foreign_json.ForeignJsonError: it holds more than 3 values
"""

from __future__ import annotations

import json
from typing import Any, Final

MAX_VALUES: Final = 8_000_000


class ForeignJsonError(ValueError):
    """It is no JSON, or more of it than is read."""


def read(text: str | bytes, most: int = MAX_VALUES) -> Any:
    """The value. What separates values is counted before it is read: commas within texts count as well."""
    if len(text) > most and _separators(text) >= most:
        raise ForeignJsonError(f"it holds more than {most} values")
    try:
        return json.loads(text)
    except RecursionError:
        raise ForeignJsonError("it is nested too deep") from None
    except ValueError:
        raise ForeignJsonError("it is no JSON") from None


def _separators(text: str | bytes) -> int:
    if isinstance(text, str):
        return text.count(",") + text.count("[") + text.count("{")
    return text.count(b",") + text.count(b"[") + text.count(b"{")
