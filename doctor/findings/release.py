"""Versions compared as releases: `8.0.RC2` before `8.0.0`, `2.5.1.post1` after `2.5.1`, `2.1` as `2.1.0`."""

from __future__ import annotations

import operator

from parsers.lazy import lazy

_PART = lazy(r"(?i)\d+|rc|alpha|beta|dev|post|b|a")
_BEFORE = {"dev": -4, "alpha": -3, "a": -3, "beta": -2, "b": -2, "rc": -1, "post": 1}
_BOUND = lazy(r"(>=|<=|==|>|<)\s*([\w.+]+)")
_COMPARE = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "==": operator.eq}


def release(version: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A key to compare by; what is built from (`+cpu`, `+gitabc`) says nothing of the release.

    >>> release("8.0.RC2") < release("8.0.0") == release("8.0") < release("8.0.0.post1") < release("8.1.RC1")
    True
    """
    numbers: list[int] = []
    stage: list[int] = []
    for part in _PART.findall(version.partition("+")[0])[:12]:
        if part.isdecimal():
            (stage or numbers).append(int(part[:12]))
        elif not stage:
            stage.append(_BEFORE[part.lower()])
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers), tuple(stage) or (0,)


def within(version: str, bounds: str) -> bool:
    """Does a version keep all bounds: `>=4.50 <5`?

    >>> within("4.51.3", ">=4.50 <5"), within("4.49.0.dev0", ">=4.49")
    (True, False)
    """
    found = _BOUND.findall(bounds)
    return bool(found) and all(_COMPARE[sign](release(version), release(wanted)) for sign, wanted in found)


def shut_out(bounds: str, least: str) -> bool:
    """Do bounds leave no room for a release that is at least so new?

    >>> shut_out(">=4.45 <4.50", "4.51.0"), shut_out("==4.51.0", "4.51.0"), shut_out(">=4.45", "4.51.0")
    (True, False, False)
    """
    floor = release(least)
    return any(release(wanted) <= floor if sign == "<" else release(wanted) < floor for sign, wanted in _BOUND.findall(bounds) if sign in ("<", "<=", "=="))
