"""What a pattern is made of: the parser and the compiler of `re`, wherever they are kept."""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib import import_module
from typing import Any

_NEW = sys.version_info >= (3, 11)  # they moved
c: Any = import_module("re._constants" if _NEW else "sre_constants")
parser: Any = import_module("re._parser" if _NEW else "sre_parse")
_compiler: Any = import_module("re._compiler" if _NEW else "sre_compile")

REPEATS = tuple(r for r in (c.MAX_REPEAT, c.MIN_REPEAT, getattr(c, "POSSESSIVE_REPEAT", None)) if r is not None)


@lru_cache(maxsize=8)  # asked of one pattern several times in a row
def parsed(pattern: str) -> Any:
    """The parts of a pattern: (what, with what)."""
    return parser.parse(pattern)


def compiled(pattern: str) -> Any:
    """The pattern ready for use: of its parts, which `re.compile` would read again."""
    return _compiler.compile(parsed(pattern))
