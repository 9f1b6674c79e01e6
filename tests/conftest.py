"""What tests share: the built-in knowledge, a scanner over all of it, and the command line run for real."""

from __future__ import annotations

import functools
import gc
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from tests_support import KEPT, Concluded, Diagnosed, built_in_entries

from doctor.answer.report import report
from doctor.judge.diagnosis import Diagnosis, conclude
from doctor.judge.proof import Bench
from doctor.read import discover
from doctor.scan.harvest import Harvest
from doctor.scan.scanner import Scanner
from kb import build
from kb.in_use import cache_folder
from kb.knowledge import Knowledge, load
from kb.layers import HERE
from kb.model import Entry, Sample
from tests import starts

ROOT = Path(__file__).resolve().parent.parent
Run = Callable[..., "subprocess.CompletedProcess[bytes]"]

# A suite that a script starts in the background ignores Ctrl-C, and so would every command that it tries.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same code gives the same verdict, on a busy machine too: no example has a time. NPU_DOCTOR_EXPLORE=1 draws anew in every run.
settings.register_profile("same", derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("explore" if os.environ.get("NPU_DOCTOR_EXPLORE") else "same")


def pytest_configure(config: pytest.Config) -> None:
    """Tests neither see nor change the developer's own knowledge and caches; workers share the home of the run that starts them."""
    if hasattr(config, "workerinput"):
        return
    home = tempfile.mkdtemp(prefix="npu-doctor-home-")
    config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))
    os.environ["HOME"] = home
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
    if config.option.collectonly:
        return
    kept = config.cache.mkdir("knowledge") if hasattr(config, "cache") else None  # type: ignore[union-attr]
    if kept is not None:
        os.environ[KEPT] = str(config.cache.mkdir("entries"))  # type: ignore[union-attr]
    _compile_once(kept)


WAITING = ("tests/fleet/", "tests/release/", "tests/doctor/test_pages.py", "tests/agents/test_pages.py", "tests/hang/")


EVERY_INCIDENT = ("tests/test_incidents.py", "tests/agents/test_brief.py", "tests/agents/test_bundle.py", "tests/metamorphic/", "tests/doctor/test_redact_harm.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What waits for servers, nodes and other programs comes first: at the end one worker would wait for it, and the others for that one.

    Then what asks for the diagnosis of every incident, so that one worker makes them.
    """
    items.sort(key=lambda item: (not item.nodeid.startswith(WAITING), not item.nodeid.startswith(EVERY_INCIDENT)))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Nothing of what is collected is garbage: looking for some took a seventh of the time, in every worker."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """What was collected stays to the end: no search for garbage goes through these 400 000 objects again."""
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Neighbours stay with one worker, which makes what they share once; who is ready first takes over half of what is left."""
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


_for_torch: list[str] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """What a run without PyTorch skips is noted for whoever runs it with PyTorch (NPU_DOCTOR_FOR_TORCH names the file)."""
    if report.skipped and "PyTorch is not installed" in str(report.longrepr) and report.nodeid not in _for_torch:
        _for_torch.append(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    starts.close()
    noted = os.environ.get("NPU_DOCTOR_FOR_TORCH")
    if noted and not hasattr(session.config, "workerinput"):
        Path(noted).write_text("".join(f"{node}\n" for node in _for_torch), encoding="utf-8")


def _compile_once(kept: Path | None) -> None:
    """The knowledge is compiled before any worker or command asks for it, and only when it has changed since the last run."""
    cache = cache_folder()
    assert cache is not None
    if kept is not None:
        shutil.copytree(kept, cache)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "read_entries", functools.cache(build.read_entries))  # what is compiled is what tests look at: read once
        built_in_entries()
        load()
    if kept is not None:
        shutil.copytree(cache, kept, dirs_exist_ok=True)


@pytest.fixture(scope="session")
def knowledge() -> Knowledge:
    return load()


@pytest.fixture(scope="session")
def entries() -> tuple[Entry, ...]:
    return built_in_entries()[0]


class Harvested(Bench):
    """Scans each sample once, however many tests look at what it gives."""

    def __init__(self, knowledge: Knowledge) -> None:
        super().__init__(knowledge)
        self._kept: dict[Sample, Harvest] = {}

    def harvest(self, sample: Sample) -> Harvest:
        if sample not in self._kept:
            self._kept[sample] = super().harvest(sample)
        return self._kept[sample]


@pytest.fixture(scope="session")
def bench(knowledge: Knowledge) -> Bench:
    return Harvested(knowledge)


@pytest.fixture(scope="session")
def scanner(bench: Bench) -> Scanner:
    """The one scanner over the whole knowledge: making its plan costs more than most scans."""
    return bench._scanner


@pytest.fixture(scope="session")
def concluded(scanner: Scanner, knowledge: Knowledge) -> Concluded:
    """The diagnosis of an incident, made once for all tests."""

    @functools.cache
    def made(case: Path) -> Diagnosis:
        found = discover.discover([str(next(case.glob("input.*")))])
        return conclude([scanner.scan(source) for source in found.sources], knowledge)

    return made


@pytest.fixture(scope="session")
def diagnosed(concluded: Concluded, knowledge: Knowledge) -> Diagnosed:
    """Its report, made once as well."""
    return functools.cache(lambda case: report(concluded(case), knowledge))


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout that knows one entry: `run(..., cwd=checkout)` is the real command, and compiles its knowledge in no time."""
    root = tmp_path_factory.mktemp("checkout")
    for room in ("doctor", "parsers"):
        (root / room).symlink_to(ROOT / room)
    shutil.copytree(HERE, root / "kb", ignore=shutil.ignore_patterns("codes", "cards", "entries", "demo", "repro", "__pycache__", "_compiled"))
    (only,) = HERE.glob("entries/*/env001_*.yaml")
    (root / "kb" / "entries").mkdir()
    shutil.copy(only, root / "kb" / "entries")
    return root


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """The command in a process of its own: `run("scan", path, stdin=b"...", LC_ALL="C")`."""

    def call(*args: str, stdin: bytes = b"", cwd: Path = ROOT, **env: str) -> subprocess.CompletedProcess[bytes]:
        return starts.command(args, stdin, cwd, {**os.environ, **env})

    return call
