"""Shapes that differ by a degree of parallelism with which the program runs."""

from __future__ import annotations

import pytest

from doctor.findings.degrees import by_degree
from doctor.findings.situation import Situation

TOLD = ("tp-size 2", "sp-degree 4", 'ulysses_degree": 8')


@pytest.mark.parametrize(
    ("shape", "should", "found"),
    [
        ("1, 5, 25, 128", "1, 20, 25, 128", ("sp-degree", "4")),
        ("1, 24, 25, 128", "1, 3, 25, 128", ("ulysses_degree", "8")),
        ("1, 10, 25, 128", "1, 20, 25, 128", ("tp-size", "2")),
        ("1, 5, 25, 128", "1, 15, 25, 128", None),  # by no degree of this run
        ("1, 5, 25, 128", "1, 20, 100, 128", None),  # in two places
        ("1, 5, 25, 128", "1, 20, 25", None),
        ("1, 0, 25, 128", "1, 20, 25, 128", None),
        ("1, 20, 25, 128", "1, 20, 25, 128", None),
    ],
)
def test_the_degree_by_which_two_shapes_differ(shape: str, should: str, found: tuple[str, str] | None) -> None:
    """In one place, by a whole number that is one of the degrees."""
    assert by_degree({"shape": shape, "should": should}, TOLD) == found


def test_one_size_of_several_degrees_is_that_of_the_sequence() -> None:
    """Heads in flight are divided by it; the degree of weights holds for all the run."""
    assert by_degree({"shape": "5", "should": "20"}, ("tp_size 4", "sp_size=4")) == ("sp_size", "4")


def test_a_fix_may_ask_for_it() -> None:
    captures = {"shape": "1, 5", "should": "1, 20"}
    assert Situation({"degree": TOLD}).fits((("split", ("degree",)),), captures) is True
    assert Situation({"degree": ("tp-size 2",)}).fits((("split", ("degree",)),), captures) is False
    assert Situation({}).fits((("split", ("degree",)),), captures) is False
