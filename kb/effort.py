"""How much work a pattern may be, as its parts tell."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from kb.sre import REPEATS, c, parsed

MAX_SIZE = 20_000  # steps of a pattern whose repeats are written out
WORK = 200_000  # ways to read a text that are tried in no time worth a clock
LENGTHS = (2000, 1000, 400, 150)  # characters of the texts that are asked about


def size(pattern: str) -> int:
    """How many steps a pattern has with its least repeats written out, as the engine with a time limit does."""
    return _size(parsed(pattern))


def _size(items: Any) -> int:
    total = 0
    for op, argument in items:
        if op in REPEATS:
            total += max(1, argument[0]) * _size(argument[2])
        elif op is c.SUBPATTERN:
            total += _size(argument[3])
        elif op is c.BRANCH:
            total += sum(map(_size, argument[1]))
        elif op in (c.ASSERT, c.ASSERT_NOT):
            total += _size(argument[1])
        elif op is getattr(c, "ATOMIC_GROUP", None):
            total += _size(argument)
        elif op is c.GROUPREF_EXISTS:
            total += _size(argument[1]) + _size(argument[2] or ())
        else:
            total += 1
        if total > MAX_SIZE:
            break
    return total


def nested_repeat(pattern: str) -> bool:
    """Does an unbounded repeat stand inside another one whose rounds could be split differently: the classic runaway?"""
    return _nested(parsed(pattern), False)


def _nested(items: Any, inside: bool) -> bool:
    for op, argument in items:
        if op in REPEATS:
            _low, high, body = argument
            unbounded = high is c.MAXREPEAT or high > 1000
            if unbounded and inside:
                return True
            if _nested(body, inside or unbounded):
                return True
        elif (op is c.SUBPATTERN and _nested(argument[3], inside)) or (
            op is c.BRANCH and any(_nested(option, inside) for option in argument[1])
        ):
            return True
    return False


def harmless_up_to(pattern: str) -> int:
    """The longest text in which looking for a pattern is little work whatever stands there; zero where its form promises nothing."""
    choices = list(_choices(parsed(pattern)))
    if None in choices:
        return 0
    return next((n for n in LENGTHS if n * prod(min(choice, n + 1) for choice in choices if choice) <= WORK), 0)


def _choices(items: Any) -> Iterator[int | None]:
    """In how many ways each part can be laid upon a text, at most; None for one whose ways nobody knows, or whose rounds can differ in theirs."""
    for op, argument in items:
        if op is c.LITERAL or op in _ONE_WAY:
            continue
        if op in REPEATS:
            low, high, body = argument
            yield int(high) - low + 1
            inside = _choices(body)
            if high == 1:
                yield from inside
            elif any(choice != 1 for choice in inside):
                yield None
        elif op is c.SUBPATTERN:
            yield from _choices(argument[3])
        elif op is c.BRANCH:
            yield len(argument[1])
            for option in argument[1]:
                yield from _choices(option)
        elif op in (c.ASSERT, c.ASSERT_NOT):
            yield from _choices(argument[1])
        else:
            yield None


_ONE_WAY = (c.NOT_LITERAL, c.IN, c.ANY, c.AT)
