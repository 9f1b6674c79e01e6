"""Evidence at its own place: found by what the scan counted, numbered, marked; everything works while it is looked for."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from tui.support import KERNEL, MTE, stage

import doctor.read.logfile as logfile
from doctor.read.discover import discover
from doctor.read.logfile import LogFile, open_log
from doctor.tui.diagnosis.diagnosis_screen import DiagnosisScreen
from doctor.tui.evidence.evidence_screen import EvidenceScreen
from doctor.tui.evidence.logview import LogView

RANGE = 8 << 20
INFO = "[INFO] GE(4242,python):2026-03-02-09:14:44.000.000 [graph.cc:1]4242 step {}\n"


def view_of(s: object) -> LogView:
    return s.screen.query_one("#log", LogView)  # type: ignore[attr-defined, no-any-return]


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log of several ranges, with the error in its last line but one."""
    monkeypatch.setattr("doctor.scan.ranges.RANGE", RANGE)
    path = tmp_path / "plog-4242_20260302091400000.log"
    path.write_text(INFO.format("x" * 900) * 50_000 + f"{MTE}\n{KERNEL}\n")
    assert path.stat().st_size > 5 * RANGE
    return path


async def test_a_hit_at_the_end_is_found_by_what_the_scan_counted(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However large the log is, less than a range of it is read again, and the line and its number are right."""
    async with stage(DiagnosisScreen(), [str(large)]) as s:
        counted: list[int] = []
        real = logfile.FileReader.breaks
        monkeypatch.setattr(
            logfile.FileReader, "breaks", lambda self, at, size: (counted.append(size), real(self, at, size))[1]
        )
        await s.press("v")
        assert "line 50 001" in s.text
        assert "50001 ▶[ERROR]" in s.text
        assert sum(counted) <= 2 * RANGE


@pytest.mark.parametrize("known", [(), (64,), (192, 256), (64, 128, 192, 256, 320)])
def test_what_was_counted_before_changes_no_answer(
    known: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logfile, "STRIDE", 64)
    path = tmp_path / "a.log"
    path.write_text("".join(f"{'x' * (n * 7 % 90)}\n" for n in range(12)))
    data = path.read_bytes()
    starts = [0, *(n + 1 for n, c in enumerate(data) if c == 10)][:-1]
    log: LogFile = open_log(discover([str(path)]).sources[0])
    log.learn((at, sum(start < at for start in starts)) for at in known)
    assert [log.offset(n) for n in range(1, 13)] == starts
    assert [log.number(start) for start in starts] == list(range(1, 13))
    log.close()


async def test_the_log_can_be_read_while_its_line_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was counted: the line takes its time. G goes to the end, / searches, and nobody is torn away afterwards."""
    path = tmp_path / "a.log"
    path.write_text("".join(f"line number {n}\n" for n in range(1, 2001)))
    free, asked = threading.Event(), threading.Event()
    real = LogFile.offset

    def slow(self: LogFile, number: int, cancelled: logfile.Cancelled = logfile.never) -> int | None:
        asked.set()
        free.wait(60)
        return real(self, number, cancelled)

    monkeypatch.setattr(LogFile, "near", lambda self, number: False)
    monkeypatch.setattr(LogFile, "offset", slow)
    screen = EvidenceScreen(discover([str(path)]).sources[0], 1000)
    try:
        async with stage() as s:
            s.app.push_screen(screen)
            while not asked.is_set() or not isinstance(s.screen, EvidenceScreen) or view_of(s).file is None:
                await s.pilot.pause()
            await s.pilot.press("G")
            await s.pilot.pause()
            assert "line number 2000" in s.text
            await s.pilot.press("slash", *"1234", "enter")
            while "line number 1234" not in s.text:
                await s.pilot.pause()
            free.set()
            await s.settle()
            assert view_of(s).current is not None
            assert view_of(s).current.text == "line number 1234"  # type: ignore[union-attr]
    finally:
        free.set()


async def test_what_matched_is_marked_and_not_what_every_such_line_holds(tmp_path: Path) -> None:
    (tmp_path / "plog-4242_20260302091400000.log").write_text(f"{MTE}\n{KERNEL}\n")
    async with stage(DiagnosisScreen(), [str(tmp_path)]) as s:
        await s.press("v")
        view = view_of(s)
        marked = [span.text for piece in view._page for span in view._spans(piece) if span.style == "hit"]
        assert " ".join(marked[:2]) == "The DDR address of the MTE instruction is out of range"
        assert marked[2:] == ["GatherV2_1"]


async def test_a_match_is_marked_across_the_end_of_a_line_of_the_screen(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("word " * 10 + "the needle in the hay " + "word " * 30 + "\n")
    async with stage(EvidenceScreen(discover([str(path)]).sources[0]), size=(80, 24)) as s:
        await s.press("slash")
        await s.type("needle in the hay")
        await s.press("enter")
        view = view_of(s)
        marked = [span.text for piece in view._page for span in view._spans(piece) if span.style == "hit"]
        assert " ".join(text.strip() for text in marked) == "needle in the hay"
        assert len(marked) == 2


async def test_tables_keep_their_columns(tmp_path: Path) -> None:
    """A row wider than the screen runs out of it; prose beside it is wrapped."""
    path = tmp_path / "smi.log"
    path.write_text("+" + "-" * 120 + "+\n| NPU  Name " + " " * 100 + " Health |\n" + "prose " * 30 + "\n")
    async with stage(EvidenceScreen(discover([str(path)]).sources[0]), size=(80, 24)) as s:
        rows = s.text.split("\n")
        table = next(n for n, row in enumerate(rows) if "| NPU" in row)
        assert rows[table - 1].lstrip(" 1").startswith("+---")
        assert "prose" in rows[table + 1]
        assert "prose" in rows[table + 2]
        await s.press("right", "right", "right")
        assert "Health" in s.text
