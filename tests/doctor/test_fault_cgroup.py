"""A memory limit of a cgroup, as containers and batch systems set it: made for real where this user may make one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests_support import HANG_S

ROOT = Path(__file__).resolve().parents[2]
LOG = "ImportError: libhccl.so: cannot open shared object file: No such file or directory\n"
# Of version 2, where the controller is handed down to the group, and of version 1.
LIMITS = ("memory.max", "memory.limit_in_bytes")


def _own() -> Iterator[Path]:
    """The folders of the groups that this process is in."""
    for row in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = row.split(":", 2)
        for root in ("/sys/fs/cgroup", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified"):
            if controllers in ("", "memory") and (found := Path(root + path)).is_dir():
                yield found


@pytest.fixture
def limited(tmp_path: Path) -> Iterator[Path]:
    """A group of its own beneath that of this process, which is gone afterwards."""
    for parent in _own() if Path("/proc/self/cgroup").exists() else ():
        group = parent / f"npu-doctor-{os.getpid()}-{tmp_path.name[-20:]}"
        try:
            group.mkdir()
        except OSError:
            continue
        if any((group / name).exists() for name in LIMITS):
            yield group
            group.rmdir()
            return
        group.rmdir()
    pytest.skip("no cgroup with a limit on memory can be made here")


def within(group: Path, megabytes: int, *words: str) -> subprocess.CompletedProcess[bytes]:
    """A command that may have so much memory, with all that it starts."""
    limit = next(group / name for name in LIMITS if (group / name).exists())
    limit.write_text(str(megabytes << 20))
    enter = ["sh", "-c", 'echo $$ > "$0"; exec "$@"', str(group / "cgroup.procs")]
    return subprocess.run([*enter, sys.executable, *words], cwd=ROOT, capture_output=True, check=False, timeout=HANG_S)


def test_the_limit_is_a_real_one(limited: Path) -> None:
    """Else the test below would prove nothing."""
    assert within(limited, 20, "-c", "x = bytearray(1 << 28)").returncode == -signal.SIGKILL


@pytest.mark.parametrize(("megabytes", "jobs"), [(20, 1), (64, 1), (70, 2), (160, 1)])
def test_an_answer_or_a_death_that_is_told(megabytes: int, jobs: int, limited: Path, tmp_path: Path) -> None:
    """Enough memory: the answer. Too little: the kernel kills, or it is said; never a clean bill of health, never half a report."""
    logs, out = tmp_path / "logs", tmp_path / "out.json"
    logs.mkdir()
    for name in ("a.log", "b.log"):
        (logs / name).write_text("[INFO] step done\n" * 200_000 + LOG)
    done = within(limited, megabytes, "-m", "doctor", "scan", str(logs), f"-j{jobs}", "-f", "json", "-o", str(out))
    assert b"Traceback" not in done.stderr
    assert done.returncode in (-signal.SIGKILL, 1, 3, 4)
    report = json.loads(out.read_text()) if out.exists() else {}
    if done.returncode == 1:
        assert report["findings"][0]["id"] == "ENV001"
    else:
        assert megabytes < 160
        assert not report or report["skipped"]
