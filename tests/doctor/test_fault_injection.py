"""What a machine can refuse: room, permission, a readable sector, a process, a home, a steady clock. The diagnosis still comes, and what is missing is named."""

from __future__ import annotations

import errno
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests_support import HANG_S

from doctor.base import output
from doctor.base.errors import UsageError
from doctor.commands import reading, scan
from doctor.judge.diagnosis import conclude
from doctor.judge.proof import Bench
from doctor.read import discover
from doctor.read.source import Source, hints
from doctor.scan import many_sources as runs
from doctor.scan.harvest import Harvest, merge
from doctor.scan.plan import Plan
from doctor.scan.pool import run_pool
from doctor.scan.progress import Progress
from doctor.scan.ranges import Range
from doctor.scan.scanner import Scanner
from doctor.scan.select import Select
from kb import pack
from kb.fragments import assign
from kb.in_use import cache_folder
from kb.knowledge import Knowledge
from kb.layers import Layer
from kb.model import Signal
from kb.sought import gathered

ROOT = Path(__file__).resolve().parent.parent.parent
KNOWN = "ImportError: libhccl.so: cannot open shared object file: No such file or directory\n"
COMMAND = [sys.executable, "-m", "doctor"]


def first(told: bytes) -> str:
    return str(json.loads(told)["findings"][0]["id"])


def reasons(told: bytes) -> str:
    return "\n".join(f"{s['path']}: {s['reason']}" for s in json.loads(told)["skipped"])


# No room


def limited(*args: str, size: int, **env: str) -> subprocess.CompletedProcess[bytes]:
    """The command in a process that may write files of `size` bytes at most: what a full disk does, without one.

    Python itself would leave half of what it compiles of its modules in this tree.
    """

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return subprocess.run(
        [*COMMAND, *args], capture_output=True, cwd=ROOT, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **env}, preexec_fn=limit, timeout=HANG_S, check=False
    )


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "a.log"
    path.write_text(KNOWN)
    return path


@pytest.fixture
def cache(tmp_path: Path, knowledge: Knowledge) -> Path:
    """A cache in which the built-in knowledge is compiled already; what a test adds to it is its own."""
    kept = cache_folder()
    assert kept is not None
    folder = tmp_path / "cache" / "npu-doctor"
    folder.mkdir(parents=True)
    for path in kept.glob("kb-*.pack"):
        shutil.copy(path, folder)
    return folder


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A folder of knowledge of the user's own, not compiled yet."""
    folder = tmp_path / "kb"
    folder.mkdir()
    (folder / "usr001_mine.yaml").write_text(MINE)
    return folder


def files(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.rglob("*") if p.is_file())


@pytest.mark.parametrize("size", [0, 512])  # less than the pack of one entry
def test_no_room_for_the_cache(size: int, log: Path, cache: Path, mine: Path) -> None:
    """The knowledge cannot be kept compiled: it is used all the same, and no half of it stays behind."""
    before = files(cache)
    log.write_text(KNOWN + "something of mine failed\n")
    done = limited("scan", str(log), "-f", "json", "--kb", str(mine), size=size, XDG_CACHE_HOME=str(cache.parent))
    assert done.returncode == 1, done.stderr
    assert {f["id"] for f in json.loads(done.stdout)["findings"]} >= {"ENV001", "USR001"}
    assert files(cache) == before


