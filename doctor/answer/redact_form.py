"""One form in which something identifying stands in a text: its pattern, its kind, and what decides in doubt."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from parsers.lazy import lazy
from parsers.named import NamedTuple

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

Span = tuple[int, int]


def named(match: re.Match[str]) -> Span | None:
    """The group `name`."""
    return match.span("name")


class Form(NamedTuple):
    """A pattern, and words of which one stands (in lower case, so many times) in every text that it matches.

    `span` tells what is hidden of a match, or that nothing is. Patterns are written for ASCII: a Chinese character beside a
    name is no part of it. `learnt`: what is found is hidden wherever else it stands; else only here, because a word may be just a word.
    `pieces`: only these parts of what is found are hidden, each for itself.
    """

    kind: str
    pattern: re.Pattern[str]
    needs: tuple[str, ...]
    span: Callable[[re.Match[str]], Span | None] = named
    learnt: bool = True
    times: int = 1
    pieces: re.Pattern[str] | None = None


class Forms:
    """Many forms, asked in their order. All words are looked for in one pass, which is many times cheaper than to try the patterns."""

    def __init__(self, forms: tuple[Form, ...]) -> None:
        self.all = forms
        rows: dict[str, list[int]] = {}
        for number, form in enumerate(forms):
            for need in form.needs:
                if form.times == 1:
                    rows.setdefault(need, []).append(number)
        # A single sign stands in a text many times, and it is quick to ask for.
        self._signs = tuple((need, frozenset(numbers)) for need, numbers in rows.items() if need.isascii() and len(need) == 1)
        self._often = tuple((need, form.times, number) for number, form in enumerate(forms) for need in form.needs if form.times > 1)
        words = {need: frozenset(numbers) for need, numbers in rows.items() if len(need) > 1 or not need.isascii()}
        self._of_word = tuple(words.values())
        self._needs = tuple(words)

    @cached_property
    def _words(self) -> AhoCorasick:
        """Made when a text comes: who asks for help, or builds a wheel, needs none."""
        from ahocorasick_rs import AhoCorasick

        return AhoCorasick(list(self._needs))

    def possible(self, low: str) -> list[int]:
        """The numbers of those that may match a text, given in lower case."""
        asked: set[int] = set()
        for word in {found[0] for found in self._words.find_matches_as_indexes(low, overlapping=True)}:
            asked |= self._of_word[word]
        for sign, numbers in self._signs:
            if sign in low:
                asked |= numbers
        for need, times, number in self._often:
            if low.count(need) >= times:
                asked.add(number)
        return sorted(asked)


def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Not yet: most texts hold the words of few forms."""
    return lazy(pattern, re.ASCII | flags)
