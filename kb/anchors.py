"""Which fixed text must stand in everything that a pattern can match.

The scanner looks for these literals at C speed and tries the pattern only where one was found, so a pattern without
an anchor would never be tried: the linter refuses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from kb import effort
from kb.effort import MAX_SIZE
from kb.limited import limited
from kb.sre import REPEATS, c, compiled, parsed
from parsers.lazy import lazy

MIN_ANCHOR = 6  # an automaton sorts its literals by length: one short one costs as much as hundreds of long ones
MAX_PATTERN = 2000  # characters

# What both libraries read in the same way, so that a pattern which one of them takes is taken by the other.
ALIKE = lazy(r"(?:[\w\s,:;='\"<>/@#%&!~`-]|\\[dDwWsSbB.\\/()\[\]{}+*?|^$-]|[.|^$)]|[*+?]\??(?![*+?{])|\((?!\?)|\(\?(?::|P<\w+>|!|=)|\{\d+(?:,\d*)?\}\??(?![*+?{])|\[\^?(?:\w-\w|[\w ,.:;='\"<>/@#%()*+?$]|\\[dwsDWS.\\/\[\]-])+\])*")


class PatternError(ValueError):
    """A pattern that cannot be used; the text says why."""


def usable(pattern: str, trusted: bool) -> None:
    """Raises when a pattern is broken, or would cost more to prepare than a pattern of a message can."""
    if len(pattern) > MAX_PATTERN:
        raise PatternError(f"it has {len(pattern)} characters; at most {MAX_PATTERN} are used")
    try:
        compiled(pattern)
        if effort.size(pattern) > MAX_SIZE:
            raise PatternError(f"written out it is longer than {MAX_SIZE} steps")
        if not trusted and not ALIKE.fullmatch(pattern):  # it may run under a time limit, which the standard library does not know
            limited(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(str(error)) from error
    except Exception as error:
        if type(error).__module__.startswith(("regex", "_regex")):  # its error is no subclass of anything better
            raise PatternError(str(error)) from error
        raise


def of_regex(pattern: str, first_line: bool = False) -> tuple[str, ...]:
    """The best set of anchors of a regex: each match contains at least one of them. Empty: there is none."""
    return _best(of_first_line(pattern) if first_line else candidates(pattern))


def blind_to_digits(pattern: str) -> bool:
    """Does each text match that has another digit in the place of each of one that does?"""
    return _blind(parsed(pattern))


def _blind(items: Any) -> bool:
    for op, argument in items:
        if op in (c.LITERAL, c.NOT_LITERAL):
            blind = not chr(argument).isdigit()
        elif op is c.IN:
            blind = all(_all_digits_or_none(*member) for member in argument)
        elif op in REPEATS:
            blind = _blind(argument[2])
        elif op is c.SUBPATTERN:
            blind = _blind(argument[3])
        elif op is c.BRANCH:
            blind = all(map(_blind, argument[1]))
        elif op in (c.ASSERT, c.ASSERT_NOT):
            blind = _blind(argument[1])
        else:
            blind = op in (c.ANY, c.AT, c.CATEGORY)
        if not blind:
            return False
    return True


def _all_digits_or_none(op: Any, argument: Any) -> bool:
    if op is c.LITERAL:
        return not chr(argument).isdigit()
    if op is c.RANGE:
        low, high = argument
        return bool(high < ord("0") or low > ord("9") or (low <= ord("0") and high >= ord("9")))
    return op in (c.NEGATE, c.CATEGORY)


def width(pattern: str) -> int:
    """How many characters a match has at most."""
    return int(parsed(pattern).getwidth()[1])


@lru_cache(maxsize=1 << 15)  # asked when an entry is read, and when all fragments are chosen: as many as users may have
def candidates(pattern: str) -> Sequence[tuple[str, ...]]:
    """Every set of fixed texts one of which stands in each match."""
    tree = parsed(pattern)
    return [] if tree.state.flags & re.IGNORECASE else _runs(tree)


def of_first_line(pattern: str) -> Sequence[tuple[str, ...]]:
    """The same for a pattern that runs over lines: only what stands before the first place where a line may end."""
    tree = parsed(pattern)
    if tree.state.flags & (re.IGNORECASE | re.DOTALL):
        return []
    return _runs(_head(tree))


def _head(items: Any) -> list[Any]:
    """The items before the first one with which a line may end; of a group, and of each of several options, its own head."""
    head: list[Any] = []
    for op, argument in items:
        if not _may_end_line(op, argument):
            head.append((op, argument))
            continue
        if op is c.SUBPATTERN:
            return head + _head(argument[3])
        if op is c.BRANCH and all(heads := [_head(option) for option in argument[1]]):
            return [*head, (c.BRANCH, (None, heads))]
        return head
    return head


def _may_end_line(op: Any, argument: Any) -> bool:
    if op is c.LITERAL:
        return bool(argument == 10)
    if op is c.NOT_LITERAL:
        return bool(argument != 10)
    if op is c.IN:
        inside = any(_holds_line_end(*member) for member in argument)
        return inside != (argument[0][0] is c.NEGATE)
    if op in REPEATS:
        return any(_may_end_line(*item) for item in argument[2])
    if op is c.SUBPATTERN:
        return any(_may_end_line(*item) for item in argument[3])
    if op is c.BRANCH:
        return any(_may_end_line(*item) for option in argument[1] for item in option)
    return op not in (c.ANY, c.AT, c.ASSERT, c.ASSERT_NOT)  # of anything else nothing is known


def _holds_line_end(op: Any, argument: Any) -> bool:
    """Does a member of a class stand for the end of a line?"""
    if op is c.LITERAL:
        return bool(argument == 10)
    if op is c.RANGE:
        return bool(argument[0] <= 10 <= argument[1])
    return op is c.CATEGORY and argument in (c.CATEGORY_SPACE, c.CATEGORY_NOT_WORD, c.CATEGORY_NOT_DIGIT)


def options(pattern: str, lines: int) -> tuple[tuple[str, ...], ...]:
    """The sets that a pattern can be looked for by; of one that may run over lines in the first of them, for that line is what is tried."""
    found = of_first_line(pattern) if lines else candidates(pattern)
    return tuple(o for o in found if min(map(len, o)) >= MIN_ANCHOR)


def weight(anchors: tuple[str, ...]) -> float:
    """How selective a set of anchors is: its shortest member decides, more members cost a little."""
    return min(map(_worth, anchors)) - 0.1 * (len(anchors) - 1) if anchors else 0.0


def _worth(literal: str) -> float:
    """Long and unusual text is worth more; blanks and digits are worth little."""
    return sum(0.3 if c in " .,:=[]()-_" else 0.6 if c.isdigit() else 1.3 if c.isupper() else 1.0 for c in literal)


def _best(candidates: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    return max(candidates, key=lambda a: (min(map(len, a)) >= MIN_ANCHOR, weight(a)), default=())


MAX_VARIANTS = 12  # "[sS]ub ?process" is four literals; more than these are given up


def _runs(items: Any) -> list[tuple[str, ...]]:
    """Every set of literals that a sequence of parsed items guarantees.

    A run is kept as the set of its spellings: small classes, optional characters and literal branches multiply it.
    """
    found: list[tuple[str, ...]] = []
    run: tuple[str, ...] = ("",)

    def close() -> None:
        nonlocal run
        if any(run):
            found.append(tuple(dict.fromkeys(run)))
            if len(found[-1]) > 1 and len(core := _beginning(run)) >= MIN_ANCHOR:
                found.append((core,))  # `E10006\)?: ?` is looked for by its code: one literal, not four
        run = ("",)

    for op, argument in _flat(items):
        if op in (c.AT, c.ASSERT, c.ASSERT_NOT):  # no width: the run goes on
            continue
        spellings = _spellings(op, argument)
        if spellings is not None and len(run) * len(spellings) <= MAX_VARIANTS:
            run = tuple(a + b for a in run for b in spellings)
            continue
        if op is c.BRANCH and len(run) * len(argument[1]) <= MAX_VARIANTS:
            leads = [_lead(option) for option in argument[1]]  # `Failed to (?:read|write .{0,9})` begins in two ways
            if all(leads):
                found.append(tuple(dict.fromkeys(a + b for a in run for b in leads)))
        close()
        if op is c.BRANCH:
            options = [_best(_runs(option)) for option in argument[1]]
            if all(options):
                found.append(tuple(dict.fromkeys(a for option in options for a in option)))
        elif op in REPEATS and argument[0] >= 1:
            found += _runs(argument[2])
        elif getattr(c, "ATOMIC_GROUP", None) is op:
            found += _runs(argument)
    close()
    return found


def _lead(items: Any) -> str:
    """The one fixed text with which a sequence begins."""
    text = ""
    for op, argument in _flat(items):
        if op in (c.AT, c.ASSERT, c.ASSERT_NOT):
            continue
        spellings = _spellings(op, argument)
        if spellings is None or len(spellings) != 1:
            break
        text += spellings[0]
    return text


def _beginning(texts: Sequence[str]) -> str:
    """With what all texts begin."""
    first, last = min(texts), max(texts)
    return first[: next((i for i, c in enumerate(first) if c != last[i : i + 1]), len(first))]


def _flat(items: Any) -> Iterator[Any]:
    """The items with those of groups in their places: a group that a match goes through once is no border."""
    for op, argument in items:
        if op is not c.SUBPATTERN:
            yield op, argument
        elif not argument[1] & re.IGNORECASE:
            yield from _flat(argument[3])
        else:
            yield c.ANY, None  # whatever it matches


def _spellings(op: Any, argument: Any) -> tuple[str, ...] | None:
    """All texts that an item can be, when they are few; None when it can be anything."""
    if op is c.LITERAL:
        return (chr(argument),)
    if op is c.IN:
        if len(argument) <= 4 and all(o is c.LITERAL for o, _ in argument):
            return tuple(chr(a) for _, a in argument)
        return None
    if op is c.SUBPATTERN:
        return None if argument[1] & re.IGNORECASE else _sequence(argument[3])
    if op is c.BRANCH:
        options = [_sequence(option) for option in argument[1]]
        if all(option is not None for option in options):
            return tuple(text for option in options for text in option or ())
        return None
    if op in REPEATS and argument[:2] == (0, 1):
        inner = _sequence(argument[2])
        return None if inner is None else ("", *inner)
    return None


def _sequence(items: Any) -> tuple[str, ...] | None:
    texts: tuple[str, ...] = ("",)
    for op, argument in items:
        if op in (c.AT, c.ASSERT, c.ASSERT_NOT):
            continue
        spellings = _spellings(op, argument)
        if spellings is None or len(texts) * len(spellings) > MAX_VARIANTS:
            return None
        texts = tuple(a + b for a in texts for b in spellings)
    return texts
