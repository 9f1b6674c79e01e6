"""A line may be longer than windows and ranges: what stands in it is found, once, wherever the file is cut."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from doctor.read.discover import discover
from doctor.read.source import Source, hints
from doctor.scan import ranges, windows
from doctor.scan.harvest import Harvest, Hit, merge, shift
from doctor.scan.many_sources import scan_all
from doctor.scan.scanner import Scanner
from doctor.scan.select import EVERYTHING
from kb.knowledge import Knowledge

SAID = b"RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.97 GiB total capacity)"
STEP = b"[INFO] GE(7,python3):2026-02-03-04:05:06.007.008 [ge.cc:1]7 Run:step done\n"


def source(data: bytes) -> Source:
    return Source("mem.log", lambda: io.BytesIO(data), len(data), hints("mem.log"), seekable=True)


def cut_up(scanner: Scanner, data: bytes, step: int) -> Harvest:
    """The harvest of ranges of `step` bytes, joined as a scan joins them."""
    parts, lines = [], 0
    for start in range(0, len(data), step):
        one = scanner.scan(source(data), start, start + step if start + step < len(data) else None)
        parts.append(shift(one, lines))
        lines += one.lines
    return merge(parts)


def memory(harvest: Harvest) -> list[Hit]:
    """By the words of the line: its figures are a row of their own."""
    return [hit for hit in harvest.hits if hit.signal == "MEM001/0"]


@pytest.mark.parametrize("length", [900_000, 3_000_000, 9_000_000])
def test_a_line_over_the_edge_of_a_range_is_read_to_its_end(scanner: Scanner, length: int) -> None:
    """It belongs to the range in which it begins; the ranges it runs through add nothing and lose nothing."""
    data = STEP * 7000 + b"x" * length + b" " + SAID + b"\n" + STEP * 200
    whole, parts = scanner.scan(source(data)), cut_up(scanner, data, 1 << 20)
    assert memory(whole)
    assert [h.place.line for h in memory(parts)] == [h.place.line for h in memory(whole)] == [7001] * len(memory(whole))
    assert parts.lines == whole.lines == 7201


@pytest.mark.parametrize("at", range(-3, 4))
def test_what_stands_where_pieces_of_a_line_meet_is_found_once(scanner: Scanner, at: int) -> None:
    """The pieces of an enormous line overlap; what both have counts once."""
    edge = 4 * windows.WINDOW - windows.MAX_LINE
    for place in (edge + at * 16_000, edge - windows.MAX_LINE // 2 + at * 40):
        data = b"x" * place + b" " + SAID + b" " + b"y" * (6 * windows.WINDOW - place) + b"\n"
        found = memory(scanner.scan(source(data)))
        assert len(found) == len({hit.signal for hit in found}) >= 1


def test_a_range_in_the_middle_of_a_line_is_not_read_beyond_its_end() -> None:
    """Else every range of an enormous line would read the rest of the file."""
    data = b"x" * 40_000_000
    read = io.BytesIO(data)
    assert list(windows.windows(read, 1 << 20, 2 << 20)) == []
    assert read.tell() <= (2 << 20) + windows.WINDOW


def test_the_cuts_of_the_command_lose_nothing(tmp_path: Path, knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same through the ranges that a scan makes, in this process and in workers."""
    monkeypatch.setattr(ranges, "RANGE", 1 << 20)
    path = tmp_path / "a.log"
    path.write_bytes(STEP * 14_000 + b"x" * 1_500_000 + SAID + b"\n" + STEP)
    sources = discover([str(path)]).sources
    for jobs in (1, 2):
        harvests, _ = scan_all(sources, knowledge, EVERYTHING, jobs, "en")
        assert [h.place.line for h in memory(merge(harvests))] == [14_001]


def test_a_range_that_begins_right_behind_a_long_line_begins_with_its_first_line(scanner: Scanner) -> None:
    """The line before is longer than a range looks back."""
    edge = 1 << 20
    head = STEP * 2000
    data = head + b" " * (edge - len(head) - 1) + b"\n" + SAID + b"\n" + STEP * 10
    assert data[edge:].startswith(SAID)
    assert [h.place.line for h in memory(cut_up(scanner, data, edge))] == [2002]
