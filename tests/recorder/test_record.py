"""The recorder on real programs: exact operators, unchanged results, and something left whatever ends the process."""

from __future__ import annotations

import ast
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests_support import HANG_S

from doctor import record
from doctor.repro import choose
from doctor.repro.build import script
from doctor.repro.choose import Wish
from doctor.repro.extract import operators
from doctor.repro.operator_table import load

HERE = Path(record.__file__).parent
pytest.importorskip("torch", reason="PyTorch is not installed: nothing to record")
pytestmark = pytest.mark.slow  # every test starts programs that import torch

MODEL = """
import sys, torch
from torch import nn
torch.manual_seed(0); torch.set_num_threads(1)
layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
model = nn.Sequential(nn.Embedding(20, 16), nn.TransformerEncoder(layer, 1), nn.Linear(16, 20))
optimizer = torch.optim.AdamW(model.parameters())
inputs, targets = torch.randint(0, 20, (2, 5)), torch.randint(0, 20, (2, 5))
for _ in range(2):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
    loss.backward()
    optimizer.step()
"""


def recorded(
    tmp_path: Path, program: str, *arguments: str, options: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "program.py"
    path.write_text(program, encoding="utf-8")
    call = [sys.executable, "-m", "record", "--out", str(tmp_path / "out"), *options, str(path), *arguments]
    return alone(call, tmp_path)


def alone(call: list[str], where: Path) -> subprocess.CompletedProcess[str]:
    """With the recorder's folder alone on the path: it must work where npu-doctor is not installed."""
    copied = where / "copied"
    if not copied.exists():
        shutil.copytree(HERE, copied / "record")
    environment = {**os.environ, "PYTHONPATH": str(copied)}
    return subprocess.run(call, capture_output=True, text=True, timeout=HANG_S, check=False, cwd=where, env=environment)


def left(tmp_path: Path, suffix: str) -> list[Path]:
    return sorted((tmp_path / "out").glob(f"ops-*{suffix}"))


def the_record(tmp_path: Path) -> dict[str, Any]:
    (path,) = left(tmp_path, ".json")
    made: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return made


def reproduce(text: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    (one, *_) = operators(text)
    path = tmp_path / "repro.py"
    path.write_text(script(choose.request(one, load(), Wish())).text, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-I", str(path), "--device", "cpu"], capture_output=True, text=True, timeout=HANG_S, check=False
    )


def test_it_stands_alone() -> None:
    """Nothing is imported but the standard library, itself, and torch when it is there; Python 3.8 can read it."""
    for path in HERE.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))
        imported = {
            (alias.name if isinstance(node, ast.Import) else node.module or "").partition(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and not node.level)
            for alias in node.names
        }
        assert imported <= {*sys.stdlib_module_names, "torch"}, path.name


def test_training_fails_in_an_operator_and_the_script_reproduces_it(tmp_path: Path) -> None:
    """Forward, backward and optimizer are recorded; the index that was too large is in the script, and fails again."""
    done = recorded(tmp_path, MODEL + "\nmodel[0](torch.tensor([1, 27, 3]))\n", options=("--last", "4096"))
    assert done.returncode == 1
    assert "IndexError: index out of range in self" in done.stderr
    made = the_record(tmp_path)
    names = [entry["op"] for entry in made["operators"]]
    assert {
        "aten.embedding.default",
        "aten.addmm.default",
        "aten.native_layer_norm_backward.default",
        "aten.addcdiv_.default",
    } <= set(names)
    table, index = (arg["tensor"] for arg in made["failed"]["args"])
    assert (table["dtype"], table["shape"], index["dtype"], index["shape"]) == ("float32", [20, 16], "int64", [3])
    assert (index["low"], index["high"]) == (1, 28)
    again = reproduce(json.dumps(made), tmp_path)
    assert (again.returncode, "the same error as in the log" in again.stdout) == (2, True), again.stdout


def test_the_context_is_one_script(tmp_path: Path) -> None:
    recorded(tmp_path, MODEL + "\nmodel[0](torch.tensor([1, 27, 3]))\n")
    (one,) = operators(json.dumps(the_record(tmp_path)))
    text = script(choose.request(one, load(), Wish("stream_bisect", context=40))).text
    path = tmp_path / "context.py"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", str(path), "--device", "cpu", "--sync", "each"],
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
    )
    assert (done.returncode, "step 39 torch.ops.aten.embedding.default raises" in done.stdout) == (2, True), done.stdout


def test_strides_offsets_and_scalars_are_exact(tmp_path: Path) -> None:
    recorded(
        tmp_path, "import torch\nx = torch.arange(24.).reshape(4, 6).t()[1:]\ntorch.add(x, torch.ones(7), alpha=2.5)\n"
    )
    failed = the_record(tmp_path)["failed"]
    assert {k: v for k, v in failed["args"][0]["tensor"].items() if k != "id"} == {
        "dtype": "float32",
        "shape": [5, 4],
        "stride": [1, 6],
        "offset": 1,
    }
    assert failed["kwargs"] == {"alpha": 2.5}


