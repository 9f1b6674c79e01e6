"""Which fixed text must stand in everything that a pattern can match.

The scanner looks for these literals at C speed and tries the pattern only where one was found, so a pattern without
an anchor would never be tried: the linter refuses it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

from kb.limited import limited

_NEW = sys.version_info >= (3, 11)  # the parser of `re` moved in 3.11
_c: Any = import_module("re._constants" if _NEW else "sre_constants")
_parser: Any = import_module("re._parser" if _NEW else "sre_parse")
_compiler: Any = import_module("re._compiler" if _NEW else "sre_compile")

MIN_ANCHOR = 6  # an automaton sorts its literals by length: one short one costs as much as hundreds of long ones
MAX_PATTERN = 2000  # characters
MAX_SIZE = 20_000  # steps of a pattern whose repeats are written out


class PatternError(ValueError):
    """A pattern that cannot be used; the text says why."""


def usable(pattern: str, trusted: bool) -> None:
    """Raises when a pattern is broken, or would cost more to prepare than a pattern of a message can."""
    if len(pattern) > MAX_PATTERN:
        raise PatternError(f"it has {len(pattern)} characters; at most {MAX_PATTERN} are used")
    try:
        tree = _parsed(pattern)
        _compiler.compile(tree)  # of the tree, as `re.compile` does it with one that it parses again
        if _size(tree) > MAX_SIZE:
            raise PatternError(f"written out it is longer than {MAX_SIZE} steps")
        if not trusted:  # it will run under a time limit, which the standard library does not know
            limited(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(str(error)) from error
    except Exception as error:
        if type(error).__module__.startswith(("regex", "_regex")):  # its error is no subclass of anything better
            raise PatternError(str(error)) from error
        raise


def _size(items: Any) -> int:
    """How many steps a pattern has with its least repeats written out, as the engine with a time limit does."""
    total = 0
    for op, argument in items:
        if op in _REPEATS:
            total += max(1, argument[0]) * _size(argument[2])
        elif op is _c.SUBPATTERN:
            total += _size(argument[3])
        elif op is _c.BRANCH:
            total += sum(map(_size, argument[1]))
        elif op in (_c.ASSERT, _c.ASSERT_NOT):
            total += _size(argument[1])
        elif op is getattr(_c, "ATOMIC_GROUP", None):
            total += _size(argument)
        elif op is _c.GROUPREF_EXISTS:
            total += _size(argument[1]) + _size(argument[2] or ())
        else:
            total += 1
        if total > MAX_SIZE:
            break
    return total


@lru_cache(maxsize=8)  # asked of one pattern several times in a row
def _parsed(pattern: str) -> Any:
    return _parser.parse(pattern)


def of_regex(pattern: str, first_line: bool = False) -> tuple[str, ...]:
    """The best set of anchors of a regex: each match contains at least one of them. Empty: there is none."""
    return _best(of_first_line(pattern) if first_line else candidates(pattern))


def blind_to_digits(pattern: str) -> bool:
    """Does each text match that has another digit in the place of each of one that does?"""
    return _blind(_parsed(pattern))


def _blind(items: Any) -> bool:
    for op, argument in items:
        if op in (_c.LITERAL, _c.NOT_LITERAL):
            blind = not chr(argument).isdigit()
        elif op is _c.IN:
            blind = all(_all_digits_or_none(*member) for member in argument)
        elif op in _REPEATS:
            blind = _blind(argument[2])
        elif op is _c.SUBPATTERN:
            blind = _blind(argument[3])
        elif op is _c.BRANCH:
            blind = all(map(_blind, argument[1]))
        elif op in (_c.ASSERT, _c.ASSERT_NOT):
            blind = _blind(argument[1])
        else:
            blind = op in (_c.ANY, _c.AT, _c.CATEGORY)
        if not blind:
            return False
    return True


def _all_digits_or_none(op: Any, argument: Any) -> bool:
    if op is _c.LITERAL:
        return not chr(argument).isdigit()
    if op is _c.RANGE:
        low, high = argument
        return bool(high < ord("0") or low > ord("9") or (low <= ord("0") and high >= ord("9")))
    return op in (_c.NEGATE, _c.CATEGORY)


def width(pattern: str) -> int:
    """How many characters a match has at most."""
    return int(_parsed(pattern).getwidth()[1])


@lru_cache(maxsize=1 << 15)  # asked when an entry is read, and when all fragments are chosen: as many as users may have
def candidates(pattern: str) -> Sequence[tuple[str, ...]]:
    """Every set of fixed texts one of which stands in each match."""
    tree = _parsed(pattern)
    return [] if tree.state.flags & re.IGNORECASE else _runs(tree)


def of_first_line(pattern: str) -> Sequence[tuple[str, ...]]:
    """The same for a pattern that runs over lines: only what stands before the first place where a line may end."""
    tree = _parsed(pattern)
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
        if op is _c.SUBPATTERN:
            return head + _head(argument[3])
        if op is _c.BRANCH and all(heads := [_head(option) for option in argument[1]]):
            return [*head, (_c.BRANCH, (None, heads))]
        return head
    return head


def _may_end_line(op: Any, argument: Any) -> bool:
    if op is _c.LITERAL:
        return bool(argument == 10)
    if op is _c.NOT_LITERAL:
        return bool(argument != 10)
    if op is _c.IN:
        inside = any(_holds_line_end(*member) for member in argument)
        return inside != (argument[0][0] is _c.NEGATE)
    if op in _REPEATS:
        return any(_may_end_line(*item) for item in argument[2])
    if op is _c.SUBPATTERN:
        return any(_may_end_line(*item) for item in argument[3])
    if op is _c.BRANCH:
        return any(_may_end_line(*item) for option in argument[1] for item in option)
    return op not in (_c.ANY, _c.AT, _c.ASSERT, _c.ASSERT_NOT)  # of anything else nothing is known


def _holds_line_end(op: Any, argument: Any) -> bool:
    """Does a member of a class stand for the end of a line?"""
    if op is _c.LITERAL:
        return bool(argument == 10)
    if op is _c.RANGE:
        return bool(argument[0] <= 10 <= argument[1])
    return op is _c.CATEGORY and argument in (_c.CATEGORY_SPACE, _c.CATEGORY_NOT_WORD, _c.CATEGORY_NOT_DIGIT)


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
        if op in (_c.AT, _c.ASSERT, _c.ASSERT_NOT):  # no width: the run goes on
            continue
        spellings = _spellings(op, argument)
        if spellings is not None and len(run) * len(spellings) <= MAX_VARIANTS:
            run = tuple(a + b for a in run for b in spellings)
            continue
        if op is _c.BRANCH and len(run) * len(argument[1]) <= MAX_VARIANTS:
            leads = [_lead(option) for option in argument[1]]  # `Failed to (?:read|write .{0,9})` begins in two ways
            if all(leads):
                found.append(tuple(dict.fromkeys(a + b for a in run for b in leads)))
        close()
        if op is _c.BRANCH:
            options = [_best(_runs(option)) for option in argument[1]]
            if all(options):
                found.append(tuple(dict.fromkeys(a for option in options for a in option)))
        elif op in _REPEATS and argument[0] >= 1:
            found += _runs(argument[2])
        elif getattr(_c, "ATOMIC_GROUP", None) is op:
            found += _runs(argument)
    close()
    return found


def _lead(items: Any) -> str:
    """The one fixed text with which a sequence begins."""
    text = ""
    for op, argument in _flat(items):
        if op in (_c.AT, _c.ASSERT, _c.ASSERT_NOT):
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
        if op is not _c.SUBPATTERN:
            yield op, argument
        elif not argument[1] & re.IGNORECASE:
            yield from _flat(argument[3])
        else:
            yield _c.ANY, None  # whatever it matches


def _spellings(op: Any, argument: Any) -> tuple[str, ...] | None:
    """All texts that an item can be, when they are few; None when it can be anything."""
    if op is _c.LITERAL:
        return (chr(argument),)
    if op is _c.IN:
        if len(argument) <= 4 and all(o is _c.LITERAL for o, _ in argument):
            return tuple(chr(a) for _, a in argument)
        return None
    if op is _c.SUBPATTERN:
        return None if argument[1] & re.IGNORECASE else _sequence(argument[3])
    if op is _c.BRANCH:
        options = [_sequence(option) for option in argument[1]]
        if all(option is not None for option in options):
            return tuple(text for option in options for text in option or ())
        return None
    if op in _REPEATS and argument[:2] == (0, 1):
        inner = _sequence(argument[2])
        return None if inner is None else ("", *inner)
    return None


def _sequence(items: Any) -> tuple[str, ...] | None:
    texts: tuple[str, ...] = ("",)
    for op, argument in items:
        if op in (_c.AT, _c.ASSERT, _c.ASSERT_NOT):
            continue
        spellings = _spellings(op, argument)
        if spellings is None or len(texts) * len(spellings) > MAX_VARIANTS:
            return None
        texts = tuple(a + b for a in texts for b in spellings)
    return texts


_REPEATS = tuple(r for r in (_c.MAX_REPEAT, _c.MIN_REPEAT, getattr(_c, "POSSESSIVE_REPEAT", None)) if r is not None)


def nested_repeat(pattern: str) -> bool:
    """Does an unbounded repeat stand inside another one whose rounds could be split differently: the classic runaway?"""
    return _nested(_parser.parse(pattern), False)


def _nested(items: Any, inside: bool) -> bool:
    for op, argument in items:
        if op in _REPEATS:
            _low, high, body = argument
            unbounded = high is _c.MAXREPEAT or high > 1000
            if unbounded and inside:
                return True
            if _nested(body, inside or unbounded):
                return True
        elif (op is _c.SUBPATTERN and _nested(argument[3], inside)) or (
            op is _c.BRANCH and any(_nested(option, inside) for option in argument[1])
        ):
            return True
    return False