@pytest.mark.parametrize("form", ["json", "md", "jsonl", "text"])
def test_an_export_is_whole_or_not_at_all(form: str, log: Path, tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    """The report of yesterday survives the full disk of today, nothing half-written lies about, and the reason is told."""
    run("scan", str(log))  # the cache is there: only the export needs room
    out = tmp_path / f"report.{form}"
    out.write_text("yesterday")
    done = limited("scan", str(log), "-f", form, "-o", str(out), size=100)
    assert done.returncode == 2
    assert f"cannot write {out}: File too large" in done.stderr.decode()
    assert out.read_text() == "yesterday"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.log", out.name]


@pytest.mark.parametrize("args", [["issue", "{log}"], ["repro", "--op", "torch.abs", "--input", "float32[4]"]])
def test_other_exports_as_well(args: list[str], log: Path, tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    run("scan", str(log))
    done = limited(*(a.replace("{log}", str(log)) for a in args), "-o", str(tmp_path / "out.json"), size=10)
    assert done.returncode == 2, done.stderr
    assert b"cannot write" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["a.log"]


def test_a_disk_that_is_really_full(log: Path, checkout: Path, tmp_path: Path) -> None:
    """A file system of a few pages, full: cache, export and home are on it."""
    disk = tmp_path / "disk"
    disk.mkdir()
    script = (
        f"mount -t tmpfs -o size=16k none {disk} || exit 77; head -c 100000 /dev/zero > {disk}/fill 2>/dev/null; "
        f"{sys.executable} -m doctor scan {log} -f json; echo $? >&2; {sys.executable} -m doctor scan {log} -o {disk}/out.json; echo $? >&2; ls -A {disk} >&2"
    )
    if shutil.which("unshare") is None:
        pytest.skip("no unshare here")
    env = {**os.environ, "HOME": str(disk), "XDG_CACHE_HOME": str(disk / "cache")}
    done = subprocess.run(["unshare", "-Urm", "sh", "-c", script], capture_output=True, cwd=checkout, env=env, timeout=HANG_S, check=False)
    if done.returncode == 77 or b"unshare" in done.stderr:
        pytest.skip("no file system can be mounted here")
    assert first(done.stdout) == "ENV001"
    told = done.stderr.decode()
    assert told.startswith("1\n")
    assert "No space left on device" in told
    assert told.split("\n2\n")[1].split() == ["cache", "fill"] or told.split("\n2\n")[1].split() == ["fill"]


def test_standard_output_is_full(log: Path) -> None:
    """One line says so; no traceback, neither now nor at the end of the interpreter."""
    for args in (["scan", str(log)], ["issue", str(log)], ["--help"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([*COMMAND, *args], stdout=full, stderr=subprocess.PIPE, cwd=ROOT, check=False)
        assert done.returncode == 2, done.stderr
        assert b"cannot write to standard output: No space left on device" in done.stderr
        assert b"Exception" not in done.stderr
        assert b"internal" not in done.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams(closed: str, log: Path) -> None:
    """A caller that has closed a stream loses what goes there, nothing else."""
    done = subprocess.run(
        f"{sys.executable} -m doctor scan {log} -f json {closed}", shell=True, capture_output=True, cwd=ROOT, check=False
    )
    assert done.returncode == 1, done.stderr
    if ">&-" not in closed.replace("2>&-", ""):
        assert first(done.stdout) == "ENV001"
    assert b"Error" not in done.stderr


# Half-written files


def fail_with(number: int) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> Any:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS])
@pytest.mark.parametrize("step", ["replace", "open"])
def test_putting_a_file_in_place(number: int, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever step fails: the old file is whole, no other one is left, and the reason is the system's own."""
    path = tmp_path / "out.json"
    path.write_text("old")
    monkeypatch.setattr(output.os, step, fail_with(number))
    with pytest.raises(UsageError, match=os.strerror(number)):
        output.write("new", str(path))
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.json"]


def test_an_interrupt_while_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither an export nor the cache leaves a temporary file behind."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", stop)
    with pytest.raises(KeyboardInterrupt):
        output.put(tmp_path / "out.json", b"x")
    with pytest.raises(KeyboardInterrupt):
        pack.write_atomically(tmp_path / "kb.pack", b"x")
    assert list(tmp_path.iterdir()) == []


def test_a_file_keeps_its_nature(tmp_path: Path) -> None:
    """Its mode, the link that leads to it, and what is no regular file at all stay as they are."""
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    output.write("new", str(link))
    assert real.read_text() == "new"
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    output.write("x", os.devnull)
    assert not Path(os.devnull).is_file()
    output.write("secret", str(tmp_path / "map.json"), private=True)
    assert (tmp_path / "map.json").stat().st_mode & 0o777 == 0o600


# No permission


def test_what_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file, a folder and an archive without permission: the others are read, these are listed."""
    for name in ("a.log", "b.log", "c.log.gz"):
        (tmp_path / name).write_text(KNOWN)
    (tmp_path / "closed").mkdir()
    real_open, real_scan = open, os.scandir

    def deny(path: Any, *args: Any, **more: Any) -> Any:
        if str(path).endswith(("b.log", "c.log.gz")):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return real_open(path, *args, **more)

    def deny_folder(path: Any) -> Any:
        if str(path).endswith("closed"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return real_scan(path)

    monkeypatch.setattr("builtins.open", deny)
    monkeypatch.setattr(os, "scandir", deny_folder)
    found = discover.discover([str(tmp_path)])
    assert [Path(s.name).name for s in found.sources] == ["a.log"]
    assert {Path(s.path).name for s in found.skipped} == {"b.log", "c.log.gz", "closed"}
    assert all(s.reason == "no permission to read it" for s in found.skipped)


def test_somebody_without_a_home_or_a_name(log: Path, cache: Path, mine: Path) -> None:
    """A user whom the machine does not know, no HOME, a log that may not be read, a cache that may not be written: a restricted container."""
    closed = log.with_name("closed.log")
    closed.write_text(KNOWN)
    closed.chmod(0)
    before = files(cache)
    cache.chmod(0o500)
    nobody = ["unshare", "-U"]  # a namespace without users: root's privileges are gone, too
    if shutil.which("unshare") is None or subprocess.run([*nobody, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no namespace can be made here")
    env = {k: v for k, v in os.environ.items() if k not in ("HOME", "USER", "LOGNAME")} | {"XDG_CACHE_HOME": str(cache.parent)}
    done = subprocess.run(
        [*nobody, *COMMAND, "scan", str(log), str(closed), "-f", "json", "--redact", "--kb", str(mine)],
        capture_output=True, cwd=ROOT, env=env, timeout=HANG_S, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert first(done.stdout) == "ENV001"
    assert "no permission" in reasons(done.stdout)
    assert files(cache) == before


def test_no_place_for_a_cache_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable and no entry in the list of users: there is no cache, and that is no fault."""
    from doctor.answer import redact
    from kb import in_use

    for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "USER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", lambda uid: (_ for _ in ()).throw(KeyError(uid)))
    assert in_use.cache_folder() is None
    assert in_use.layer_folders() == []
    assert isinstance(discover.usual_places(), list)
    assert redact.Redactor().text("fine") == "fine"


# Bad sectors, interrupted calls


class Sick(io.RawIOBase):
    """A stream that gives so many bytes and then a fault, once or for ever."""

    def __init__(self, data: bytes, at: int, number: int) -> None:
        self._data, self._at, self._number, self._read = data, at, number, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if self._read >= self._at:
            raise OSError(self._number, os.strerror(self._number))
        piece = self._data[self._read : min(self._at, self._read + size)]
        self._read += len(piece)
        return piece


@pytest.mark.parametrize("at", [0, 10, 700_000])
@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.ENOMEM])
def test_a_sector_that_cannot_be_read(at: int, number: int, bench: Bench) -> None:
    """What stands before it is diagnosed, and how far reading came is told; the next file is read as if nothing was."""
    data = KNOWN.encode() + b"step done\n" * 100_000
    sick = Source("sick.log", lambda: Sick(data, at, number), len(data), hints("sick.log"))  # type: ignore[arg-type,return-value]
    harvests, interrupted = runs.scan_all([sick, discover.given_text(KNOWN, "well.log")], bench.knowledge, Select(), 1, "en")
    told = conclude(harvests, bench.knowledge)
    assert not interrupted
    assert [(s.path, s.reason) for s in told.skipped] == [("sick.log", f"reading stopped after {at} bytes: {os.strerror(number)}")]
    assert {h.place.path for h in told.roots[0].finding.hits} == ({"sick.log", "well.log"} if at > 100 else {"well.log"})


