"""The Python interface: typed names that stay, examples that run, and a diagnosis when the wrapped code dies."""

from __future__ import annotations

import doctest
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests_support import HANG_S, fits_schema

import doctor
import doctor.api
import doctor.wrapped
from doctor import WatchingCallback, brief, diagnose, env, explain, report, watching
from doctor.base import tokens
from doctor.render import fingerprint

ROOT = Path(__file__).resolve().parent.parent.parent
OOM = "NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 61 GiB total capacity)"


@pytest.mark.parametrize("module", [doctor.api, doctor.wrapped, tokens, fingerprint], ids=lambda m: m.__name__)
def test_the_examples_run(module: object) -> None:
    done = doctest.testmod(module)  # type: ignore[arg-type]
    assert done.attempted > 0
    assert done.failed == 0


def test_the_names_are_those_that_are_promised() -> None:
    assert set(doctor.__all__) >= {"diagnose", "explain", "env", "brief", "report", "watching", "WatchingCallback"}
    assert all(callable(getattr(doctor, name)) for name in doctor.__all__)
    with pytest.raises(AttributeError):
        _ = doctor.nothing_of_that_name


@pytest.mark.parametrize("first", ["import doctor.env.report", "from doctor import diagnose", "import doctor.wrapped", "pass"])
def test_a_name_is_the_function_whatever_was_imported_before(first: str) -> None:
    """A room has the name of a function: both can be had, in any order."""
    code = f"{first}\nfrom doctor import env, watching, brief\nfrom doctor.env import report\nassert env(commands=False).verdict, env\nwith watching(): pass"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, timeout=HANG_S, check=False)
    assert done.returncode == 0, done.stderr


def test_what_is_answered(tmp_path: Path) -> None:
    """A path, several, a text; the report fits its schema; a budget out of range is a ValueError."""
    log = tmp_path / "a.log"
    log.write_text(f"hostname: box-17\nRuntimeError: {OOM}\n")
    assert diagnose(log).roots[0].finding.entry.code == diagnose([str(log)]).roots[0].finding.entry.code
    told = brief([log], budget=600)
    assert "a.log:2\n> RuntimeError: NPU out of memory" in told
    assert "memory" in brief(log, lang="zh", redact=False)
    schema = json.loads((ROOT / "doctor" / "answer" / "report.schema.json").read_text(encoding="utf-8"))
    fits_schema(report(log), schema)
    with pytest.raises(ValueError, match="budget"):
        brief(log, budget=5)
    assert explain("RTS001", lang="zh").data["entry"]["id"] == "RTS001"
    assert diagnose([tmp_path / "gone.log"]).skipped
    assert env(str(tmp_path)).verdict == "inconclusive"


def test_the_diagnosis_of_what_died(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exception goes on; the process's own plog is read, others are not; a rank that is not the first has one line."""
    plog = tmp_path / "debug" / "plog"
    plog.mkdir(parents=True)
    monkeypatch.setenv("ASCEND_PROCESS_LOG_PATH", str(tmp_path))
    out = io.StringIO()

    def train() -> None:
        (plog / f"plog-{os.getpid()}_20260302090118103.log").write_text(
            (ROOT / "kb/demo/ascend/log/debug/plog/plog-41233_20260302090118103.log").read_text().replace("41233", str(os.getpid()))
        )
        (plog / "plog-1_20260302090118103.log").write_text("ImportError: libhccl.so: cannot open shared object file: No such file or directory\n")
        raise RuntimeError("aclrtSynchronizeStream failed, error code is 507015")

    with pytest.raises(RuntimeError), watching(out=out, lang="en"):
        train()
    assert "RTS001" in out.getvalue()
    assert "ENV001" not in out.getvalue()
    monkeypatch.setenv("LOCAL_RANK", "3")
    monkeypatch.setenv("RANK", "11")
    one = io.StringIO()
    with pytest.raises(RuntimeError), watching(out=one, lang="en"):
        raise RuntimeError(OOM)
    assert one.getvalue().startswith("npu-doctor: rank 11: ")
    assert one.getvalue().count("\n") <= 2


def test_what_ends_in_order_or_by_hand_is_left_alone() -> None:
    out = io.StringIO()
    with watching(out=out):
        pass
    for left in (KeyboardInterrupt, SystemExit):
        with pytest.raises(left), watching(out=out):
            raise left
    assert out.getvalue() == ""


def test_a_diagnosis_that_fails_hides_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """The program's own exception is what its caller gets."""

    class Full(io.StringIO):
        def write(self, _: str) -> int:
            raise OSError(28, "No space left on device")

    with pytest.raises(RuntimeError, match="memory"), watching(out=Full()):
        raise RuntimeError(OOM)
    assert "No space left" in capsys.readouterr().err


TRAINER = f"""
import sys
from doctor import WatchingCallback
class Handler:
    def __init__(self, callbacks): self.callbacks = callbacks
    def call(self, event): return [getattr(c, event)("args", "state", "control", model=None) for c in self.callbacks]
handler = Handler([WatchingCallback(lang="en")])
for event in ("on_init_end", "on_train_begin", "on_epoch_begin", "on_step_begin", "on_step_end", "on_event_of_a_later_version"):
    assert handler.call(event) == [None]
if sys.argv[1] == "dies":
    raise RuntimeError({OOM!r})
handler.call("on_train_end")
assert sys.excepthook is sys.__excepthook__
assert not {{"doctor.api", "doctor.judge.diagnosis", "kb.knowledge"}} & set(sys.modules), "loaded too early"
raise RuntimeError("after the training: {OOM}")
"""


def test_a_trainer_that_dies(tmp_path: Path) -> None:
    """From the beginning of the training to its end, behind the traceback; nothing is loaded before."""
    (tmp_path / "train.py").write_text(TRAINER)

    def stderr(how: str) -> str:
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.run([sys.executable, "train.py", how], cwd=tmp_path, env=env, capture_output=True, timeout=HANG_S, check=False, text=True).stderr

    died = stderr("dies")
    assert died.index("Traceback") < died.index("MEM")
    assert "ERROR" in died
    after = stderr("lives")
    assert "after the training" in after
    assert "loaded too early" not in after
    assert "fix" not in after
    with pytest.raises(AttributeError):
        _ = WatchingCallback().nothing
