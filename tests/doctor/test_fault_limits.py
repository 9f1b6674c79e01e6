"""Interrupts before anything has begun, and machines with little to give.

Not tried: interrupts before Python itself has started, which are Python's own. Memory limits of a cgroup are in test_fault_cgroup.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from tests_support import HANG_S

ROOT = Path(__file__).resolve().parents[2]
LOG = "ImportError: libhccl.so: cannot open shared object file: No such file or directory\n"

# Ctrl-C falls while this module is being looked for.
EARLY = """
import os, signal, sys
class Now:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
        return None
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Now())
from doctor.__main__ import main
sys.exit(main(["scan", {log!r}]))
"""


@pytest.mark.parametrize(
    "name", ["doctor.base", "doctor.base.exits", "doctor.base.interrupts", "doctor.cli", "doctor.base.words", "doctor.commands.scan", "kb.knowledge", "kb.model", "doctor.scan.plan"]
)
def test_an_interrupt_in_the_first_moments(tmp_path: Path, name: str) -> None:
    """While modules are still being imported: one line, no traceback of Python, and the exit code of an interrupt."""
    log = tmp_path / "a.log"
    log.write_text(LOG)
    done = subprocess.run([sys.executable, "-c", EARLY.format(name=name, log=str(log))], cwd=ROOT, capture_output=True, check=False, timeout=HANG_S)
    assert b"Traceback" not in done.stderr
    assert b"interrupted" in done.stderr
    assert done.returncode == 130


@pytest.mark.parametrize("megabytes", [60, 120, 400])
def test_little_memory(tmp_path: Path, megabytes: int) -> None:
    """An answer, or one line that says what is missing: never a traceback, never a hang, never a clean bill of health."""
    log = tmp_path / "a.log"
    log.write_text("[INFO] step done\n" * 200_000 + LOG)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    done = subprocess.run(
        [sys.executable, "-m", "doctor", "scan", str(log), "-j1", "-f", "json"], cwd=ROOT, capture_output=True, check=False, timeout=HANG_S, preexec_fn=limit
    )
    if b"Fatal Python error" in done.stderr or (done.returncode != 1 and b"doctor" not in done.stderr):
        pytest.skip("Python itself does not start in so little")
    assert done.returncode in (1, 3, 4), done.stderr
    if done.returncode == 1:
        assert json.loads(done.stdout)["findings"][0]["id"] == "ENV001"
    else:
        assert b"Traceback" not in done.stderr
        assert b"emory" in done.stderr + done.stdout
