"""Logs and the machine: what differs is told, advice is chosen by both, drafts and scripts name the machine."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from env import machines as m

from doctor.env import beside_logs
from doctor.env.facts import from_values
from doctor.findings.situation import Situation
from doctor.scan.harvest import Harvest

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
UNDEFINED = (
    "ImportError: /usr/local/python3.11/lib/python3.11/site-packages/torch_npu/lib/libtorch_npu.so: undefined symbol: _ZNK3c1010TensorImpl20is_contiguous_customENS_12MemoryFormatE\n"
)
HEAD = "CANN version: 8.0.RC2\ntorch-npu 2.7.1.post1\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A log of a version fault, and the tree of the machine."""
    (tmp_path / "train.log").write_text(HEAD + UNDEFINED)
    m.write(m.machine(named={"torch": "2.8.0", "torch-npu": "2.7.1.post1"}), tmp_path / "root")
    return tmp_path


def scanned(run: Run, place: Path, *more: str) -> dict[str, Any]:
    done = run("scan", str(place / "train.log"), "--with-env", "--root", str(place / "root"), "-f", "json", *more)
    assert b"Traceback" not in done.stderr, done.stderr
    made: dict[str, Any] = json.loads(done.stdout)
    return made


def test_a_version_fault_names_what_does_not_fit(place: Path, run: Run) -> None:
    """The finding of the log comes first and says which pair of this machine it is; the check follows with its fix."""
    made = scanned(run, place)
    codes = [f["id"] for f in made["findings"] if f["role"] == "root"]
    first = made["findings"][0]
    assert first["kind"] == "version-mismatch"
    assert "torch 2.8.0" in first["why"]["en"]
    assert "CHK301" in first["note"]["en"]
    assert codes.index(first["id"]) < codes.index("CHK301")


def test_what_differs_is_told(place: Path, run: Run) -> None:
    made = scanned(run, place)
    assert {"fact": "cann", "logs": "8.0.RC2", "machine": "8.2.RC1"} in made["environment"]["differences"]
    assert "CHK605" in {f["id"] for f in made["findings"]}
    text = run("scan", str(place / "train.log"), "--with-env", "--root", str(place / "root"), "--all").stdout.decode()
    assert "8.0.RC2 in the logs, 8.2.RC1 here" in text
    assert "The machine" in text


def test_the_machine_fills_what_the_logs_leave_out(place: Path, run: Run) -> None:
    """Every report carries the situation: of the logs where they speak, else of the machine."""
    facts = scanned(run, place)["situation"]["facts"]
    assert facts["cann"] == ["8.0.RC2"]
    assert facts["chip"] == ["910B3"]
    assert facts["driver"] == ["25.0.rc1.1"]


def test_without_the_option_nothing_is_looked_at(place: Path, run: Run) -> None:
    made = json.loads(run("scan", str(place / "train.log"), "-f", "json").stdout)
    assert "environment" not in made


def test_a_root_alone_is_a_slip(place: Path, run: Run) -> None:
    done = run("scan", str(place / "train.log"), "--root", str(place / "root"))
    assert done.returncode == 2
    assert b"--with-env" in done.stderr


def test_pseudonyms_cover_the_machine(place: Path, run: Run) -> None:
    """Names and addresses go, versions stay: they only look like addresses."""
    (place / "root/etc/hostname").write_text("secret-host-17\n")
    raw = run("scan", str(place / "train.log"), "--with-env", "--root", str(place / "root"), "-f", "json", "--redact").stdout
    assert b"secret-host-17" not in raw
    assert b"192.168.1.12" not in raw
    facts = json.loads(raw)["environment"]["facts"]
    assert facts["firmware.version"] == "7.7.0.1.231"
    alone = run("env", "--root", str(place / "root"), "--redact", "-f", "json").stdout
    assert b"secret-host-17" not in alone
    assert b"192.168.1.12" not in alone


@pytest.mark.parametrize(
    ("logs", "machine", "differs"),
    [
        ({"python": ("3.10",)}, {"python.version": "3.10.12"}, False),
        ({"torch": ("2.5.1",)}, {"python.torch": "2.5.1+cpu"}, False),
        ({"chip": ("910B",)}, {"chips.name": "910B3"}, False),
        ({"chip": ("910_9362",)}, {"chips.name": "910B3"}, True),
        ({"cann": ("8.2.rc1",)}, {"cann.version": "8.2.RC1"}, False),
        ({"cann": ("8.2.RC1", "8.0.0")}, {"cann.version": "8.0.0"}, False),
        ({"driver": ("24.1.rc2",)}, {"driver.version": "24.1.rc3"}, True),
        ({"torch": ("2.5.1",)}, {}, False),
    ],
)
def test_when_versions_are_the_same(logs: dict[str, tuple[str, ...]], machine: dict[str, str], differs: bool) -> None:
    assert bool(beside_logs.apart(Situation(logs), Harvest(), from_values(machine))) is differs


def test_variables_of_the_logs_are_compared(tmp_path: Path, run: Run) -> None:
    (tmp_path / "a.log").write_text("[INFO] HCCL(860,python):2025-12-31-07:42:50.708.897 [externalinput.cc:333] [860]HCCL_EXEC_TIMEOUT set by environment to [300]s\n")
    root = m.write({**m.machine(), **m.variables("8.2.RC1", "HCCL_EXEC_TIMEOUT=1800")}, tmp_path / "root")
    made = json.loads(run("scan", str(tmp_path / "a.log"), "--with-env", "--root", str(root), "-f", "json").stdout)
    assert {"fact": "HCCL_EXEC_TIMEOUT", "logs": "300", "machine": "1800"} in made["environment"]["differences"]


def test_a_draft_names_the_machine(place: Path, run: Run) -> None:
    """That of the node which wrote the logs; without the option, this machine only when it has NPUs."""
    run("env", "--root", str(place / "root"), "-o", str(place / "node.json"))
    text = run("issue", str(place / "train.log"), "--env", str(place / "node.json")).stdout.decode()
    assert "not in the logs, please add" not in text  # the machine has told it
    assert "- driver.version: 25.0.rc1.1" in text
    assert "**CHK301**" in text
    assert "driver.version" not in run("issue", str(place / "train.log"), "--env", str(place / "node.json"), "--no-env").stdout.decode()
    assert run("issue", str(place / "train.log"), "--env", "/no/such.json").returncode == 2


def test_a_script_names_the_machine(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from doctor.commands import repro

    looked = from_values({"cann.installed": "8.2.RC1", "cann.version": "8.2.RC1", "chips.name": "910B3", "chips.count": "8"})
    monkeypatch.setattr("doctor.env.look_at.machine", lambda asked, known: looked)
    assert repro.main(["--op", "torch.max", "--input", "int64[10,20]", "--attr", "dim=1"]) == 0
    assert "written on: 8 x 910B3, CANN 8.2.RC1" in capsys.readouterr().out
