"""What holds for any text at all, however broken."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from parsers import prefix_forms, tables
from parsers.line import may_say_whose, read_line
from parsers.parsed import seconds
from parsers.prefix import peel
from tests.fuzz.pieces import ODD, PIECES

LINES = st.lists(st.sampled_from(PIECES) | st.sampled_from(ODD) | st.text(max_size=6), max_size=9).map("".join) | st.text(max_size=60)
ONE_LINE = LINES.map(lambda text: text.replace("\n", " "))
TEXTS = st.lists(LINES, max_size=25).map(lambda lines: "\n".join(lines).split("\n"))


@given(ONE_LINE)
@example("\x1b\x1b[0m[0m(pid=1) x")
@example("^[^[[0m[0m[rank1]: x")
def test_peeling_again_changes_nothing(raw: str) -> None:
    once = peel(raw)
    assert peel(once.text).text == once.text


@given(ONE_LINE)
def test_what_says_whose_it_is_is_never_passed_over(raw: str) -> None:
    """A line is not read for it in which no time, process or rank can stand."""
    line = read_line(raw)
    assert may_say_whose(raw.encode("utf-8", "surrogatepass")) or (line.time, line.pid, line.rank) == (None, None, None)


def test_most_lines_of_storms_are_passed_over() -> None:
    """They say neither a time nor a process nor a rank."""
    assert not any(map(may_say_whose, (b"RuntimeError: boom 17 of op_3", b"E1204 14:46:07.912003 60570 file.go:201] boom", b"errno 28 of (3)")))


@given(ONE_LINE)
def test_peeled_text_is_the_end_of_the_line(raw: str) -> None:
    """Nothing is rewritten: colours and Ray's note go, then only the front is cut."""
    plain = prefix_forms.unescape(raw.rstrip("\r\n")).rstrip("\r\n")
    text = peel(raw).text
    assert plain.endswith(text) or ("[repeated " in plain and text in plain)


@given(ONE_LINE)
def test_a_line_is_read_whatever_it_holds(raw: str) -> None:
    line = read_line(raw)
    assert line.kind in {"plog", "message", "traceback", "launcher", "kernel", "shell", "text"}
    assert line.text in prefix_forms.unescape(raw.rstrip("\r\n")) or line.text in raw
    if line.time is not None:
        assert len(line.time) == 26
        assert seconds(line.time) >= 0


@given(TEXTS)
def test_tables_are_read_from_any_text(lines: list[str]) -> None:
    assert all(row.line in range(5, 5 + len(lines)) for row in tables.rows(lines, 5))


@pytest.mark.parametrize("number", ODD)
def test_numbers_of_cards_that_are_none(number: str) -> None:
    """Whatever stands where a card's number should be, rows come out, or none."""
    head = ["| NPU   Name   | Health | Power(W) Temp(C) Hugepages-Usage(page)|", "| Chip  | Bus-Id | AICore(%) Memory-Usage(MB) HBM-Usage(MB) |"]
    box = [*head, f"| {number}     910B3      | OK     | 90.0   36    0 / 0  |", f"| {number}   | 0000:C1:00.0  | 0  0 / 0   {number}/ 65536 |"]
    asked = ["NPU ID   Chip ID   Chip Logic ID  Chip Name", f"{number}  {number}  {number}  Ascend", f"hccn_tool -i {number} -link -g", "link status: UP"]
    for text in (box, asked, [*asked, *box], ["  PID PPID CMD", f"{number} {number} x"]):
        for row in tables.rows(text, 1):
            assert all(len(row.get(name) or "") < 50 for name in ("npu", "chip", "device"))


@pytest.mark.parametrize("piece", PIECES)
def test_long_lines_cost_little(piece: str) -> None:
    """A megabyte of any piece is read in one pass; the bound is far above the cost and far below a quadratic one."""
    raw = piece.replace("\n", " ") * (200_000 // len(piece))
    import time

    start = time.process_time()
    read_line(raw)
    assert time.process_time() - start < 2
