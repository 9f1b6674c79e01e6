"""One Ctrl-C is enough, whenever it comes: also when it breaks no system call off, and when the interpreter drops the exception."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from tests_support import HANG_S

ROOT = Path(__file__).resolve().parent.parent.parent
KNOWN = "ImportError: libhccl.so: cannot open shared object file: No such file or directory\n"

# The signal goes to another thread: no call of the main one is broken off, as with a signal that comes just before the call.
ELSEWHERE = """
import signal, sys, threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
from doctor.__main__ import main
sys.exit(main())
"""
# While this process does something, it sends itself what Ctrl-C sends.
DURING = """
import os, signal, sys
from {module} import {name} as real
import {module}

class Raised:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)

def instead(*args, **more):
    {what}
    return real(*args, **more)

{module}.{name} = instead
from doctor.__main__ import main
sys.exit(main())
"""


def start(script: str, *args: str) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", script, *args], stdin=pipe, stdout=pipe, stderr=pipe, cwd=ROOT, start_new_session=True)


def opened(process: subprocess.Popen[bytes], pipe: Path) -> int:
    """Returns when the command reads the pipe."""
    assert process.poll() is None
    return os.open(pipe, os.O_WRONLY)


def answer(process: subprocess.Popen[bytes]) -> tuple[int, bytes, str]:
    """What comes after one Ctrl-C, with standard input still open."""
    os.kill(process.pid, signal.SIGINT)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdin is not None
    try:
        process.wait(HANG_S)
    finally:
        process.kill()
    out, err = process.stdout.read(), process.stderr.read().decode()
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()
    return process.returncode, out, err


@pytest.mark.parametrize("workers", [(), ("-j", "2")])
def test_it_is_heard_at_a_pipe(workers: tuple[str, ...], tmp_path: Path) -> None:
    """Waiting for the first byte of named pipes, in one process and with workers."""
    log, pipes = tmp_path / "a.log", [tmp_path / "p", tmp_path / "q"]
    log.write_text(KNOWN)
    for pipe in pipes:
        os.mkfifo(pipe)
    process = start(ELSEWHERE, "scan", "-f", "json", *workers, str(log), *map(str, pipes))
    ends = [opened(process, pipe) for pipe in (pipes if workers else pipes[:1])]
    code, out, err = answer(process)
    for end in ends:
        os.close(end)
    told = json.loads(out)
    assert code == 130
    assert told["findings"][0]["id"] == "ENV001"
    assert any("interrupted" in s["reason"] for s in told["skipped"])
    assert "interrupted: here is what was read so far" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("command", [("scan", "-f", "json", "-"), ("issue", "-")])
def test_it_is_heard_at_standard_input(command: tuple[str, ...]) -> None:
    """`train | npu-doctor`, and a draft of it: what has come is the answer, be it one line."""
    process = start(ELSEWHERE, *command)
    assert process.stdin is not None
    process.stdin.write(KNOWN.encode())
    process.stdin.flush()
    size = bytearray(b"x")
    while any(size):  # until the command has taken it
        size = bytearray(4)
        fcntl.ioctl(process.stdin.fileno(), termios.FIONREAD, size)
        os.sched_yield()
    code, out, err = answer(process)
    assert code == 130
    assert b"ENV001" in out
    assert b"interrupted" in out + err.encode()
    assert "Traceback" not in err


def test_it_is_heard_between_two_looks(tmp_path: Path) -> None:
    """`watch` waits an hour for its next look, but not for Ctrl-C."""
    log = tmp_path / "a.log"
    log.write_text(KNOWN)
    process = start(ELSEWHERE, "watch", "-f", "jsonl", "--interval", "3600", str(log))
    assert process.stdout is not None
    assert b"started" in process.stdout.readline()
    assert b"finding" in process.stdout.readline()
    code, out, err = answer(process)
    assert code == 130
    assert b'"ended"' in out
    assert "Traceback" not in err


def ended(script: str, *args: str) -> tuple[int, bytes, str]:
    done = subprocess.run([sys.executable, "-c", script, *args], capture_output=True, cwd=ROOT, check=False, timeout=HANG_S)
    return done.returncode, done.stdout, done.stderr.decode()


def test_it_is_heard_although_the_interpreter_drops_it(tmp_path: Path) -> None:
    """An exception in a destructor goes nowhere; the command ends before it reads a pipe that nobody writes."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code, out, err = ended(DURING.format(module="doctor.read.discover", name="discover", what="Raised()"), "scan", str(pipe))
    assert "Exception ignored in" in err  # it was dropped
    assert err.endswith("npu-doctor: interrupted\n")
    assert (code, out) == (130, b"")


def test_one_while_concluding_lets_the_answer_out_and_two_do_not(tmp_path: Path) -> None:
    """All was read when it came: the answer is whole, and the exit code says that it came."""
    log = tmp_path / "a.log"
    log.write_text(KNOWN)
    once = "os.kill(os.getpid(), signal.SIGINT)"
    for what, expected in ((once, (130, 1)), (f"{once}; {once}", (130, 0))):
        code, out, err = ended(DURING.format(module="doctor.judge.diagnosis", name="conclude", what=what), "scan", "-f", "json", str(log))
        assert (code, out.count(b'"ENV001"') and 1) == expected
        assert "Traceback" not in err


def test_who_ignores_interrupts_goes_on_ignoring_them(tmp_path: Path) -> None:
    """Begun in the background by a shell, or with `trap '' INT`: it ends in its own time."""
    log = tmp_path / "a.log"
    log.write_text(KNOWN)
    script = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n" + DURING.format(
        module="doctor.judge.diagnosis", name="conclude", what="os.kill(os.getpid(), signal.SIGINT)"
    )
    assert ended(script, "scan", "-f", "json", str(log))[0] == 1


def test_a_library_leaves_the_handler_alone() -> None:
    """After the command has run as a function, its caller's interrupts are the caller's."""
    from doctor.base import interrupts

    before = signal.getsignal(signal.SIGINT)
    interrupts.listen()
    assert signal.getsignal(signal.SIGINT) is not before
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
    assert interrupts.heard()
    interrupts.leave()
    assert signal.getsignal(signal.SIGINT) is before
    assert not interrupts.heard()
    assert interrupts.alarm() == -1
