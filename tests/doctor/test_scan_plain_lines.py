"""The short way for plain plog lines reads every line as the long way does."""

from __future__ import annotations

from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from parsers import line

PIECES = [
    "[ERROR] ", "[INFO]", "[ WARNING ] ", "[123] ", "[Mon Mar  2 10:00:00 2026] ", "[  12.345678] ", "HCCL(", "ME(12:", "12,python3.10):",
    "(12,p):", ":2026-", "2026-01-02-03:04:05.006.007 ", "[a.cc:12]", "[hccl-x][3]", "[tid:7]", "4242 F:", "text", "\x1b[31m", "[0m", "^[[1m",
    "[36m(", "\r", " [repeated 3x across cluster]", "[rank3]: ", "[PID: 12]", "EZ9999: Inner Error!", " ", "\t", "错误",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), max_size=9).map("".join)
heads = st.sampled_from(["", "[ERROR] HCCL(12,python3.10):2026-01-02-03:04:05.006.007 [a.cc:12]", "[EVENT] GE:2026-01-02-03:04:05.006"])


@settings(max_examples=400)
@given(heads, texts, st.sampled_from(["", "\n", "\r\n", " "]))
def test_the_short_way_is_the_long_way(head: str, text: str, end: str) -> None:
    raw = head + text + end
    with mock.patch.object(line, "_plain_plog", return_value=None):
        slow = line.read_line(raw)
    assert line.read_line(raw) == slow


def test_the_short_way_is_taken() -> None:
    assert line._plain_plog("[ERROR] HCCL(12,python3.10):2026-01-02-03:04:05.006.007 [a.cc:12][7]F: x") is not None
