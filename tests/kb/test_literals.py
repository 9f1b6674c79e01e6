"""Which fixed text stands for a pattern, and that the scanner's automaton gets literals that it is fast with."""

import re

import pytest

from doctor.scan.plan import ERROR_MARKS, GO_MARKS, Plan
from kb import anchors
from kb.fragments import LENGTH, SHORT
from kb.knowledge import Knowledge
from parsers import tables


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (r"Error: (?P<what>For '\w+')", ("Error: For '",)),  # a group is no border
        (r"(?P<code>E10006)\)?: ?(?P<what>\S+)", ("E10006",)),  # one literal for all endings
        (r"(?:gone|lost) from rank \d+", ("gone from rank ", "lost from rank ")),
        (r"[sS]ubprocess \d+ (?:ended|went away)", (" went away", " ended")),
        (r"Failed to (?:read|write .{0,9} to) disk", ("Failed to read", "Failed to write ")),  # options begin somehow
    ],
)
def test_the_fixed_text_of_a_pattern(pattern: str, found: tuple[str, ...]) -> None:
    assert sorted(found) in [sorted(option) for option in anchors.candidates(pattern)]


@pytest.mark.parametrize(
    ("pattern", "first_line"),
    [
        (r'File "\S*/one/\w+", line \d+\n.{0,80}second line', {'File "', "/one/", '", line '}),
        (r'File "(?P<file>\S*/two/[^"]+)", in', {'File "', "/two/"}),  # a class of all but a quote may end the line
        (r"first\s+second", {"first"}),
        (r"at (?:one/[^;]+|two/[^;]+);", {"at one/", "at two/"}),
        (r"(?s)dots.*end the line", set()),
    ],
)
def test_what_is_looked_for_stands_in_the_first_line(pattern: str, first_line: set[str]) -> None:
    assert {text for option in anchors.of_first_line(pattern) for text in option} == first_line


def test_the_automaton_gets_few_classes_of_literals(knowledge: Knowledge) -> None:
    """It keeps each length below eight apart, in one of eight places: what a handful of odd ones takes, thousands share."""
    marks = {mark.encode() for mark in (*ERROR_MARKS, *tables.ANCHORS)} | GO_MARKS
    short = [x for x in Plan(knowledge.sought()).fragments if len(x) < LENGTH and x not in marks]
    assert [x for x in short if len(x) < SHORT and not re.fullmatch(rb"E[A-Z0-9]\d{3}", x)] == []
    assert [x for x in short if len(x) > SHORT] == []
    assert len([x for x in short if len(x) == SHORT]) <= 451  # numbers mostly; beyond, they take a place more


def test_codes_are_told_from_other_finds_of_their_digits(knowledge: Knowledge) -> None:
    """Six digits stand in every log by chance: no pattern is compiled for that."""
    plan = Plan(knowledge.sought())
    numbers = [n for n in range(plan.count) if (s := plan.signals[n]).form == "code" and re.fullmatch(r"\d{6}", s.anchors[0])]
    assert len(numbers) > 150
    for number in numbers:
        code = plan.signals[number].anchors[0]
        for line in (f"addr 12{code}77", f"at {code} bytes", f"[{code}]Alloc", f"0x{code}"):
            assert not plan.may_match(number, line.encode(), 0, len(line)), line
        for line in (f"error code is {code}", f"[{code}][Error code unknown]"):
            assert plan.may_match(number, line.encode(), 0, len(line)), line
