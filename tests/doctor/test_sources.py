"""Sources in little room, and what was not read of very many files."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.base.words.told import told
from doctor.read import unread
from doctor.read.discover import discover, given_text
from doctor.read.source import Skipped
from doctor.read.sources import Sources


def test_what_is_kept_of_a_log_opens_it(tmp_path: Path) -> None:
    """Names, sizes and contents are those of the files, whatever else stands between them."""
    for name in ("a/rank_3.log", "a/b.log", "c.log"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    found = discover([str(tmp_path / "a"), str(tmp_path / "c.log")]).sources
    assert isinstance(found, Sources)
    found.extend([given_text("said", "<text>")])
    assert [s.name.removeprefix(f"{tmp_path}/") for s in found] == ["a/b.log", "a/rank_3.log", "c.log", "<text>"]
    assert [s.size for s in found] == [7, 12, 5, 4]
    assert [s.hints.rank for s in found[1:3]] == [3, None]
    assert found[-1].name == "<text>"
    for source in found[:3]:
        with source.open() as stream:
            assert source.name.endswith(stream.read().decode())


def test_of_very_many_unread_files_the_reasons_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first ones are named; in both languages the others are a number and their reason."""
    monkeypatch.setattr(unread, "MAX_NAMED", 2)
    rows = unread.Unread()
    rows.extend(Skipped(f"{n}.bin", "a binary file") for n in range(5))
    rows.append(Skipped("x.png", "a socket"))
    assert rows.told() == (
        Skipped("0.bin", "a binary file"), Skipped("1.bin", "a binary file"), Skipped("...", "3 more: a binary file"), Skipped("...", "1 more: a socket"),
    )  # fmt: skip
    assert told("3 more: a binary file", "zh") == f"另有 3 个：{told('a binary file', 'zh')}"