def test_a_check_in_python_is_reproduced_from_the_frame(tmp_path: Path) -> None:
    """No operator ran: the values that the failing line names make the call."""
    program = "import torch\nimport torch.nn.functional as F\ndef f(x, groups):\n    return F.group_norm(\n        x, groups)\nf(torch.ones(2, 7, 3), 4)\n"
    done = recorded(tmp_path, program)
    assert done.returncode == 1
    (one,) = operators(json.dumps(the_record(tmp_path)))
    assert one.call is not None
    again = reproduce(json.dumps(the_record(tmp_path)), tmp_path)
    assert (again.returncode, "the same error as in the log" in again.stdout) == (2, True), again.stdout


def test_a_program_that_succeeds_leaves_nothing(tmp_path: Path) -> None:
    done = recorded(tmp_path, MODEL + "\nprint(sys.argv, __name__)\n", "a", "-b")
    assert (0, f"['{tmp_path}/program.py', 'a', '-b'] __main__\n", "") == (done.returncode, done.stdout, done.stderr)
    assert list((tmp_path / "out").iterdir()) == []


def test_an_error_that_the_program_handles_leaves_nothing(tmp_path: Path) -> None:
    program = "import torch\ntry:\n    torch.ones(2) @ torch.ones(3)\nexcept RuntimeError:\n    pass\n"
    assert recorded(tmp_path, program).returncode == 0
    assert list((tmp_path / "out").iterdir()) == []


def test_results_are_the_same_to_the_bit(tmp_path: Path) -> None:
    """Training with dropout, and a compiled function: the recorder changes no number and no random state."""
    program = MODEL + (
        "\ncompiled = torch.compile(lambda x: (x.sin() * 2).sum(), backend='eager')\n"
        "print(loss.item().hex(), float(compiled(torch.arange(9.))).hex(), torch.rand(1).item().hex())\n"
        "print([p.detach().double().sum().item().hex() for p in model.parameters()])\n"
    )
    (tmp_path / "plain.py").write_text(program)
    plain = subprocess.run(
        [sys.executable, str(tmp_path / "plain.py")], capture_output=True, text=True, timeout=HANG_S, check=False
    )
    assert plain.returncode == 0, plain.stderr
    assert plain.stdout == recorded(tmp_path, program).stdout


def test_exit_codes_are_kept(tmp_path: Path) -> None:
    assert recorded(tmp_path, "import sys, torch\ntorch.ones(1)\nsys.exit(7)\n").returncode == 7
    assert the_record(tmp_path)["error"]["type"] == "SystemExit"


def test_the_traceback_is_that_of_the_program(tmp_path: Path) -> None:
    done = recorded(tmp_path, "import torch\nraise ValueError('mine')\n")
    assert done.stderr.startswith(
        f'Traceback (most recent call last):\n  File "{tmp_path}/program.py", line 2, in <module>\n'
    )


def test_no_frame_of_the_recorder_is_shown(tmp_path: Path) -> None:
    """Neither in the traceback that ends the program, nor in those behind it, nor in a thread's."""
    program = """
import threading, torch
def work():
    torch.ones(2, 3) @ torch.ones(2, 3)
thread = threading.Thread(target=work); thread.start(); thread.join()
try:
    torch.empty(1 << 46)
except RuntimeError as error:
    raise ValueError("no memory") from error
"""
    shown = recorded(tmp_path, program).stderr
    assert shown.count("Traceback (most recent call last)") == 3
    for ours in ("torch_dispatch", f"record{os.sep}", "_ops.py", "runpy"):
        assert ours not in shown.partition("npu-doctor:")[0]


@pytest.mark.parametrize("how", ["os.kill(os.getpid(), 9)", "os._exit(3)", "ctypes.string_at(0)"])
def test_what_no_python_survives_leaves_the_ring(how: str, tmp_path: Path) -> None:
    """SIGKILL, _exit and a crash in native code: the operators are in the ring, the stack of a crash beside it."""
    done = recorded(tmp_path, f"import ctypes, os, torch\nx = torch.ones(3, 4)\ny = x @ x.t()\n{how}\n")
    assert done.returncode in (-signal.SIGKILL, 3, -signal.SIGSEGV)
    (ring,) = left(tmp_path, ".ring")
    (one,) = operators(ring.read_bytes().decode("latin-1"))
    assert (one.name, one.guessed, one.failed) == ("aten::mm.default", ("name",), False)  # it had returned
    assert one.call is not None
    assert [
        arg["tensor"]["shape"] for arg in one.call.args if isinstance(arg, dict) and isinstance(arg["tensor"], dict)
    ] == [[3, 4], [4, 3]]
    if how.startswith("ctypes"):
        assert "Segmentation fault" in left(tmp_path, ".stack")[0].read_text()


