"""Workers that die or are interrupted cost time or their range, never the scan."""

from __future__ import annotations

import io
import os
import pty
import signal
import sys
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from doctor.read.source import Source, hints
from doctor.scan import many_sources
from doctor.scan import ranges as ranges_of
from doctor.scan.gathering import Gathered, Together
from doctor.scan.harvest import Harvest, Span, merge
from doctor.scan.plan import Plan
from doctor.scan.pool import run_pool
from doctor.scan.progress import Progress
from doctor.scan.ranges import Range, Ranges, scan_here
from doctor.scan.scanner import Scanner
from doctor.scan.select import EVERYTHING
from kb.fragments import assign
from kb.model import Signal
from kb.sought import gathered

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are forked")

PLAN = Plan(gathered([assign(Signal("TST001/0", "text", "drvMemcpy failed", ("drvMemcpy failed",), 0, (), "", (), True))]))
QUIET = Progress(0, 0, "en")


def source(name: str, before: Callable[[], None] = lambda: None) -> Source:
    """A source with one finding; `before` runs in the worker that opens it."""

    def opened() -> io.BytesIO:
        before()
        return io.BytesIO(f"{name}: drvMemcpy failed\n".encode())

    return Source(name, opened, 40, hints(name))


def die(marks: Path, times: int) -> Callable[[], None]:
    """Kills the process that calls it, the first `times` times."""

    def go() -> None:
        mark = marks / str(len(list(marks.iterdir())))
        if len(list(marks.iterdir())) < times:
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    return go


def pool(sources: list[Source], count: int) -> dict[int, Harvest]:
    done: dict[int, Harvest] = {}
    run_pool([Range(s, 0, None) for s in sources], Scanner(PLAN, engine="plain"), count, done, QUIET)
    return done


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_work_of_a_killed_worker_is_done_by_another(tmp_path: Path, count: int) -> None:
    sources = [source(f"{n}.log") for n in range(5)]
    sources[2] = source("2.log", die(tmp_path, 1))
    found = merge(pool(sources, count).values())
    assert [h.place.path for h in found.hits] == [f"{n}.log" for n in range(5)]
    assert not found.skipped
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("count", [1, 2])
def test_what_kills_two_workers_is_named(tmp_path: Path, count: int) -> None:
    sources = [source(f"{n}.log") for n in range(4)]
    sources[1] = source("1.log", die(tmp_path, 2))
    found = merge(pool(sources, count).values())
    assert [h.place.path for h in found.hits] == ["0.log", "2.log", "3.log"]
    assert [(s.path, "two worker" in s.reason) for s in found.skipped] == [("1.log", True)]


def test_an_interrupt_keeps_what_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while workers read: the harvests that have come are kept, and no worker stays behind."""
    done: dict[int, Harvest] = {}

    class Impatient(Progress):
        def add(self, size: int, file_begun: bool) -> None:
            raise KeyboardInterrupt

    ranges = [Range(source(f"{n}.log"), 0, None) for n in range(6)]
    with pytest.raises(KeyboardInterrupt):
        run_pool(ranges, Scanner(PLAN, engine="plain"), 2, done, Impatient(0, 0, "en"))
    assert len(done) == 1
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_an_interrupted_scan_tells_so(monkeypatch: pytest.MonkeyPatch, knowledge: object) -> None:
    calls: list[int] = []

    def one(part: Range, scanner: Scanner, moved: object = None) -> Harvest:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return Scanner(PLAN, engine="plain").scan(part.source)

    monkeypatch.setattr(ranges_of, "scan_one", one)
    harvests, interrupted = many_sources.scan_all([source(f"{n}.log") for n in range(5)], knowledge, EVERYTHING, 1, "en")  # type: ignore[arg-type]
    assert interrupted
    assert sum(one.files for one in harvests) == 2


def test_ranges_of_any_number_of_workers_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One big file in ranges: the same findings and line numbers, whoever reads which."""
    monkeypatch.setattr(ranges_of, "RANGE", 1000)
    path = tmp_path / "big.log"
    path.write_text("".join(f"line {n} {'drvMemcpy failed' if n % 7 == 0 else 'fine'}\n" for n in range(2000)))
    whole = Source("big.log", lambda: path.open("rb"), path.stat().st_size, hints("big.log"), seekable=True)
    ranges = ranges_of.cut(whole)
    assert len(ranges) > 20
    answers = []
    for count in (1, 3):
        done: dict[int, Harvest] = {}
        run_pool(ranges, Scanner(PLAN, engine="plain"), count, done, QUIET)
        answers.append(merge(ranges_of.join(ranges, done)))
    alone = Scanner(PLAN, engine="plain").scan(whole)
    assert answers[0] == answers[1]
    assert answers[0].counts == alone.counts
    assert answers[0].lines == alone.lines == 2000
    assert {h.place.line for h in answers[0].hits} >= {h.place.line for h in alone.hits}


