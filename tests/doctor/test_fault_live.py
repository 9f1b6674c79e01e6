"""Logs that move while they are read, and users who have had enough. Nothing here waits for a time: processes meet at named pipes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests_support import HANG_S

from doctor.judge.diagnosis import Diagnosis, conclude
from doctor.judge.proof import Bench
from doctor.read import discover
from doctor.read.livefile import LiveFile, was
from doctor.read.source import Source
from doctor.scan import many_sources as runs
from doctor.scan import ranges
from doctor.scan.scanner import Interrupted
from doctor.scan.select import EVERYTHING

ROOT = Path(__file__).resolve().parent.parent.parent
KNOWN = "ImportError: libhccl.so: cannot open shared object file: No such file or directory\n"
FILLER = "step done\n" * 200


def looked(path: Path, between: Callable[[], None], bench: Bench, monkeypatch: pytest.MonkeyPatch, small: bool = False) -> Diagnosis:
    """A scan during which something happens to the log: after it was found, before it is read."""
    if small:
        monkeypatch.setattr(ranges, "RANGE", 1000)
    found = discover.discover([str(path.parent)])
    between()
    harvests, _ = runs.scan_all(found.sources, bench.knowledge, EVERYTHING, 1, "en")
    return conclude(harvests, bench.knowledge, 0.0, found.skipped)


def told(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    return [(Path(s.path).name, s.reason) for s in diagnosis.skipped]


@pytest.mark.parametrize("small", [False, True])
def test_a_log_that_grows(small: bool, tmp_path: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read as far as it went when it was found, however it is cut into ranges; that more has come is told once."""
    log = tmp_path / "a.log"
    log.write_text(FILLER + KNOWN)
    size = log.stat().st_size

    def grow() -> None:
        with log.open("a") as file:
            file.write("RuntimeError: drvMemcpy failed later\n" * 50)

    diagnosis = looked(log, grow, bench, monkeypatch, small)
    assert diagnosis.roots[0].finding.entry.code == "ENV001"
    assert diagnosis.harvest.size == size
    assert told(diagnosis) == [("a.log", f"it grew while it was read: only its first {size} bytes were (npu-doctor watch follows a log)")]


def test_a_log_that_never_ends(tmp_path: Path) -> None:
    """A writer that is faster than the reader does not keep it from ending."""
    log = tmp_path / "a.log"
    log.write_text(FILLER)
    with LiveFile(str(log), was(log.stat())) as stream, log.open("a") as writer:
        total = 0
        while piece := stream.read(64):
            total += len(piece)
            writer.write(FILLER)
            writer.flush()
        assert total == len(FILLER)
        assert "grew" in stream.changed()