def test_the_operator_that_was_running_is_known(tmp_path: Path) -> None:
    """Killed inside an operator: the one without results is it, and that is no guess."""
    program = (
        "import os, torch\nlibrary = torch.library.Library('mine', 'DEF')\nlibrary.define('die(Tensor x, int n) -> Tensor')\n"
        "library.impl('die', lambda x, n: os.kill(os.getpid(), 9), 'CompositeExplicitAutograd')\ntorch.ops.mine.die(torch.ones(2, 3), 5)\n"
    )
    assert recorded(tmp_path, program).returncode == -signal.SIGKILL
    (one,) = operators(left(tmp_path, ".ring")[0].read_bytes().decode("latin-1"))
    assert (one.name, one.guessed) == ("mine::die.default", ())
    assert one.call is not None
    assert one.call.args[1] == 5


def test_forked_children_have_rings_of_their_own(tmp_path: Path) -> None:
    """A data loader's workers and a failing forked process disturb neither each other nor the parent."""
    program = """
import multiprocessing, torch
from torch.utils.data import DataLoader, TensorDataset
def fail():
    torch.ones(2, 3) @ torch.ones(2, 3)
if __name__ == "__main__":
    total = sum(batch[0].sum().item() for batch in DataLoader(TensorDataset(torch.ones(8, 2)), batch_size=4, num_workers=1))
    child = multiprocessing.get_context("fork").Process(target=fail)
    child.start(); child.join()
    print(total, child.exitcode)
"""
    done = recorded(tmp_path, program)
    assert done.stdout == "16.0 1\n"
    made = the_record(tmp_path)
    assert ("aten.mm.default", os.getpid()) != (made["failed"]["op"], made["pid"])
    assert made["failed"]["op"] == "aten.mm.default"
    assert left(tmp_path, ".ring") == []


def test_a_module_can_be_run(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__main__.py").write_text(
        "import sys, torch\nprint(sys.argv[1:], torch.ones(2).sum().item())\n"
    )
    done = alone([sys.executable, "-m", "record", "--out", str(tmp_path / "out"), "-m", "package", "x"], tmp_path)
    assert done.stdout == "['x'] 2.0\n", done.stderr


def test_the_program_may_have_a_package_of_our_name(tmp_path: Path) -> None:
    (tmp_path / "doctor").mkdir()
    (tmp_path / "doctor" / "__init__.py").write_text("who = 'theirs'\n")
    (tmp_path / "program.py").write_text("import torch, doctor\nprint(doctor.who, torch.ones(2).sum().item())\n")
    root = HERE.resolve().parents[1]
    call = [sys.executable, "-m", "doctor.record", "--out", str(tmp_path / "out"), str(tmp_path / "program.py")]
    done = subprocess.run(call, capture_output=True, text=True, timeout=HANG_S, check=False, cwd=root)
    assert done.stdout == "theirs 2.0\n", done.stderr


def test_a_program_without_torch_runs(tmp_path: Path) -> None:
    assert recorded(tmp_path, "print('hello')\n").stdout == "hello\n"


def test_only_the_last_are_kept_and_lists_are_cut(tmp_path: Path) -> None:
    program = "import torch\nfor _ in range(40):\n    torch.ones(1)\ntorch._foreach_add([torch.ones(1)] * 30, 1.0)\nraise ValueError\n"
    recorded(tmp_path, program, options=("--last", "8"))
    made = the_record(tmp_path)
    assert len(made["operators"]) == 8
    (listed,) = (entry for entry in made["operators"] if entry["op"].startswith("aten._foreach_add"))
    assert listed["args"][0][-1] == {"more": 14}


def test_secrets_of_the_environment_stay_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCEND_ACCESS_TOKEN", "hunter2")
    monkeypatch.setenv("ASCEND_LAUNCH_BLOCKING", "1")
    recorded(tmp_path, "import torch\ntorch.ones(1)\nraise ValueError\n")
    assert {k: v for k, v in the_record(tmp_path)["environment"].items() if k.startswith("ASCEND_")} == {
        "ASCEND_LAUNCH_BLOCKING": "1"
    }


def test_odd_arguments_never_stop_the_program(tmp_path: Path) -> None:
    """Sparse, meta, quantised and complex tensors, generators, infinities."""
    program = """
import torch, warnings
warnings.simplefilter("ignore")
torch.eye(3).to_sparse() @ torch.ones(3, 2)
torch.ones(3, device="meta") + 1
torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8).dequantize()
torch.full((2,), float("inf")).nan_to_num(posinf=float("inf")) + (1 + 2j)
torch.rand(3, generator=torch.Generator().manual_seed(1)).to(torch.float64, memory_format=torch.preserve_format)
torch.ones(0, 5).sum(), torch.tensor(3).item()
raise ValueError("end")
"""
    done = recorded(tmp_path, program)
    assert "ValueError: end" in done.stderr
    made = the_record(tmp_path)
    assert made["unwritten"] == 0
    list(operators(json.dumps(made)))
