"""Mutants of an entry: its condition with one part taken away. What no sample notices is a guess."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from kb.model import Condition, Entry, Signal
from parsers.named import NamedTuple

Path = tuple[int, ...]


class Mutant(NamedTuple):
    """An entry without one part. A weaker one holds where it must not, a stronger one no longer where it must."""

    what: str
    entry: Entry
    weaker: bool
    kept: frozenset[int] = frozenset()  # leaves of the alternative that is taken away
    others: frozenset[int] = frozenset()  # leaves of those that stay


class _Member(NamedTuple):
    """A member of a group: where it stands, the word of the group, and whether a `not` stands above."""

    path: Path
    how: str
    condition: Condition
    siblings: tuple[Condition, ...]
    forbidden: bool


def mutants(entry: Entry) -> Iterator[Mutant]:
    """One for each member of every group, however deep, and for `same` and `within_s`."""
    top: Condition = ("all", entry.condition)
    for member in _members(top, (), False):
        changed = _without(top, member.path)
        if changed is None or not _positive(changed):
            continue
        assert not isinstance(changed, int)
        mutant = Mutant(_name(member), entry._replace(condition=changed[1]), (member.how != "any") != (member.forbidden and member.how != "not"))
        if mutant.weaker:
            yield mutant
        else:
            others = frozenset(leaf for one in member.siblings for leaf in leaves(one))
            yield mutant._replace(kept=frozenset(leaves(member.condition)), others=others)
    if entry.same not in ("source", "job"):
        yield Mutant(f"'same: {entry.same}'", entry._replace(same="job"), True)
    if entry.within_s is not None:
        yield Mutant("'within_s'", entry._replace(within_s=None), True)


def leaves(condition: Condition) -> Iterator[int]:
    """The numbers of the leaves by which a condition holds: what forbids is none of them."""
    if isinstance(condition, int):
        yield condition
    elif condition[0] != "not":
        for member in condition[1]:
            yield from leaves(member)


def _members(group: Condition, at: Path, forbidden: bool) -> Iterator[_Member]:
    """Every member of every group."""
    if isinstance(group, int):
        return
    how, members = group
    for number, member in enumerate(members):
        siblings = (*members[:number], *members[number + 1 :])
        if siblings or how == "not":
            yield _Member((*at, number), how, member, siblings, forbidden)
        yield from _members(member, (*at, number), forbidden or how == "not")


def _without(group: Condition, path: Path) -> Condition | None:
    """The group without the member at a path; None when nothing is left of it."""
    assert not isinstance(group, int)
    how, members = group
    inner = _without(members[path[0]], path[1:]) if len(path) > 1 else None
    kept = (*members[: path[0]], *(() if inner is None else (inner,)), *members[path[0] + 1 :])
    return (how, kept) if kept else None


def _positive(condition: Condition) -> bool:
    """Does something decide in every group of it, besides what forbids?"""
    if isinstance(condition, int):
        return True
    how, members = condition
    if how == "any":
        return all(isinstance(m, int) or m[0] == "not" or _positive(m) for m in members)
    return how != "not" and any(map(_positive, members)) and all(isinstance(m, int) or m[0] == "not" or _positive(m) for m in members)


def _name(member: _Member) -> str:
    where = ".".join(str(number + 1) for number in member.path)
    what = f"leaf {member.condition}" if isinstance(member.condition, int) else f"the '{member.condition[0]}'"
    return f"branch {where} of the evidence ({what}{', an alternative' if member.how == 'any' else ''})"


MOST = 12  # words of a match that are tried
OTHER = "\N{MIDDLE DOT}"  # stands for what is taken out: no pattern asks for it


def twins(signal: Signal, text: str) -> Iterator[bool]:
    """Lines that are nearly those of a sample: a word of what a leaf matches is another. Is each still matched?"""
    pattern = _pattern(signal)
    found = pattern.search(text) if pattern is not None else None
    if pattern is None or found is None:
        return
    end = text.find("\n", found.end())
    begin = text.rfind("\n", 0, found.start()) + 1
    line = text[begin : found.end()]  # what follows may be of another alternative of the pattern
    if not pattern.search(line):
        line = text[begin : end if end >= 0 else len(text)]
    words = list(dict.fromkeys(re.findall(r"\w+", found[0] or line)))
    for word in words if len(words) <= MOST else (*words[: MOST // 2], *words[-MOST // 2 :]):
        yield pattern.search(re.sub(re.escape(word), OTHER * len(word), line, flags=re.IGNORECASE)) is not None


def wording_alone(entry: Entry, mutant: Mutant, text: str) -> str | None:
    """A sample in which the words of the other alternatives are taken out; None when that takes out those of this one."""
    own = [m.span() for leaf in mutant.kept if (p := _pattern(entry.signals[leaf])) for m in p.finditer(text)]
    if not own:
        return None
    letters = list(text)
    for leaf in mutant.others:
        pattern = _pattern(entry.signals[leaf])
        for found in pattern.finditer(text) if pattern is not None else ():
            for at in range(*found.span()):
                if text[at].isalnum() and not any(begin <= at < end for begin, end in own):
                    letters[at] = OTHER
    return "".join(letters)


@lru_cache(maxsize=1 << 12)
def _pattern(signal: Signal) -> re.Pattern[str] | None:
    """What a leaf looks for; None of a table, whose rows no words make."""
    if signal.form == "text":
        return re.compile(re.escape(signal.pattern))
    return re.compile(signal.pattern, re.MULTILINE | re.DOTALL if signal.lines else re.MULTILINE) if signal.form in ("regex", "code", "exit") else None