def test_files_of_the_kernel_are_not_read(log: Path, run) -> None:  # type: ignore[no-untyped-def]
    """Some of them refuse, some wait for ever, and none is a log; a folder of them is one row."""
    done = run("scan", str(log), "/proc/self/mem", "-f", "json")
    assert done.returncode == 1
    assert first(done.stdout) == "ENV001"
    assert "/proc/self/mem: files of the kernel" in reasons(done.stdout)
    done = run("scan", "/proc/self", str(log), "-f", "json")
    assert [s["path"] for s in json.loads(done.stdout)["skipped"]] == ["/proc/self"]


def test_calls_that_are_interrupted_go_on(tmp_path: Path) -> None:
    """Signals that end nothing come while workers read and while the parent waits: nothing is lost, nothing is read twice."""
    seen: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
    try:
        parent = os.getpid()

        def opened(name: str) -> Callable[[], Any]:
            def go() -> Any:
                for _ in range(20):
                    os.kill(parent, signal.SIGUSR1)
                    os.kill(os.getpid(), signal.SIGUSR1)
                return io.BytesIO(f"{name} drvMemcpy failed\n".encode())

            return go

        names = [f"{n}.log" for n in range(12)]
        done: dict[int, Harvest] = {}
        ranges = [Range(Source(n, opened(n), 40, hints(n)), 0, None) for n in names]
        run_pool(ranges, Scanner(PLAN, engine="plain"), 3, done, QUIET)
    finally:
        signal.signal(signal.SIGUSR1, before)
    found = merge(done.values())
    assert seen
    assert [h.place.path for h in found.hits] == sorted(names)
    assert not found.skipped


