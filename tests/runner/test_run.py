"""`npu-doctor run`: output and exit codes unchanged, signals handed on, logs of the process tree, a diagnosis on failure."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests_support import HANG_S

from doctor.runner.kept_output import Tail
from doctor.runner.run_command import KEPT, PREFIX
from doctor.runner.written_plogs import Tree

ROOT = Path(__file__).resolve().parents[2]

# The command line's part: what it is asked to diagnose is told as one line, so that tests see it.
MAIN = """
import argparse, sys
sys.path.insert(0, {root!r})
from doctor.base.errors import UsageError
from doctor.runner.run_command import add_arguments, run
parser = argparse.ArgumentParser()
parser.add_argument("--lang")
add_arguments(parser)
def diagnose(output, paths):
    print("DIAGNOSIS", 1 + len(paths), output.name.rpartition("/")[2], *[p.rpartition("/")[2] for p in paths], repr(output.open().read().decode("utf-8", "replace")[-80:]))
try:
    sys.exit(run(parser.parse_args(), diagnose, lambda folder, lang: "the last operator"))
except UsageError as problem:
    print(problem)
    sys.exit(2)
"""


def call(*words: str) -> list[str]:
    return [sys.executable, "-c", MAIN.format(root=str(ROOT)), *words]


def ran(*words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        call(*words),
        capture_output=True,
        timeout=HANG_S,
        check=False,
        env={**os.environ, "NPU_DOCTOR_LANG": "en", **environment},
    )


def shell(text: str) -> tuple[str, ...]:
    return ("--", "sh", "-c", text)


def test_output_passes_unchanged_and_a_success_says_nothing() -> None:
    done = ran(
        "--", sys.executable, "-c", "import sys; sys.stdout.buffer.write(bytes(range(256))); sys.stderr.write('e\\n')"
    )
    assert (0, bytes(range(256)), b"e\n") == (done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("exit 0", 0),
        ("exit 3", 3),
        ("exit 255", 255),
        ("kill -9 $$", 137),
        ("kill -TERM $$", 143),
        ("kill -SEGV $$", 139),
    ],
)
def test_the_exit_code_is_the_commands(text: str, code: int) -> None:
    assert code == ran(*shell(text)).returncode


def test_a_failure_is_diagnosed_after_the_output() -> None:
    done = ran(*shell("echo first; echo boom >&2; exit 4"))
    assert done.returncode == 4
    assert done.stdout.decode().splitlines()[0] == "first"
    assert done.stdout.decode().splitlines()[1].startswith("DIAGNOSIS 1 output.txt")
    assert "boom" in done.stdout.decode().splitlines()[1]
    assert b"ended with exit code 4" in done.stderr


def test_success_is_diagnosed_only_when_asked() -> None:
    assert b"DIAGNOSIS" not in ran(*shell("true")).stdout
    assert b"DIAGNOSIS" in ran("--always", *shell("true")).stdout


def test_a_command_that_does_not_exist() -> None:
    done = ran("--", "no-such-command-here")
    assert (done.returncode, b"cannot start no-such-command-here" in done.stderr) == (127, True)


def test_a_file_that_may_not_be_executed(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    assert ran("--", str(tmp_path / "x")).returncode == 126


def test_no_command_is_a_wrong_call() -> None:
    done = ran()
    assert (done.returncode, b"npu-doctor run -- python train.py" in done.stdout) == (2, True)


def test_nothing_is_set_without_options() -> None:
    show = shell("env | sort | grep -v '^_='; exit 0")
    plain = subprocess.run(
        ["sh", "-c", show[-1]], capture_output=True, check=False, env={**os.environ, "NPU_DOCTOR_LANG": "en"}
    )
    assert plain.stdout == ran(*show).stdout


def test_options_set_variables_for_the_command_and_say_so() -> None:
    done = ran("--log-level", "info", "--blocking", *shell("echo $ASCEND_GLOBAL_LOG_LEVEL $ASCEND_LAUNCH_BLOCKING"))
    assert done.stdout == b"1 1\n"
    assert b"set for the command: ASCEND_GLOBAL_LOG_LEVEL=1 ASCEND_LAUNCH_BLOCKING=1" in done.stderr


def test_a_closed_pipe_ends_the_command_as_without_us() -> None:
    reader = subprocess.Popen(
        call(*shell("while echo y; do :; done")), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert reader.stdout is not None
    assert reader.stdout.readline() == b"y\n"
    reader.stdout.close()
    assert reader.wait(HANG_S) == 128 + signal.SIGPIPE or reader.returncode == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_signals_are_handed_on(number: signal.Signals) -> None:
    """The command sees the signal once, and decides; its exit code is ours."""
    text = "import signal, sys\nfor n in (1, 2, 10, 15): signal.signal(n, lambda s, f: sys.exit(40 + s))\nprint('ready', flush=True)\nwhile True: signal.pause()"
    running = subprocess.Popen(
        call("--", sys.executable, "-c", text),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert running.stdout is not None
    assert running.stdout.readline() == b"ready\n"
    running.send_signal(number)
    out, _ = running.communicate(timeout=HANG_S)
    assert 40 + number == running.returncode, out


def read_until_closed(end: int) -> bytes:
    """Everything that a terminal shows."""
    shown = b""
    limit = time.monotonic() + HANG_S
    while time.monotonic() < limit:
        if not select.select([end], [], [], 1.0)[0]:
            continue
        try:
            data = os.read(end, 4096)
        except OSError:
            break
        if not data:
            break
        shown += data
    return shown


def test_the_terminal_is_kept() -> None:
    """On a terminal the command sees one of the same size on both streams, and its bytes arrive as it wrote them."""
    text = "import os, sys; print(sys.stdout.isatty(), sys.stderr.isatty(), os.get_terminal_size(1).columns); sys.stdout.write('a\\tb\\x1b[31mc'); sys.stdout.flush(); sys.exit(5)"
    pid, end = pty.fork()
    if pid == 0:
        os.execv(sys.executable, call("--", sys.executable, "-c", text))
    import fcntl
    import struct
    import termios

    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 123, 0, 0))
    shown = read_until_closed(end)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 5, shown
    assert b"True True" in shown
    assert b"a\tb\x1b[31mc" in shown


def test_ctrl_c_on_the_terminal_reaches_the_command_once() -> None:
    # The signal is blocked before "ready" is said, then waited for: it cannot slip through in between.
    text = (
        "import signal, sys\nsignal.pthread_sigmask(signal.SIG_BLOCK, [2])\nprint('ready', flush=True)\n"
        "signal.sigwait([2])\nprint('told 1', flush=True)\n"
        "again = signal.sigtimedwait([2], 0.4)\nprint('told 2' if again else 'once', flush=True)\nsys.exit(2 if again else 1)"
    )
    pid, end = pty.fork()
    if pid == 0:
        os.execv(sys.executable, call("--", sys.executable, "-c", text))
    shown = b""
    while b"ready" not in shown:
        shown += os.read(end, 4096)
    os.write(end, b"\x03")
    shown += read_until_closed(end)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 1, shown
    assert b"told 2" not in shown


def log_of(pid: int | str, folder: Path, text: str = "x") -> Path:
    path = folder / "debug" / "plog" / f"plog-{pid}_20260101000000000.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_logs_of_the_process_tree_are_read(tmp_path: Path) -> None:
    """The command's own log and its child's, but not another process's; the root is the one the command was given."""
    log_of(1, tmp_path)
    # The child says more than a pipe holds: it lives until its output was read, and with that its process was seen.
    text = f"mkdir -p {tmp_path}/debug/plog; echo a > {tmp_path}/debug/plog/plog-$$_20260101000000001.log; sh -c 'echo b > {tmp_path}/debug/plog/plog-$$_20260101000000002.log; head -c 300000 /dev/zero'; exit 1"
    done = ran(*shell(text), ASCEND_PROCESS_LOG_PATH=str(tmp_path))
    told = done.stdout.decode()
    assert "DIAGNOSIS 3 output.txt" in told
    assert "_20260101000000001.log" in told
    assert "_20260101000000002.log" in told
    assert "plog-1_" not in told


