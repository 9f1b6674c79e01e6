"""Versions as this stack writes them: `8.0.RC1 < 8.0.RC3 < 8.0.0 < 8.1.RC1`, `2.5.1 < 2.5.1.post1`, `24.1.rc2 < 24.1.rc2.2`."""

from __future__ import annotations

import re
from functools import lru_cache

_TOKEN = re.compile(r"\d+|[a-z]+")
_BUILD = re.compile(r"\.b\d{2,}$")
_WORDS = {"dev": -1, "alpha": 0, "a": 0, "beta": 1, "b": 1, "rc": 2, "post": 4}
_END = (3, 0)
_SPEC = re.compile(r"(~=|==|!=|<=|>=|<|>)\s*([\w.*+!-]+)")
_MAX = 64  # characters of a version

Key = tuple[tuple[int, int], ...]


@lru_cache(maxsize=1 << 12)
def key(version: str) -> Key:
    """What a version sorts by. A local part (`+cpu`) and a build (`.B150`) say nothing of the release."""
    text = _BUILD.sub("", version.strip().lower().lstrip("v").partition("+")[0])[:_MAX]
    found: list[tuple[int, int]] = []
    for token in _TOKEN.findall(text):
        if token.isdigit():
            found.append((3, int(token)))
        else:
            found.append((_WORDS.get(token, 2), 0))
    while found and found[-1] == _END:
        found.pop()
    return tuple(found)


def compare(a: str, b: str) -> int:
    """-1, 0 or 1."""
    left, right = key(a), key(b)
    width = max(len(left), len(right))
    one, other = ((*k, *[_END] * (width - len(k))) for k in (left, right))
    return (one > other) - (one < other)


def numbers(version: str, count: int) -> tuple[int, ...]:
    """The first numbers of a version: `numbers("8.2.RC1", 2)` is (8, 2)."""
    found: list[int] = []
    for kind, number in key(version):
        if kind != 3 or len(found) == count:
            break
        found.append(number)
    return (*found, *[0] * (count - len(found)))


def line(version: str) -> tuple[int, ...]:
    """The line of releases that a CANN is of: `(8, 3)` of 8.3.RC2. Up to 8.0 each RC was a release of its own quarter."""
    head = numbers(version, 2)
    if head >= (8, 1):
        return head
    found = re.search(r"rc(\d+)", version.lower())
    return (*head, int(found[1]) if found else 99)


def base(version: str) -> str:
    """The three numbers that a torch_npu shares with its torch: `2.5.1` of `2.5.1.post1.dev20250619`."""
    return ".".join(map(str, numbers(version, 3)))


def is_release(version: str) -> bool:
    """A version that was published under that name, no build of a day."""
    return bool(version) and not any(word in version.lower() for word in ("dev", "+g", "git"))


def holds(spec: str, version: str) -> bool:
    """Does a version fulfil `>=3.9,<3.12`, `==2.7.1`, `==2.7.*`, `~=4.2`?"""
    return all(_one(sign, wanted, version) for sign, wanted in _SPEC.findall(spec))


def _one(sign: str, wanted: str, version: str) -> bool:
    if wanted.endswith(".*"):
        count = wanted.count(".")
        same = numbers(version, count) == numbers(wanted[:-2], count)
        return same if sign == "==" else not same
    if sign == "~=":
        count = max(1, wanted.count("."))
        return compare(version, wanted) >= 0 and numbers(version, count) == numbers(wanted, count)
    if sign == "<" and numbers(version, 4) == numbers(wanted, 4):  # a candidate of 0.10 is no version before 0.10
        return False
    order = compare(version, wanted)
    return {"==": order == 0, "!=": order != 0, "<=": order <= 0, ">=": order >= 0, "<": order < 0, ">": order > 0}[sign]


_RANGE = re.compile(r"\[([^\],\s]+)\s*(?:,\s*([^\]\s]+))?\]")


def ranges(text: str) -> tuple[tuple[str, str], ...]:
    """`[7.0.0,7.5.99],[V100R001C18]` as pairs; a single one is its own end."""
    return tuple((low, high or low) for low, high in _RANGE.findall(text))


def within(version: str, listed: tuple[tuple[str, str], ...]) -> bool:
    """Is a version in one of the ranges? An end with a dot behind it (`24.1.`) takes in all that begins so."""
    for low, high in listed:
        if high.endswith("."):
            if version == high[:-1] or version.startswith(high):
                return True
        elif compare(low, version) <= 0 <= compare(high, version):
            return True
    return False


def line_of(inner: str) -> str:
    """The line of development of an inner version: `V100R001C19` of `V100R001C19SPC001B124`."""
    found = re.match(r"V\d{3}R\d{3}C\d{2}", inner)
    return found[0] if found else ""


def named(inner: str, listed: tuple[tuple[str, str], ...]) -> bool:
    """Does a list of inner versions name the line that one is of?"""
    line = line_of(inner)
    return bool(line) and any(line in (low, high) for low, high in listed)
