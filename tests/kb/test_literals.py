"""Which fixed text stands for a pattern, and that the scanner's automaton gets literals that it is fast with."""

import pytest

from doctor.scan.plan import ERROR_MARKS, GO_MARK, Plan
from kb import anchors
from kb.fragments import LENGTH, SHORT
from kb.knowledge import Knowledge


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
    marks = {mark.encode() for mark in (*ERROR_MARKS, GO_MARK)}
    odd = [x.fragment for x in Plan(knowledge.signals()).literals if len(x.fragment) < LENGTH and len(x.fragment) != SHORT]
    assert [x for x in odd if len(x) < SHORT and x not in marks] == []
    assert len(odd) <= 25
