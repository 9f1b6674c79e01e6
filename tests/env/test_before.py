"""What would have to change before something is installed, with commands; a lock file counts as installed."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from env import machines as m

from doctor.env import before
from doctor.env.facts import Machine, from_values
from kb.knowledge import Knowledge

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
HOST = {"machine.arch": "aarch64", "chips.family": "A2", "driver.version": "25.3.rc1", "python.version": "3.11.6"}


def changes(wanted: list[str], values: dict[str, str], knowledge: Knowledge) -> dict[str, before.Change]:
    (plan,) = before.plans(before.requirements(wanted), machine(values), knowledge.compat())
    assert plan.known
    return {c.part: c for c in plan.changes}


def machine(values: dict[str, str]) -> Machine:
    return from_values({**HOST, **values})


def test_an_old_machine(knowledge: Knowledge) -> None:
    """The right torch, torch_npu, vLLM and CANN for the machine's chip and processor, in the order in which to install them."""
    found = changes(["vllm-ascend==0.11.0"], {"cann.version": "8.1.RC1", "python.torch": "2.5.1", "python.torch_npu": "2.5.1", "python.vllm": "0.9.1"}, knowledge)
    assert list(found) == ["cann", "torch", "torch_npu", "vllm"]
    assert found["cann"].commands == (
        "bash Ascend-cann-toolkit_8.3.RC2_linux-aarch64.run --install",
        "bash Ascend-cann-kernels-910b_8.3.RC2_linux-aarch64.run --install",
    )
    assert (found["torch"].has, found["torch"].wants) == ("2.5.1", "2.7.1")
    assert found["vllm"].commands == ("VLLM_TARGET_DEVICE=empty pip install vllm==0.11.0",)


def test_a_machine_that_fits(knowledge: Knowledge) -> None:
    """A later patch of CANN and a later post-release are no reason to change."""
    values = {"cann.version": "8.3.RC1", "python.torch": "2.7.1+cpu", "python.torch_npu": "2.7.1.post2", "python.vllm": "0.11.0+empty"}
    assert changes(["vllm-ascend==0.11.0"], values, knowledge) == {}


def test_python_and_driver(knowledge: Knowledge) -> None:
    values = {"python.version": "3.8.18", "driver.version": "23.0.3", "cann.version": "8.5.0", "chips.family": "A3"}
    found = changes(["vllm-ascend==0.13.0"], values, knowledge)
    assert found["python"].wants == ">=3.10,<3.12"
    assert found["driver"].has == "23.0.3"
    assert found["driver"].commands == ()


def test_the_newest_that_a_range_allows(knowledge: Knowledge) -> None:
    (plan,) = before.plans(before.requirements(["vllm-ascend>=0.9,<0.10"]), machine({}), knowledge.compat())
    assert plan.what == "vllm-ascend 0.9.2rc1"


def test_torch_for_the_cann_that_is_there(knowledge: Knowledge) -> None:
    """Of several torch_npu for one torch the one of the installed CANN."""
    found = changes(["torch==2.7.1"], {"cann.version": "8.5.0"}, knowledge)
    assert found["torch_npu"].wants == "2.7.1.post2"
    assert "cann" not in found


def test_what_nobody_published(knowledge: Knowledge) -> None:
    (plan,) = before.plans(before.requirements(["vllm-ascend==99.0"]), machine({}), knowledge.compat())
    assert (plan.known, plan.changes) == (False, ())
    assert "not known" in before.text([plan], "en")
    assert "未知" in before.text([plan], "zh")


def test_a_lock_file(tmp_path: Path, knowledge: Knowledge) -> None:
    """Its own pins count as installed; the one that does not fit is named with its line."""
    lock = tmp_path / "requirements.txt"
    lock.write_text("# lock\n--index-url https://x/simple\nvllm-ascend==0.11.0 \\\n    --hash=sha256:abc\nvllm==0.11.0\ntorch==2.8.0  # newer\ntorch-npu==2.7.1.post1 ; python_version > '3'\nrequests==2.0\n-e .\n")
    wanted = before.read_file(str(lock))
    plans = {p.what: p for p in before.plans(wanted, machine({"cann.version": "8.3.RC2"}), knowledge.compat())}
    (change,) = plans["vllm-ascend 0.11.0"].changes
    assert (change.part, change.has, change.wants, change.where) == ("torch", "2.8.0", "2.7.1", f"{lock}:6")


@pytest.mark.parametrize(
    "text",
    [
        '[[package]]\nname = "torch"\nversion = "2.8.0"\nsource = { registry = "x" }\n\n[[package]]\nname = "vllm-ascend"\nversion = "0.11.0"\n',
        '[[packages]]\nname = "torch"\nversion = "2.8.0"\n[[packages]]\nname = "vllm-ascend"\nversion = "0.11.0"\n',
        "name: npu\ndependencies:\n  - python=3.11\n  - pip:\n    - torch==2.8.0\n    - vllm-ascend==0.11.0\n",
    ],
    ids=["uv.lock", "pylock.toml", "environment.yml"],
)
def test_locks_of_other_tools(text: str, tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.write_text(text)
    found = {r.name: r.exact for r in before.read_file(str(lock))}
    assert (found["torch"], found["vllm-ascend"]) == ("2.8.0", "0.11.0")


def test_the_command(tmp_path: Path, run: Run) -> None:
    root = m.write(m.machine(named={"torch": "2.5.1", "torch-npu": "2.5.1"}), tmp_path / "root")
    done = run("env", "check", "--for", "vllm-ascend==0.11.0", "--root", str(root))
    assert done.returncode == 1
    assert b"has 8.2.RC1, wants 8.3.RC2" in done.stdout
    assert b"pip install torch==2.7.1" in done.stdout
    done = run("env", "check", "--for", "vllm-ascend==0.11.0", "--root", str(root), "--lang", "zh", "-f", "json")
    assert json.loads(done.stdout)["plans"][0]["known"]
    assert run("env", "check", "--for", "unheard-of==1", "--root", str(root)).returncode == 3
    (tmp_path / "r.txt").write_bytes(b"\0\1")
    assert b"no requirements file" in run("env", "check", "--requirements", str(tmp_path / "r.txt")).stderr