# Processes that die, or cannot be had

PLAN = Plan(gathered([assign(Signal("TST001/0", "text", "drvMemcpy failed", ("drvMemcpy failed",), 0, (), "", (), True))]))
QUIET = Progress(0, 0, "en")


def test_no_process_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a single worker this process reads everything itself."""
    monkeypatch.setattr(os, "fork", fail_with(errno.EAGAIN))
    handles = len(os.listdir("/proc/self/fd"))
    done: dict[int, Harvest] = {}
    ranges = [Range(discover.given_text(f"{n} drvMemcpy failed\n", f"{n}.log"), 0, None) for n in range(5)]
    run_pool(ranges, Scanner(PLAN, engine="plain"), 2, done, QUIET)
    assert len(merge(done.values()).hits) == 5
    assert len(os.listdir("/proc/self/fd")) == handles


def test_no_second_process_for_what_killed_the_first(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """What a worker died of is not tried in the process that has to answer."""
    real, made = os.fork, []

    def once() -> int:
        if made:
            raise OSError(errno.EAGAIN, "no")
        made.append(1)
        return real()

    def deadly() -> Any:
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(os, "fork", once)
    ranges = [Range(Source("bad.log", deadly, 90, hints("")), 0, None), Range(discover.given_text("drvMemcpy failed\n", "good.log"), 0, None)]
    done: dict[int, Harvest] = {}
    run_pool(ranges, Scanner(PLAN, engine="plain"), 1, done, QUIET)
    found = merge(done.values())
    assert [h.place.path for h in found.hits] == ["good.log"]
    assert [(s.path, "a worker process died" in s.reason) for s in found.skipped] == [("bad.log", True)]


@pytest.mark.parametrize("times", [1, 2])
def test_a_killed_worker_is_told(times: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """On the screen when its file is read again, in the report when it could not be; both name the signal."""

    def deadly() -> Any:
        mark = tmp_path / str(len(list(tmp_path.iterdir())))
        if len(list(tmp_path.iterdir())) < times:
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return io.BytesIO(b"drvMemcpy failed\n")

    done: dict[int, Harvest] = {}
    run_pool([Range(Source("a\x1b.log", deadly, 9, hints("")), 0, None)], Scanner(PLAN, engine="plain"), 1, done, QUIET)
    err = capfd.readouterr().err
    assert "a worker process died (signal 9) while reading a?.log: it is read again" in err
    assert [s.reason for s in done[0].skipped] == ["two worker processes died while reading it (signal 9)"] * (times - 1)
    assert len(done[0].hits) == 2 - times


# The cache


def damages(data: bytes) -> Iterator[bytes]:
    """Cut at every tenth, in its header, empty, longer than it was, and with a bit turned in each part."""
    size = len(data)
    yield from (data[: size * n // 10] for n in range(10))
    yield from (data[:20], data + b"more", b"\0" * size)
    for at in (10, size // 3, size - 5):
        yield data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]


def test_a_truncated_cache_of_the_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The automaton of the fastest engine is kept in the cache: a damaged one is made anew, never loaded."""
    pytest.importorskip("hyperscan")
    from doctor.scan import finder

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    words = [b"drvMemcpy", b"libhccl.so"]
    good = finder.best(words, 10 << 20, "digest", "hyperscan")(b"x libhccl.so y")
    place = next(iter(tmp_path.rglob("*.hs")))
    whole = place.read_bytes()
    for damaged in damages(whole):
        place.write_bytes(damaged)
        assert finder.best(words, 10 << 20, "digest", "hyperscan")(b"x libhccl.so y") == good
        assert place.read_bytes() == whole


