"""Whether two shapes that should be equal differ by a degree of parallelism with which the program runs.

What one side has divided among the cards and the other has not is a fault of the framework's code, whatever the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from parsers.lazy import lazy

_NUMBER = lazy(r"\d{1,12}")
_DEGREE = lazy(r"(?P<name>[\w-]{2,40}?)['\"]?[\s:=]{1,3}(?P<size>\d{1,4})$")
# Who divides heads of a sequence in flight, before who divides weights once and for all.
_SEQUENCE = ("ulysses", "sp", "sequence", "cp", "context", "ring")


def by_degree(captures: Mapping[str, str], told: Sequence[str]) -> tuple[str, str] | None:
    """The degree, by its name and size, by which the captured {shape} and {should} differ in one place.

    >>> by_degree({"shape": "1, 5, 256, 128", "should": "1, 20, 256, 128"}, ("tp_size 2", 'sp_degree": 4'))
    ('sp_degree', '4')
    """
    by = _quotient(captures.get("shape", ""), captures.get("should", ""))
    named = [(found["name"], found["size"]) for one in told if (found := _DEGREE.search(one.strip())) is not None and int(found["size"]) == by]
    return min(named, key=lambda one: not one[0].startswith(_SEQUENCE), default=None)


def names(captures: Mapping[str, str], told: Sequence[str]) -> dict[str, str]:
    """What texts may say of it."""
    found = by_degree(captures, told)
    return {"split_by": found[0], "split_size": found[1]} if found is not None else {}


def _quotient(one: str, other: str) -> int:
    """By which whole number two lists of sizes differ, in one place alone; 1 where they do not so."""
    these, those = ([int(n) for n in _NUMBER.findall(text)] for text in (one, other))
    apart = [(a, b) for a, b in zip(these, those, strict=False) if a != b] if len(these) == len(those) else []
    if len(apart) != 1 or not all(apart[0]):
        return 1
    less, more = sorted(apart[0])
    return more // less if more % less == 0 else 1
