"""What holds for any text at all, however broken."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from parsers import prefix_forms, tables
from parsers.line import read_line
from parsers.message import blocks
from parsers.prefix import peel
from parsers.record import seconds
from parsers.registry import PARSERS, split
from parsers.traceback import tracebacks

# Pieces of real lines: glued in any order they reach the places that random text never does.
PIECES = [
    "(Worker_TP2 pid=1456) ", "ERROR 03-25 06:14:02 [core.py:880] ", "[rank3]: ", "[default0]:", "3: ", "[1,3]<stderr>:",
    "(VllmWorker rank=3 pid=5) ", "(pid=7, ip=10.0.0.1) ", "#15 0.114 ", "vllm-1  | ", "[pod/x/y] ", "> ", "train.log:12:",
    "plog-12_2025.log:3:", "2025-03-02T10:21:44.118305Z stdout F ", "2026-01-02 03:04:05,123 - INFO - ", "[W a.ts:57] ",
    "[rank0]:[W515 09:40:12.302912713 a.ts:57] ", "[2026-07-01 09:33:11 TP3] ", "[2026-07-01 09:33:11.123] [34] [28] [llm] [WARN] [a.cpp:9]  ",
    "[WARNING] ME(5:6,M):2026-01-02-03:04:05.123.456 [a.py:1] ", "E1204 14:46:07.912003 60570 a.cpp:2] ", "Mar  3 10:11:12 h python[3]: ",
    "[ERROR] HCCL(5,python):2025-12-10-19:55:30.331.900 [a.cc:8] [5][x] ", "[ERROR] 2026-03-02-10:21:44 (PID:5, Device:2, RankID:-1) ERR00100 ",
    "EZ9999: ", "[PID: 5] 2026-03-02-10:21:44.118.305 ", "Title(EL0001): ", "Traceback (most recent call last):", '  File "a.py", line 3, in f',
    "RuntimeError: ", "    ", "\t", "  ^^^^", "| ", "+-----+------", "| 0     910B3      | OK     | 90.0   36    0 / 0  |",
    "| 0   | 0000:C1:00.0  | 0  0 / 0   61207/ 65536 |", "| NPU   Name   | Health | Power(W) Temp(C) Hugepages-Usage(page)|",
    "| Chip  | Bus-Id | AICore(%) Memory-Usage(MB) HBM-Usage(MB) |", "| NPU  Chip | Process id | Process name | Process memory(MB) |",
    "| 0  0 | 41 | python | 57 |", "No running processes found in NPU 0", "Health Status    : Alarm", "NPU ID   : 3", "Chip ID  : 0",
    "link status: UP", "dev_id:0, tls switch[0](0:disable), ", "hccn_tool -i 3 -link -g", "npu-smi info -t ecc -i 3", "Rx Los Flag : 0xff",
    "\x1b[36m", "\x1b[0m", "^[[36m", "[0m", "\\u001b[0m", " [repeated 6x across cluster]", "10%|##\r", "\r", "\n", "[", "]", "(", ")", ":", "|",
    "- Ascend Error Message:", "----------", "During handling of the above exception, another exception occurred:", "[12345.678901] ", "$ ls",
    "terminate called after throwing an instance of 'x'", "  what():  y", "Possible Cause: a", "[FUNC:f][FILE:g][LINE:1]", "芯片", "\ufeff", "\x00",
]  # fmt: skip
LINES = st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=9).map("".join) | st.text(max_size=60)
ONE_LINE = LINES.map(lambda text: text.replace("\n", " "))
TEXTS = st.lists(LINES, max_size=25).map(lambda lines: "\n".join(lines).split("\n"))


@given(ONE_LINE)
@example("\x1b\x1b[0m[0m(pid=1) x")
@example("^[^[[0m[0m[rank1]: x")
def test_peeling_again_changes_nothing(raw: str) -> None:
    once = peel(raw)
    assert peel(once.text).text == once.text


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
    assert not (line.continuation and (line.pid is not None or line.time is not None))
    if line.time is not None:
        assert len(line.time) == 26
        assert seconds(line.time) >= 0


@given(TEXTS)
def test_every_line_is_in_exactly_one_record(lines: list[str]) -> None:
    at = 0
    for record in split(lines):
        assert record.line == at + 1
        assert record.end_line - record.line == record.text.count("\n")
        at = record.end_line
    assert at == len(lines)


@given(TEXTS, st.integers(0, 25))
def test_records_do_not_depend_on_what_comes_later(lines: list[str], cut: int) -> None:
    """Where a stream stops early, all but its last record and the blanks below that are final."""
    early = list(split(iter(lines[:cut])))[:-2]
    assert early == list(split(lines))[: len(early)]


@given(TEXTS)
def test_every_parser_takes_any_text(lines: list[str]) -> None:
    for parser in PARSERS:
        assert isinstance(parser.sniff(lines), bool)
        assert sum(record.end_line - record.line + 1 for record in parser.parse(lines)) == len(lines)
    assert all(row.line in range(5, 5 + len(lines)) for row in tables.rows(lines, 5))
    assert all(found.lines for found in tracebacks(lines))
    assert all(block is not None for block in blocks(lines))


@pytest.mark.parametrize("piece", PIECES)
def test_long_lines_cost_little(piece: str) -> None:
    """A megabyte of any piece is read in one pass; the bound is far above the cost and far below a quadratic one."""
    raw = piece.replace("\n", " ") * (200_000 // len(piece))
    import time

    start = time.perf_counter()
    read_line(raw)
    assert time.perf_counter() - start < 2