def test_a_truncated_cache_of_the_knowledge(tmp_path: Path, mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However the pack is damaged, what is loaded is what the folder says."""
    from kb import in_use
    from kb.pack import ENTRIES

    folder = mine
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    right, problems = in_use.compiled(Layer("mine", folder))
    assert problems == []
    place = next(iter((tmp_path / "cache").rglob("*.pack")))
    whole = place.read_bytes()
    for damaged in damages(whole):
        place.write_bytes(damaged)
        told, problems = in_use.compiled(Layer("mine", folder))
        assert problems == []
        assert told.section("index") == right.section("index")
        assert told.item(ENTRIES, told.entries["USR001"]) == right.item(ENTRIES, right.entries["USR001"])


MINE = """\
code: USR001
severity: error
kind: user-code
title: {en: Mine, zh: 我的}
cause: {en: Mine., zh: 我的。}
evidence: {any: [{text: "something of mine failed"}]}
fixes: [{goal: resolve, title: {en: x, zh: 改}, commands: [{run: "true"}]}]
references: [{title: me}]
"""


def test_two_scans_share_the_cache(log: Path, cache: Path, mine: Path) -> None:
    """Several at once, none of which finds the layer compiled: each is right, and the cache is whole afterwards."""
    before = files(cache)
    env = {**os.environ, "XDG_CACHE_HOME": str(cache.parent)}
    command = [*COMMAND, "scan", "-", "-f", "json", "--kb", str(mine)]
    made = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, env=env)
        for _ in range(4)
    ]
    told = [one.communicate(b"something of mine failed\n", timeout=HANG_S) for one in made]
    assert [first(out) for out, _ in told] == ["USR001"] * 4, told
    new = {name for name in set(files(cache)) - set(before) if name.endswith(".pack")}
    assert len(new) == 1, new
    pack.Pack((cache / new.pop()).read_bytes()).check()


# The clock


def test_a_clock_that_goes_backwards(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of this machine: durations are never negative, and nothing depends on them."""
    now = [10_000.0]

    def backwards() -> float:
        now[0] -= 100
        return now[0]

    for name in ("time", "monotonic", "perf_counter"):
        monkeypatch.setattr(f"time.{name}", backwards)
    args = scan.arguments().parse_args(["x"])
    told = reading.look(args, bench.knowledge, (discover.given_text(KNOWN),), ())
    assert told.roots[0].finding.entry.code == "ENV001"
    assert told.seconds >= 0


PLOG = "[ERROR] RUNTIME(41233,python3.10):2026-03-02-{time} [{file}:1195]41413 {text}\n"
STEPS = (
    ("09:14:44.121.690", "device_error_core_proc.cc", "ProcessStarsCoreErrorInfo:The error from device(chipId:3, dieId:0), serial number is 4, there is an aivec error exception, core id is 11, error code = 0x800000, dump info: pc start: 0x1240c0018000"),
    ("{later}", "device_error_core_proc.cc", "ProcessStarsCoreErrorInfo:The extend info: errcode:(0x800000, 0, 0) errorStr: The DDR address of the MTE instruction is out of range. fixp_error0 info: 0x41"),
    ("{later}", "stream.cc", "synchronize stream failed, runtime result = 507015, stream=0x3c0d2f0"),
)  # fmt: skip


@pytest.mark.parametrize("later", ["09:14:44.122.330", "08:14:40.000.000", "00:00:00.000.000"])
def test_the_clock_of_the_logs_goes_backwards(later: str, bench: Bench) -> None:
    """Of the machine that failed: the same root, and its first sign of life is the earliest one that was written."""
    text = "".join(PLOG.format(time=t.format(later=later), file=f, text=x) for t, f, x in STEPS)
    told = conclude([bench._scanner.scan(discover.given_text(text, "plog-41233_1.log"))], bench.knowledge)
    assert [r.finding.entry.code for r in told.roots] == ["RTS001"]
    span = told.harvest.spans[0]
    assert (span.first or "") <= (span.last or "")