@contextmanager
def terminal() -> Iterator[Callable[[], str]]:
    """Standard error as a terminal; what yields tells everything written so far."""
    master, slave = pty.openpty()
    tty.setraw(slave)  # what is written arrives byte for byte
    mark = "\x00end\x00"

    def written() -> str:
        """All that came before a mark: a terminal may hand over a single write in several pieces."""
        os.write(slave, mark.encode())
        told = b""
        while not told.endswith(mark.encode()):
            told += os.read(master, 4096)
        return told.decode().removesuffix(mark)

    with os.fdopen(slave, "w", encoding="utf-8") as stream, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", stream)
        patch.setenv("TERM", "xterm")
        patch.delenv("CI", raising=False)
        yield written
    os.close(master)


@pytest.mark.parametrize(("lang", "words"), [("en", "50 %"), ("zh", "已读 1/4 个文件")])
def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch, lang: str, words: str) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    with terminal() as written:
        progress = Progress(200 << 20, 4, lang)
        progress.add(1 << 20, False)  # too early to say anything
        now[0] += 5
        progress.add(99 << 20, True)
        progress.end()
        told = written()
    assert words in told
    assert "100 MiB" in told
    assert told.count("\r\x1b[K") == 2
    assert told.endswith("\r\x1b[K")


def test_no_progress_without_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    progress = Progress(100, 1, "en")
    now[0] += 60
    progress.add(50, True)
    progress.end()
    assert capsys.readouterr().err == ""


def test_many_small_files_are_given_to_a_worker_at_once(tmp_path: Path) -> None:
    """One process and two give the same harvest, and what kills a worker is found out among those it was given."""
    sources = [source(f"{n % 5}/{n}.log") for n in range(200)]
    alone, together = (Gathered(Ranges(sources)) for _ in range(2))
    scan_here(enumerate(Ranges(sources)), Scanner(PLAN, engine="plain"), alone, QUIET)
    run_pool(Ranges(sources), Scanner(PLAN, engine="plain"), 2, together, QUIET)
    assert together.result() == alone.result()
    sources[50] = source("sick.log", die(tmp_path, 3))
    done: dict[int, Harvest] = {}
    run_pool(Ranges(sources), Scanner(PLAN, engine="plain"), 2, done, QUIET)
    found = merge(done.values())
    assert len(done) < 200
    assert len(found.hits) == 199
    assert [(s.path, "two worker" in s.reason) for s in found.skipped] == [("sick.log", True)]


def test_files_that_tell_nothing_but_times_are_told_by_the_latest(tmp_path: Path) -> None:
    """Of each folder and process one; those in which something was found are all told."""

    def read(name: str, pid: int | None, last: str, hits: int = 0) -> Harvest:
        found = pool([source(name)], 1)[0] if hits else Harvest(files=1)
        return found._replace(spans=(Span(name, f"{last}-first", last, pid),))

    rows = [read("a/1.log", None, "3"), read("a/2.log", None, "5"), read("a/3.log", None, "4", 1), read("a/4.log", 7, "1"), read("a/5.log", 7, "2"), read("b/6.log", None, "1")]
    one, other = Together(), Together()
    for row in rows:
        one.add(row)
    for half in (rows[3:], rows[:3]):
        part = Together()
        for row in half:
            part.add(row)
        other.add(part.result())
    told = one.result()
    assert told == other.result()
    assert [(s.path, s.first, s.last, s.pid) for s in told.spans] == [
        ("a/2.log", "3-first", "5", None), ("a/3.log", "4-first", "4", None), ("a/5.log", "1-first", "2", 7), ("b/6.log", "1-first", "1", None),
    ]  # fmt: skip
    assert told.files == 6
