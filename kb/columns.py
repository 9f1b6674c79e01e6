"""What a list tells of every entry, column by column, and back: of the few values that a column has, one sign tells each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

_FIRST, _ESCAPED = 0x23, 0x5C  # the sign behind the quote; the backslash, which JSON would escape
Column = tuple[str, Sequence[str]]
"""The signs, one for each line, and the values that they stand for."""


def column(values: Sequence[str]) -> Column:
    """The values of one column."""
    often = [value for value, _ in Counter(values).most_common()]
    signs = dict(zip(often, _signs(), strict=False))
    return "".join(map(signs.__getitem__, values)), often


def read(column: Column) -> Iterator[str]:
    """The inverse of `column`."""
    signs, often = column
    told = dict(zip(_signs(), often, strict=False))
    return map(told.__getitem__, signs)


def value(column: Column, line: int) -> str:
    """The value of one line."""
    number = ord(column[0][line]) - _FIRST
    return column[1][number - (number > _ESCAPED - _FIRST)]


def _signs() -> Iterator[str]:
    return (chr(number) for number in range(_FIRST, 0xD800) if number != _ESCAPED)
