"""Whose a line is that does not say it: its nearest earlier line that does, however the search for it is cut short."""

from __future__ import annotations

import io
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.api import report
from doctor.read.source import Source, hints
from doctor.scan import window_lines
from doctor.scan.scanner import Scanner
from doctor.scan.window_lines import OWNER_LINES, WindowLines
from doctor.scan.windows import Window
from parsers.line import read_line

NEAR = 100  # bytes in which an owner is looked for
ROWS = ("[rank{n}]: x", "plain", "y" * 40, "z" * 150, "")

rows = st.lists(st.sampled_from(ROWS), min_size=1, max_size=40).map(lambda chosen: [row.format(n=n) for n, row in enumerate(chosen)])


def window(data: bytes) -> WindowLines:
    return WindowLines(Window(data, len(data), b"", last=True), Source("mem.log", lambda: io.BytesIO(data), len(data), hints("mem.log")), 1)


def nearest(texts: list[str], number: int) -> int | None:
    """The rank of the line, or of the last one before it that tells one."""
    at = 0
    for above in range(number, max(-1, number - OWNER_LINES - 1), -1):
        at += len(texts[above]) + 1 if above < number else 0
        if at > NEAR:
            return None
        if (rank := read_line(texts[above]).rank) is not None:
            return rank
    return None


@given(rows, st.sets(st.integers(0, 39), min_size=1))
def test_the_owner_is_the_nearest_line_that_says_who_it_is(texts: list[str], asked: set[int]) -> None:
    """Whichever lines are asked for before: what was learnt of lines above is only made use of."""
    numbers = sorted(number for number in asked if number < len(texts))
    with mock.patch.object(window_lines, "LOOK_BACK", NEAR):
        lines = window("\n".join(texts).encode() + b"\n")
        starts = [sum(len(row) + 1 for row in texts[:number]) for number in range(len(texts))]
        found = [lines.place(starts[number], read_line(texts[number])).rank for number in numbers]
    assert found == [nearest(texts, number) for number in numbers]


def test_errors_beneath_a_line_that_is_too_long_to_look_beyond_end(scanner: Scanner) -> None:
    """Two errors that do not say whose they are, beneath a line of more bytes than an owner is looked for in."""
    data = b"x" * (2 * window_lines.LOOK_BACK) + b"\nERROR: odd failed\nERROR: strange failed\n"
    found = scanner.scan(Source("mem.log", lambda: io.BytesIO(data), len(data), hints("mem.log")))
    assert [cluster.first.line for cluster in found.clusters] == [2, 3]


END = "[ERROR] 2026-08-02-11:11:20 (PID:7, Device:3, RankID:5) ERR00100 PTA call acl api failed."


@pytest.mark.parametrize(
    ("raised", "closed", "time", "rank"),
    [
        ("RuntimeError: x", END, "2026-08-02T11:11:20.000000", 5),
        ("RuntimeError: x", "it goes on\n" + END, "2026-08-02T11:11:20.000000", 5),
        ("[rank5]: RuntimeError: x", END, "2026-08-02T11:11:20.000000", 5),
        ("[rank4]: RuntimeError: x", END, "2026-08-02T10:00:00.000000", 4),  # of another rank, whose output stands between
        ("RuntimeError: x", "far\n" * window_lines._END_LINES + END, "2026-08-02T10:00:00.000000", None),
        ("RuntimeError: x", "nothing of torch_npu", "2026-08-02T10:00:00.000000", None),
    ],
)
def test_an_exception_is_of_the_time_of_the_line_that_closes_it(raised: str, closed: str, time: str, rank: int | None) -> None:
    """What stands above it may be an hour older: the program waited."""
    above = "2026-08-02 10:00:00 INFO: step 1\n"
    place = window(f"{above}{raised}\n{closed}\n".encode()).place(len(above), read_line(raised))
    assert (place.time, place.rank) == (time, rank)


def test_lines_that_a_terminal_broke_are_counted_as_they_stand(scanner: Scanner) -> None:
    """Joined, they are one; the file has two."""
    whole = "ImportError: /lib/aarch64-linux-gnu/libgomp.so.1: cannot allocate memory in static TLS block"
    data = f"{whole[:80]}\n{whole[80:]}\n".encode()
    found = scanner.scan(Source("mem.log", lambda: io.BytesIO(data), len(data), hints("mem.log")))
    assert (found.lines, found.size) == (2, len(data))
    assert any(hit.place.line == 1 for hit in found.hits)


def test_a_launcher_speaks_of_its_own_process() -> None:
    """Whoever printed the lines before: the one that it stops is no other's victim, and the one that failed is named."""
    text = (
        "[rank1]: RuntimeError: frob:xyzzy.cpp:3 NPU function error: aclFrob, error code is 507899\n"
        "[rank1]: [ERROR] 2026-01-07-00:33:19 (PID:4242, Device:1, RankID:1) ERR00100 PTA call acl api failed\n"
        "W0107 00:33:26.410000 281473311608864 torch/distributed/elastic/multiprocessing/api.py:858] Sending process 4241 closing signal SIGTERM\n"
        "E0107 00:33:27.662000 281473311608864 torch/distributed/elastic/multiprocessing/api.py:833] failed (exitcode: 1) local_rank: 1 (pid: 4242) of binary: /opt/env/bin/python\n"
    )
    found = {one["id"]: one["scope"] for one in report(text)["findings"]}
    assert (found["DST020"]["pid"], found["DST020"]["rank"], found["DST020"]["device"]) == (4241, None, None)