def test_without_a_known_process_the_time_decides_and_that_is_said(tmp_path: Path) -> None:
    done = ran(
        *shell(f"mkdir -p {tmp_path}/plog; echo a > {tmp_path}/plog/plog-999999_20260101000000001.log; exit 1"),
        ASCEND_PROCESS_LOG_PATH=str(tmp_path),
    )
    assert b"plog-999999_" in done.stdout
    assert b"those changed since its start" in done.stderr


def test_the_log_root_follows_the_variables(tmp_path: Path) -> None:
    one = log_of(7, tmp_path / "own")
    assert Tree({"ASCEND_PROCESS_LOG_PATH": str(tmp_path / "own"), "ASCEND_WORK_PATH": "/nowhere"}).roots == {
        tmp_path / "own": None
    }
    assert list(Tree({"ASCEND_WORK_PATH": "/w", "HOME": "/h"}).roots) == [Path("/w/log")]
    assert list(Tree({"HOME": "/h"}).roots) == [Path("/h/ascend/log")]
    tree = Tree({"ASCEND_PROCESS_LOG_PATH": str(tmp_path / "own")})
    tree.pids.add(7)
    assert ((str(one),), True) == tree.found()


def test_old_logs_of_a_reused_process_number_are_left_out(tmp_path: Path) -> None:
    os.utime(log_of(7, tmp_path), (1, 1))
    tree = Tree({"ASCEND_PROCESS_LOG_PATH": str(tmp_path)})
    tree.pids.add(7)
    assert tree.found() == ((), False)


