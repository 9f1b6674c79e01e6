"""What tests share: the built-in knowledge, a scanner over all of it, and the command line run for real."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from doctor.judge.proof import Bench
from kb.knowledge import Knowledge, load
from kb.layers import HERE, Layer
from kb.model import Entry

ROOT = Path(__file__).resolve().parent.parent
Run = Callable[..., "subprocess.CompletedProcess[bytes]"]

# A suite that a script starts in the background ignores Ctrl-C, and so would every command that it tries.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same code gives the same verdict, on a busy machine too. NPU_DOCTOR_EXPLORE=1 draws anew in every run.
settings.register_profile("same", derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("explore" if os.environ.get("NPU_DOCTOR_EXPLORE") else "same")


@pytest.fixture(scope="session", autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests neither see nor change the developer's own knowledge and caches."""
    home = tmp_path_factory.getbasetemp().parent / "home"
    home.mkdir(exist_ok=True)
    os.environ["HOME"] = str(home)
    for name in (
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "NPU_DOCTOR_LANG",
        "ASCEND_PROCESS_LOG_PATH",
        "ASCEND_WORK_PATH",
        "NO_COLOR",
        "FORCE_COLOR",
    ):
        os.environ.pop(name, None)


@pytest.fixture(scope="session")
def knowledge() -> Knowledge:
    return load()


@pytest.fixture(scope="session")
def entries() -> list[Entry]:
    from kb.build import read_entries

    return read_entries(Layer("built-in", HERE))[0]


@pytest.fixture(scope="session")
def bench(knowledge: Knowledge) -> Bench:
    return Bench(knowledge)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """The real command in a process of its own: `run("scan", path, stdin=b"...", LC_ALL="C")`."""

    def call(*args: str, stdin: bytes = b"", timeout: float = 180, **env: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "doctor", *args],
            input=stdin,
            capture_output=True,
            timeout=timeout,
            cwd=ROOT,
            env={**os.environ, **env},
            check=False,
        )

    return call
