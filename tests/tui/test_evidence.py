"""The log at the evidence: hits, search, filters, huge and odd files, members of archives."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

from tui.support import HOSTILE, KERNEL, MTE, job_logs, stage

from doctor.read import discover
from doctor.tui.diagnosis.diagnosis_screen import DiagnosisScreen
from doctor.tui.evidence.evidence_screen import LAST, EvidenceScreen
from doctor.tui.evidence.logview import LogView


def view_of(s: object) -> LogView:
    return s.screen.query_one("#log", LogView)  # type: ignore[attr-defined,no-any-return]


def source_of(path: Path) -> object:
    return discover.discover([str(path)]).sources[0]


async def test_opens_at_the_line_and_steps_between_hits(tmp_path: Path) -> None:
    async with stage(DiagnosisScreen(), [str(job_logs(tmp_path))]) as s:
        await s.press("v")
        assert "line 31" in s.text
        assert view_of(s).current is not None
        assert view_of(s).current.text == MTE  # type: ignore[union-attr]
        await s.press("n")
        assert "line 32" in s.text
        assert "kernel=GatherV2_1" in s.text
        await s.press("n")
        assert "line 31" in s.text
        await s.press("N")
        assert "line 32" in s.text
        await s.press("escape")
        assert isinstance(s.screen, DiagnosisScreen)


async def test_search_goes_round_and_says_when_there_is_nothing(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("".join(f"line number {i}\n" for i in range(1, 501)))
    async with stage(EvidenceScreen(source_of(log))) as s:  # type: ignore[arg-type]
        await s.press("slash")
        await s.type("number 40")
        await s.press("enter")
        assert "line 40 " in s.text
        await s.press("n")
        assert "line 400 " in s.text
        await s.press("N")
        assert "line 40 " in s.text
        await s.press("slash")
        s.screen.query_one("#search").value = "("  # type: ignore[attr-defined]
        await s.press("enter")
        assert "Not a pattern" in s.toasts
        await s.press("slash")
        s.screen.query_one("#search").value = "absent"  # type: ignore[attr-defined]
        await s.press("enter")
        assert "Not found: absent" in s.toasts


async def test_filter_by_level_module_pid_and_words(tmp_path: Path) -> None:
    async with stage(EvidenceScreen(source_of(job_logs(tmp_path) / "plog-4242_20260302091400000.log"))) as s:  # type: ignore[arg-type]
        for typed, count in (
            ("level=error", 2),
            ("module=ge step", 60),
            ("level=error GatherV2", 1),
            ("pid=4242 level=error", 2),
            ("rank=9", 0),
        ):
            await s.press("f")
            s.screen.query_one("#answer").value = typed  # type: ignore[attr-defined]
            await s.press("enter")
            assert (typed, len(view_of(s).rows)) == (typed, min(view_of(s).size.height, count))
        await s.press("f")
        s.screen.query_one("#answer").value = "colour=red"  # type: ignore[attr-defined]
        await s.press("enter")
        assert "is no filter" in s.toasts
        await s.press("f")
        s.screen.query_one("#answer").value = ""  # type: ignore[attr-defined]
        await s.press("enter")
        assert len(view_of(s).rows) > 30


async def test_moving_by_lines_pages_and_ends(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("".join(f"row {i}\n" for i in range(1, 1001)))
    async with stage(EvidenceScreen(source_of(log)), size=(80, 24)) as s:  # type: ignore[arg-type]
        await s.press("j", "j", "k")
        assert view_of(s).current.text == "row 2"  # type: ignore[union-attr]
        await s.press("G")
        assert view_of(s).current.text == "row 1000"  # type: ignore[union-attr]
        assert "row 1000" in s.text
        await s.press("pageup", "pageup")
        top = int(view_of(s).rows[0].text.split()[1])
        assert 930 < top < 965
        await s.press("pagedown", "pagedown", "pagedown", "pagedown")
        assert view_of(s).current.text == "row 1000"  # type: ignore[union-attr]
        await s.press("g")
        assert view_of(s).current.text == "row 1"  # type: ignore[union-attr]
        await s.press("up")
        assert view_of(s).current.text == "row 1"  # type: ignore[union-attr]


async def test_long_lines_wrap_or_scroll(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("A" * 300 + "END\nnext\n")
    async with stage(EvidenceScreen(source_of(log)), size=(80, 24)) as s:  # type: ignore[arg-type]
        assert "END" in s.text
        await s.press("w")
        assert "END" not in s.text
        await s.press(*["right"] * 13)
        assert "END" in s.text


async def test_two_gibibytes_open_at_the_last_line_reading_next_to_nothing(tmp_path: Path) -> None:
    log = tmp_path / "huge.log"
    with log.open("wb") as file:
        file.truncate(2 << 30)
        file.seek(2 << 30)
        file.write(b"\nlast but one\n" + MTE.encode() + b"\n")
    read: list[int] = []
    source = source_of_sparse(log)
    screen = EvidenceScreen(source, LAST)  # type: ignore[arg-type]
    import doctor.read.logfile as logfile

    real = logfile.FileReader.read

    def counted(self: logfile.FileReader, offset: int, length: int) -> bytes:
        data = real(self, offset, length)
        read.append(len(data))
        return data

    logfile.FileReader.read = counted  # type: ignore[method-assign]
    screen._count = lambda: None  # type: ignore[method-assign] # counting two gibibytes of line breaks is another matter
    try:
        async with stage(screen) as s:
            assert "last but one" in s.text
            assert "out of range" in s.text
            assert sum(read) < 256 << 20  # one line of two gibibytes: every row of the page is a megabyte of it
            assert max(read) <= 4 << 20
    finally:
        logfile.FileReader.read = real  # type: ignore[method-assign]


def source_of_sparse(path: Path) -> object:
    from doctor.read.source import Source, hints

    return Source(str(path), lambda: open(path, "rb"), path.stat().st_size, hints(str(path)), True)


async def test_a_member_of_an_archive_is_shown_around_the_line(tmp_path: Path) -> None:
    log = tmp_path / "plog-4242_1.log.gz"
    log.write_bytes(gzip.compress(b"info\n" * 50 + MTE.encode() + b"\n" + KERNEL.encode() + b"\n"))
    async with stage(DiagnosisScreen(), [str(log)]) as s:
        await s.press("v")
        assert view_of(s).current is not None
        assert view_of(s).current.text == MTE  # type: ignore[union-attr]
        await s.press("e")
        assert "not in a plain file" in s.toasts


async def test_a_growing_log_is_followed_and_a_vanished_one_stays(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("one\n")
    async with stage(EvidenceScreen(source_of(log))) as s:  # type: ignore[arg-type]
        await s.press("F")
        with log.open("a") as file:
            file.write("two\nthree\n")
        view_of(s).poll()
        await s.settle()
        assert view_of(s).current.text == "three"  # type: ignore[union-attr]
        os.unlink(log)
        await s.press("g")
        assert "one" in s.text


async def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("one\n")
    source = source_of(log)
    os.unlink(log)
    async with stage(EvidenceScreen(source)) as s:  # type: ignore[arg-type]
        assert "can no longer be read" in s.text


async def test_hostile_lines_stay_lines(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(
        HOSTILE.encode() + b"\n\xff\xfe\x00binary\n" + "中文".encode("gb18030") + b"\n" + b"x" * 3_000_000 + b"\nend\n"
    )
    async with stage(EvidenceScreen(source_of_sparse(log)), size=(80, 24)) as s:  # type: ignore[arg-type]
        assert "[bold red]not markup[/]" in s.text
        await s.press("w")
        assert "中文" in s.text
        assert "end" in s.text
        assert not any(c in s.app.export_screenshot() for c in "\x1b\x07\x08\x00\x9b\u202e")