def test_the_tree_sees_children_and_their_environment(tmp_path: Path) -> None:
    proc = tmp_path / "proc"
    for pid, children in ((10, "11 12"), (11, ""), (12, "13"), (13, "10")):
        (proc / str(pid) / "task" / str(pid)).mkdir(parents=True)
        (proc / str(pid) / "task" / str(pid) / "children").write_text(children)
        (proc / str(pid) / "environ").write_bytes(b"A=1\0HOME=/home/u%d\0" % pid)
    tree = Tree({}, str(proc))
    tree.look(10)
    assert {10, 11, 12, 13} == tree.pids
    assert Path("/home/u13/ascend/log") in tree.roots


def test_save_keeps_everything(tmp_path: Path) -> None:
    save = tmp_path / "kept"
    done = ran(
        "--save",
        str(save),
        *shell(f"mkdir -p {tmp_path}/plog; echo a > {tmp_path}/plog/plog-$$_20260101000000001.log; echo out; exit 1"),
        ASCEND_PROCESS_LOG_PATH=str(tmp_path),
    )
    assert done.returncode == 1
    assert (save / "output.txt").read_text() == "out\n"
    assert len(list((save / "logs" / "plog").iterdir())) == 1


def test_only_what_the_diagnosis_cites_is_left_behind(tmp_path: Path) -> None:
    """After a success nothing; after a failure the output, at the place that is told."""
    ran(*shell("exit 0"), TMPDIR=str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    done = ran(*shell("echo it broke; exit 1"), TMPDIR=str(tmp_path))
    (kept,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert kept.read_bytes() == b"it broke\n"
    assert str(kept).encode() in done.stderr


def test_outputs_of_a_job_that_fails_all_night_do_not_pile_up(tmp_path: Path) -> None:
    """The last few are kept; what else stands beside them, what was saved and what belongs to nobody of ours stays."""
    for number in range(KEPT + 3):
        old = tmp_path / f"{PREFIX}old{number}"
        old.mkdir()
        (old / "output.txt").write_text("old")
        if not number:
            (old / "ops-1.json").write_text("{}")
        os.utime(old, (number, number))
    (tmp_path / "other").mkdir()
    ran(*shell("echo it broke; exit 3"), TMPDIR=str(tmp_path))
    left = {p.name for p in tmp_path.iterdir()}
    assert {"other", f"{PREFIX}old0", f"{PREFIX}old{KEPT + 2}"} <= left
    assert f"{PREFIX}old1" not in left
    assert len([name for name in left if name.startswith(PREFIX)]) == KEPT + 1  # the oldest has more in it than an output


def test_a_broken_diagnosis_does_not_change_the_exit_code() -> None:
    words = call(*shell("exit 6"))
    words[2] = words[2].replace('print("DIAGNOSIS"', 'raise ValueError("oops"); print("DIAGNOSIS"')
    done = subprocess.run(
        words, capture_output=True, timeout=HANG_S, check=False, env={**os.environ, "NPU_DOCTOR_LANG": "en"}
    )
    assert (done.returncode, b"the diagnosis failed: ValueError: oops" in done.stderr) == (6, True)


def test_operators_are_recorded_in_every_python_process(tmp_path: Path) -> None:
    """Also in a child of a shell, and beside a sitecustomize that was there before."""
    pytest.importorskip("torch", reason="PyTorch is not installed: nothing to record")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("print('mine ran')\n")
    (tmp_path / "train.py").write_text("import torch\ntorch.ones(2, 3) @ torch.ones(2, 3)\n")
    done = ran(
        "--record-ops",
        "--save",
        str(tmp_path / "kept"),
        *shell(f"{sys.executable} {tmp_path}/train.py"),
        PYTHONPATH=str(tmp_path / "site"),
    )
    assert done.returncode == 1
    assert b"mine ran" in done.stdout
    assert b"npu-doctor repro --from" in done.stderr
    from doctor.repro.gather import evidence

    (one, *_) = evidence([str(tmp_path / "kept")]).operators()
    assert one.name == "aten::mm.default"


@pytest.mark.parametrize(
    ("text", "said"),
    [("kill -9 $$", "exit code 137 (SIGKILL)"), ("printf unfinished; kill -SEGV $$", "exit code 139 (SIGSEGV)"), ("exit 124", "exit code 124 (time limit)"), ("exit 3", ""), ("exit 255", "")],
)
def test_an_end_that_says_nothing_itself_is_told(text: str, said: str) -> None:
    """What a signal or a time limit ended printed no reason: the diagnosis reads the exit code."""
    told = ran(*shell(text)).stdout.decode()
    assert told.count("DIAGNOSIS") == 1
    assert ("npu-doctor run: the command ended with" in told, said in told) == (bool(said), True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("end", "entry", "last"),
    [
        ("ctypes.string_at(0)", b"DST018", b"no operator was running when the process ended; the last one, aten::mm.default, had returned"),
        ("os.kill(os.getpid(), 9)", b"DST016", b"aten::mm.default, had returned"),
        ("torch.nn.functional.embedding(torch.tensor([1, 99]), torch.ones(10, 4))", b"PTA980", b"the operator aten::embedding.default raised: index out of range in self"),
    ],
)
def test_an_end_and_the_last_operator_are_in_the_diagnosis(end: str, entry: bytes, last: bytes, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed: nothing to record")
    (tmp_path / "train.py").write_text(f"import ctypes, os, torch\nx = torch.ones(3, 4)\ny = x @ x.t()\n{end}\n")
    call = [sys.executable, "-m", "doctor", "run", "--lang", "en", "--record-ops", "--save", str(tmp_path / "kept"), "--", sys.executable, str(tmp_path / "train.py")]
    done = subprocess.run(call, capture_output=True, timeout=HANG_S, check=False, cwd=ROOT)
    assert entry in done.stdout
    assert last in done.stderr
    assert b"doctor/record" not in (tmp_path / "kept" / "output.txt").read_bytes()


def test_the_tail_is_bounded_and_keeps_the_beginning() -> None:
    tail = Tail(head=10, tail=20)
    for number in range(100):
        tail.add(b"%03d\n" % number)
    kept = tail.content()
    assert kept.startswith(b"000\n001\n00")
    assert kept.endswith(b"098\n099\n")
    assert b"bytes are not kept" in kept
    assert len(kept) < 100


def test_a_short_output_is_whole() -> None:
    tail = Tail(head=3, tail=20)
    tail.add(b"abcdef")
    tail.add(b"gh")
    assert tail.content() == b"abcdefgh"


@pytest.mark.parametrize("save", [False, True])
def test_a_full_disk_is_no_hindrance(tmp_path: Path, save: bool) -> None:
    """What the command printed is diagnosed from memory; what could not be saved is told."""
    limited = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "from doctor.__main__ main; sys.exit(main())"
    ).replace("main__ main", "main__ import main")
    said = "ImportError: libhccl.so: cannot open shared object file: No such file or directory"
    words = ["run", *(["--save", str(tmp_path / "kept")] if save else []), *shell(f"echo '{said}'; exit 9")]
    done = subprocess.run(
        [sys.executable, "-c", limited, *words], capture_output=True, cwd=ROOT, timeout=HANG_S, check=False, env={**os.environ, "NPU_DOCTOR_LANG": "en"}
    )
    assert done.returncode == 9, done.stderr
    assert b"ENV001" in done.stdout
    assert b"<output>:1" in done.stdout
    assert (b"cannot write" in done.stderr) is save
