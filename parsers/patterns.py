"""Compiled regular expressions that outlive the process: compiling the same two hundred again is a fifth of a short run.

What the interpreter's own compiler made of a pattern is kept as the numbers that it is. They are read again by the very same
interpreter only, which checks them before it takes them; whatever is wrong with them, the pattern is compiled as ever. Where they
are kept is for others to say: nothing is read or written here.
"""

from __future__ import annotations

import re
import sys
import zlib
from array import array
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any, AnyStr, cast

from parsers.named import NamedTuple

MOST = 4000  # patterns: of more, those of the last run are kept
_CODE = "I"  # as many bytes as a number of the compiler has: told by what is kept, or nothing is
Key = tuple[bool, str, int]
"""Is the pattern one of bytes; the pattern; its flags."""


class Made(NamedTuple):
    """What the compiler made of a pattern."""

    flags: int
    groups: int
    names: Mapping[str, int]
    code: bytes


class _Compiler(NamedTuple):
    parse: Callable[..., Any]
    code: Callable[..., list[int]]
    object: Callable[..., re.Pattern[Any]]
    number: int  # of the language of its code


_kept: dict[Key, Made] = {}
_used: dict[Key, Made] = {}
_new: list[Key] = []
_on = False


def compiled(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`."""
    if not _on:
        return re.compile(pattern, flags)
    key = _key(pattern, flags)
    try:
        made = _kept.get(key)
        if made is None:
            made = _kept[key] = _made(pattern, flags)
            _new.append(key)
        _used[key] = made
        return cast("re.Pattern[AnyStr]", _object(pattern, made))
    except (RuntimeError, TypeError, ValueError, AttributeError):  # not what this interpreter makes
        _kept.pop(key, None)
        _used.pop(key, None)
        return re.compile(pattern, flags)


def interpreter() -> str:
    """What the code of a pattern depends on; empty where it cannot be kept."""
    compiler = _compiler()
    return f"{sys.implementation.name} {sys.version} {compiler.number} {array(_CODE).itemsize} {sys.byteorder}" if compiler else ""


def remember(data: bytes) -> None:
    """Takes what an earlier run kept, and keeps what this one compiles from now on."""
    global _on
    _on = bool(interpreter())
    head, _, rest = data.partition(b"\n")
    rows, _, code = rest.partition(b"\n")
    if not _on or head.decode("utf-8", "replace") != _head(rest):
        return
    import json

    at = 0
    for raw, pattern, asked, flags, groups, names, length in json.loads(rows):
        _kept[bool(raw), pattern, asked] = Made(flags, groups, names, code[at : at + length])
        at += length


def remembered() -> bytes | None:
    """What the next run is to be told; None when it knows it already."""
    if not _new:
        return None
    import json

    kept = (_kept if len(_kept) <= MOST else _used).items()
    rows = [[int(raw), pattern, asked, made.flags, made.groups, made.names, len(made.code)] for (raw, pattern, asked), made in kept]
    rest = json.dumps(rows, separators=(",", ":")).encode() + b"\n" + b"".join(made.code for _, made in kept)
    _new.clear()
    return _head(rest).encode() + b"\n" + rest


def _key(pattern: str | bytes, flags: int) -> Key:
    return (True, pattern.decode("latin-1"), flags) if isinstance(pattern, bytes) else (False, pattern, flags)


def _head(rest: bytes) -> str:
    return f"{zlib.crc32(rest)} {interpreter()}".replace("\n", " ")


@lru_cache(maxsize=1)
def _compiler() -> _Compiler | None:
    """The parts that `re.compile` is made of; None where they are called otherwise."""
    try:
        inner: Any = re
        # Their names until Python 3.10 are others.
        parser, compiler = (inner._parser, inner._compiler) if hasattr(inner, "_compiler") else (inner.sre_parse, inner.sre_compile)
        sre: Any = import_module("_sre")
        return _Compiler(parser.parse, compiler._code, sre.compile, sre.MAGIC) if array(_CODE).itemsize == sre.CODESIZE else None
    except (ImportError, AttributeError):
        return None


def _made(pattern: AnyStr, flags: int) -> Made:
    compiler = _compiler()
    if compiler is None:
        raise ValueError
    parsed = compiler.parse(pattern, flags)
    return Made(flags | parsed.state.flags, parsed.state.groups - 1, parsed.state.groupdict, array(_CODE, compiler.code(parsed, flags)).tobytes())


def _object(pattern: AnyStr, made: Made) -> re.Pattern[Any]:
    compiler = _compiler()
    if compiler is None:
        raise ValueError
    named: list[str | None] = [None] * (made.groups + 1)
    for name, number in made.names.items():
        named[number] = name
    code = array(_CODE)
    code.frombytes(made.code)
    return compiler.object(pattern, made.flags, code.tolist(), made.groups, dict(made.names), tuple(named))
