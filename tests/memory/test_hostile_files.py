"""What somebody may leave where snapshots are looked for: bombs, endless lines, pipes, questions to the kernel."""

from __future__ import annotations

import gzip
import os
import tracemalloc
from pathlib import Path

import pytest

from doctor.base.errors import UsageError
from doctor.commands import memory
from doctor.memory import evidence, reading
from doctor.read import inflate

SAID = "NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.97 GiB total capacity)"


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that would grow a thousand times: named, at the price of what is unpacked before that is clear."""
    monkeypatch.setattr(inflate, "RATIO_GRACE", 1 << 20)
    (tmp_path / "snapshot.pickle").write_bytes(gzip.compress(b"\x80\x04" + b"\0" * (40 << 20), 9))
    tracemalloc.start()
    found = reading.read([str(tmp_path)])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert not found.cases
    assert "times" in found.refused[0][1]
    assert peak < 10 << 20


def test_a_line_without_an_end_takes_no_memory(tmp_path: Path) -> None:
    """A log with a hole of 40 MB, and a table with one: what stands behind it is read."""
    log, table = tmp_path / "train.log", tmp_path / "device_0_memUsageInfo.csv"
    with log.open("wb") as file:
        file.seek(40 << 20)
        file.write(f"\n{SAID}\n".encode())
    with table.open("wb") as file:
        file.write(f"{evidence.HEAD}\n".encode())
        file.truncate(40 << 20)
    tracemalloc.start()
    found = reading.read([str(log), str(table)])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [case.evidence.figures.capacity >> 30 for case in found.cases if case.evidence.figures] == [60]
    assert peak < 20 << 20


def test_a_table_that_is_none_is_named(tmp_path: Path) -> None:
    """A quotation mark that never ends makes a field longer than any."""
    table = tmp_path / "a.csv"
    table.write_text(f"{evidence.HEAD}\n\"{'x' * 300_000}\n")
    assert reading.read([str(table)]).refused == ((str(table), "a table that was cut off or changed: not read"),)


def test_pipes_and_files_of_the_kernel_are_not_opened(tmp_path: Path) -> None:
    """In a folder and by name: each is named, and nobody waits."""
    os.mkfifo(tmp_path / "pipe")
    found = reading.read([str(tmp_path), str(tmp_path / "pipe"), "/proc/self"])
    assert [path for path, _ in found.refused] == [str(tmp_path / "pipe"), str(tmp_path / "pipe"), "/proc/self"]
    assert not found.files


def test_what_is_read_is_not_written_over(tmp_path: Path) -> None:
    """Although only its folder was named."""
    log = tmp_path / "train.json"
    log.write_text(SAID + "\n")
    with pytest.raises(UsageError, match="overwritten"):
        memory.main([str(tmp_path), "-o", str(log)])
    assert log.read_text() == SAID + "\n"
