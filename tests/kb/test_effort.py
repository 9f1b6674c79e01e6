"""Patterns of users whose form promises that they are quick run without a clock: the promise holds, and both libraries read them alike."""

from __future__ import annotations

import random

import pytest
import regex

from kb import anchors, limited
from kb.effort import LENGTHS, harmless_up_to
from kb.knowledge import load

QUICK = {r"stalled in stage \d+(?:, try 7)?": 150, r"a{3}b": LENGTHS[0], r"(?:ab|cd)x": LENGTHS[0], r"(?:\d{2}:){3}": LENGTHS[0], r"(?P<a>\w+): ": 400}
PIECES = ("a", "b", "ab", r"\d", r"\w", "[abc]", "[^a]", ".", "x", r"\.", " ", "7")
REPEATS = ("", "", "", "?", "*", "+", "{2}", "{1,3}", "*?")


@pytest.mark.parametrize(("pattern", "longest"), QUICK.items())
def test_a_few_choices_are_little_work_in_texts_up_to_a_length(pattern: str, longest: int) -> None:
    assert harmless_up_to(pattern) == longest


@pytest.mark.parametrize("pattern", [r"(?:a+)+b", r"(?:a|ab)*c", r"a.*b.*c.*d", r"x(\w+)\1", r"(?:a?b)+", r"(?:ab|a)*?c"])
def test_rounds_that_differ_and_repeats_that_multiply_promise_nothing(pattern: str) -> None:
    assert harmless_up_to(pattern) == 0


def drawn(random_: random.Random, depth: int = 2) -> str:
    parts = []
    for _ in range(random_.randint(1, 4)):
        one = random_.choice(PIECES)
        if depth and random_.random() < 0.4:
            one = f"(?:{'|'.join(drawn(random_, depth - 1) for _ in range(random_.randint(1, 2)))})"
        elif len(one) > 1 and one[0] not in "\\[":
            one = f"(?:{one})"
        parts.append(one + random_.choice(REPEATS))
    return "".join(parts)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_promised_is_kept_and_both_libraries_find_the_same(seed: int) -> None:
    """How often the search can begin anew is counted, not timed: in the longest text, of letters that fit, no more than the work that is allowed."""
    random_ = random.Random(seed)
    promised = 0
    for _ in range(200):
        pattern = drawn(random_)
        longest = harmless_up_to(pattern)
        if anchors.ALIKE.fullmatch(pattern):
            assert regex.compile(pattern)
        if not longest:
            continue
        promised += 1
        for _ in range(3):
            text = "".join(random_.choices("aab7x. ", k=random_.randint(0, 150)))
            here, there = limited.search(pattern, text, 5.0), regex.search(pattern, text)
            assert (here and here[0]) == (there and there[0]), (pattern, text)
        made = regex.compile(f"(?:{pattern})[~]")  # never there: every way is tried
        assert made.search("a" * longest, timeout=5.0) is None
    assert promised > 20


def test_of_the_built_in_patterns_none_that_is_alike_is_refused_by_the_other_library() -> None:
    patterns = {s.pattern for s in load().signals() if s.form == "regex"}
    alike = [p for p in patterns if anchors.ALIKE.fullmatch(p)]
    assert len(alike) * 3 > len(patterns)
    for pattern in alike:
        regex.compile(pattern)