@pytest.mark.parametrize("small", [False, True])
def test_a_log_that_is_truncated(small: bool, tmp_path: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left is diagnosed, and the loss is told once."""
    log = tmp_path / "a.log"
    log.write_text(KNOWN + FILLER * 3)
    size = log.stat().st_size
    diagnosis = looked(log, lambda: os.truncate(log, 500), bench, monkeypatch, small)
    assert diagnosis.roots[0].finding.entry.code == "ENV001"
    assert told(diagnosis) == [("a.log", f"it had {size} bytes and shrank to 500 while it was read: it was truncated or begun anew")]


@pytest.mark.parametrize("small", [False, True])
def test_a_log_that_is_rotated(small: bool, tmp_path: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Renamed, and a new one stands in its place: the one that was found is read under its new name, whole."""
    log = tmp_path / "a.log"
    log.write_text(KNOWN + FILLER)

    def rotate() -> None:
        log.rename(tmp_path / "a.log.1")
        log.write_text("RuntimeError: drvMemcpy failed in the new log\n")

    diagnosis = looked(log, rotate, bench, monkeypatch, small)
    assert [r.finding.entry.code for r in diagnosis.roots][:1] == ["ENV001"]
    assert diagnosis.harvest.size == len(KNOWN + FILLER)
    assert told(diagnosis) == []


@pytest.mark.parametrize("replaced", [False, True])
def test_a_log_that_vanishes(replaced: bool, tmp_path: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Removed, or replaced by another file: that is told, and the other logs are read."""
    log, other = tmp_path / "a.log", tmp_path / "b.log"
    log.write_text(FILLER)
    other.write_text(KNOWN)
    keep = log.open()  # its number is not given to another file meanwhile

    def remove() -> None:
        log.unlink()
        if replaced:
            log.write_text("RuntimeError: drvMemcpy failed in another file\n")

    diagnosis = looked(log, remove, bench, monkeypatch)
    keep.close()
    assert diagnosis.roots[0].finding.entry.code == "ENV001"
    assert told(diagnosis) == [("a.log", "reading stopped after 0 bytes: it was removed or replaced while the scan ran")]


def test_a_log_exchanged_for_a_link(tmp_path: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who may write the folder cannot make the reader follow a link out of it, not even between finding and reading."""
    secret = tmp_path / "secret"
    secret.write_text(KNOWN)
    log = tmp_path / "logs" / "a.log"
    log.parent.mkdir()
    log.write_text(FILLER)
    keep = log.open()

    def exchange() -> None:
        log.unlink()
        log.symlink_to(secret)

    diagnosis = looked(log, exchange, bench, monkeypatch)
    keep.close()
    assert diagnosis.harvest.hits == ()
    assert "removed or replaced" in told(diagnosis)[0][1]


def test_files_that_vanish_while_they_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the listing of a folder and the look at a file, at every step: named, never a crash."""
    for name in ("a.log", "b.log", "empty.log"):
        (tmp_path / name).write_text("" if name == "empty.log" else FILLER)
    real = os.stat

    def gone(path: Any, *args: Any, **more: Any) -> Any:
        state = real(path, *args, **more)
        if str(path).endswith(("a.log", "empty.log")) and os.path.lexists(path):
            os.unlink(path)
        return state

    monkeypatch.setattr("doctor.read.discover.os.stat", gone)
    found = discover.discover([str(tmp_path)])
    assert {Path(s.path).name for s in found.skipped} >= {"a.log"}
    assert "b.log" in {Path(s.name).name for s in found.sources}


# Interrupts

COMMAND = [sys.executable, "-m", "doctor", "scan", "-f", "json"]


def interrupted(args: list[str], pipes: list[Path], to_group: bool, content: str = "") -> tuple[int, dict[str, Any], str]:
    """Runs the command until it waits at the pipes, sends what Ctrl-C sends, and gives its answer."""
    process = subprocess.Popen(
        [*COMMAND, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, start_new_session=True
    )
    writers = [open(p, "w") for p in pipes]  # returns when the command reads the pipe: all before it has been read
    for writer in writers:
        writer.write(content)
        writer.flush()
    if content:
        _wait_for_empty(writers[0].fileno())
    (os.killpg if to_group else os.kill)(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=HANG_S)
    for writer in writers:
        try:
            writer.close()
        except BrokenPipeError:
            pass
    return process.returncode, json.loads(out), err.decode()


def _wait_for_empty(handle: int) -> None:
    """Returns when the other side has taken everything out of the pipe: a second pipe's worth no longer has to wait."""
    import fcntl
    import termios

    size = bytearray(4)
    while True:
        fcntl.ioctl(handle, termios.FIONREAD, size)
        if not any(size):
            return
        os.sched_yield()


@pytest.mark.parametrize("to_group", [False, True])
def test_ctrl_c_gives_what_was_read(to_group: bool, tmp_path: Path) -> None:
    """One process: the files before the one that it waits for are in the answer, the exit code is 130."""
    log, pipe = tmp_path / "a.log", tmp_path / "pipe"
    log.write_text(KNOWN)
    os.mkfifo(pipe)
    code, report, err = interrupted([str(log), str(pipe)], [pipe], to_group)
    assert code == 130
    assert report["findings"][0]["id"] == "ENV001"
    assert any("interrupted" in s["reason"] for s in report["skipped"])
    assert "Traceback" not in err


def test_ctrl_c_in_the_middle_of_a_file(tmp_path: Path) -> None:
    """What came through a pipe before the interrupt is diagnosed as well: `train | npu-doctor` and Ctrl-C."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code, report, err = interrupted([str(pipe)], [pipe], True, KNOWN + FILLER * 400)
    assert code == 130
    assert any("interrupted after" in s["reason"] for s in report["skipped"]), report["skipped"]
    assert report["findings"][0]["id"] == "ENV001"
    assert "Traceback" not in err


def test_ctrl_c_while_workers_read(tmp_path: Path) -> None:
    """Two workers wait at two pipes; the file that came before is in the answer, and no worker stays behind."""
    log, pipes = tmp_path / "a.log", [tmp_path / "p1", tmp_path / "p2"]
    log.write_text(KNOWN)
    for pipe in pipes:
        os.mkfifo(pipe)
    code, report, err = interrupted(["-j", "2", str(log), *map(str, pipes)], pipes, True)
    assert code == 130
    assert report["findings"][0]["id"] == "ENV001"
    assert any("interrupted" in s["reason"] for s in report["skipped"])
    assert "Traceback" not in err


def test_an_interrupt_carries_the_harvest(bench: Bench) -> None:
    """For programs it is an interrupt like any other, with what was read inside."""

    class Impatient:
        def __init__(self) -> None:
            self.pieces = [KNOWN.encode() + b"x" * (600 << 10) + b"\n" + b"step\n" * 1000]

        def read(self, size: int) -> bytes:
            if not self.pieces[0]:
                raise KeyboardInterrupt
            piece, self.pieces[0] = self.pieces[0][:size], self.pieces[0][size:]
            return piece

        def __enter__(self) -> Impatient:
            return self

        def __exit__(self, *_: object) -> None:
            pass

    with pytest.raises(KeyboardInterrupt) as stopped:
        bench._scanner.scan(discover.given_text("x")._replace(open=Impatient))  # type: ignore[arg-type]
    assert isinstance(stopped.value, Interrupted)
    assert "ENV001" in {hit.entry for hit in stopped.value.harvest.hits}


def test_a_killed_worker_of_the_real_command(tmp_path: Path) -> None:
    """A worker that is killed in the middle of a file: the command says so, reads the file again, and answers."""
    log, pipes = tmp_path / "a.log", [tmp_path / "p1", tmp_path / "p2"]
    log.write_text(FILLER)
    for pipe in pipes:
        os.mkfifo(pipe)
    process = subprocess.Popen(
        [*COMMAND, "-j", "2", str(log), *map(str, pipes)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    )
    writers = [open(p, "w") for p in pipes]
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    assert len(children) == 2
    os.kill(int(children[0]), signal.SIGKILL)

    def feed(number: int) -> None:
        """Opening returns when somebody reads: the worker that took over has opened the pipe anew by then."""
        with open(pipes[number], "w") as writer:
            writer.write(KNOWN)
        writers[number].close()

    assert process.stderr is not None
    first = process.stderr.readline().decode()  # comes when the death was noticed and the file given to another
    for number in (0, 1):
        threading.Thread(target=feed, args=(number,)).start()
    out, err = process.communicate(timeout=HANG_S)
    assert "a worker process died (signal 9)" in first
    report = json.loads(out)
    assert process.returncode == 1
    assert report["findings"][0]["count"] == 2
    assert report["skipped"] == []
    assert b"Traceback" not in err


def test_source_of_a_pipe_has_no_size(tmp_path: Path) -> None:
    """A named pipe that the user names is read once, from its beginning: its ranges and its length are unknown."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: Source = discover.discover([str(pipe)]).sources[0]
    assert (found.size, found.seekable) == (None, False)
