"""Regular expressions compiled at their first use: most runs read few of the formats, and start-up counts."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

from parsers.patterns import compiled

_METHODS = ("match", "search", "fullmatch", "finditer", "findall", "sub", "subn", "split")


class _Lazy:
    """Stands for a compiled pattern; from the first use on its methods are plain attributes and cost nothing more."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern, self.flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        pattern: re.Pattern[Any] = compiled(cast("Any", self.pattern), self.flags)
        self.__dict__.update((method, getattr(pattern, method)) for method in _METHODS)
        return getattr(pattern, name)


def lazy(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, but not yet."""
    return cast("re.Pattern[AnyStr]", _Lazy(pattern, flags))
