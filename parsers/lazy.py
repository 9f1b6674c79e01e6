"""Regular expressions compiled at their first use: most runs read few of the formats, and start-up counts."""

from __future__ import annotations

import re
from typing import Any, cast


class _Lazy:
    """Stands for a compiled pattern; from the first use on its methods are plain attributes and cost nothing more."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern, self.flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self.flags)
        self.match, self.search = compiled.match, compiled.search
        self.finditer, self.sub = compiled.finditer, compiled.sub
        return getattr(compiled, name)


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, but not yet."""
    return cast("re.Pattern[str]", _Lazy(pattern, flags))
