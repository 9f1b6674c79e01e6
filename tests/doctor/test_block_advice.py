"""What a block of CANN advises is no error of its own, be it logged line by line at that level."""

from __future__ import annotations

import pytest

from doctor.scan.error_lines import is_error
from parsers.line import read_line

HEAD = "(Worker_TP7 pid=47745) ERROR 07-21 14:15:02 [multiproc_executor.py:962] "


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("Solution: In this scenario, collect the plog when the fault occurs.", False),
        ("Possible Cause: the peer is gone.", False),
        ("Rectify the fault based on the error information in the ascend log.", False),
        ("TraceBack (most recent call last):", False),
        ("Solution of the equation failed.", True),
        ("The aicore execution is abnormal.", True),
    ],
)
def test_advice_is_no_error(said: str, error: bool) -> None:
    assert is_error(read_line(HEAD + said)) is error
