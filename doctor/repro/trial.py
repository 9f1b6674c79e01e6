"""Tries the call of a script without an NPU before it is handed out: on meta tensors, and on the CPU where that is small.

A call that torch itself refuses proves nothing about the NPU. Only where PyTorch is installed; in a process of its own, with
bounds on time and memory, and only operators that the table knows or that are torch's own.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from importlib.util import find_spec

from doctor.repro.call import Request, Script
from doctor.repro.operator_table import load
from doctor.repro.short import NPU_WORDS
from kb.model import Text

SECONDS = 60
TRIED = ("torch.ops.aten.", "torch.nn.functional.")
_PROGRAM = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (50, 50))
import torch
torch.set_num_threads(1)
source = sys.stdin.read()

def size(value):
    if isinstance(value, torch.Tensor):
        return value.numel()
    return sum(map(size, value)) if isinstance(value, (list, tuple)) else 0

def run(device):  # the error, empty for none and None when it cannot tell, and how many elements it takes
    scope = {"torch": torch}
    torch.manual_seed(0)
    with torch.device(device):
        exec(source, scope)
    elements = sum(map(size, scope.values()))
    try:
        elements += size(scope["call"](device))
    except NotImplementedError:
        return None, elements
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        return (None if "not implemented" in text else text), elements
    return "", elements

told = {"how": "meta"}
told["error"], elements = run("meta")
if elements <= 1 << 22:  # contents are only looked at here, and the words are those that a program sees
    told = {"how": "cpu", "error": run("cpu")[0]}
print(json.dumps(told))
"""


def told(request: Request, made: Script) -> Text | None:
    """What the trial of a short script says; None when it says nothing, or when it could not be made."""
    source = _call_of(made.text)
    if source is None or not _may_be_tried(request) or find_spec("torch") is None:
        return None
    found = _outcome(source)
    if found is None:
        return None
    error, expected = " ".join(found["error"].split()), " ".join(request.expect.split())
    if error and expected and expected in error:
        return Text("tried without an NPU: the error of the log, so the call is wrong on every device", "无 NPU 试运行：报错与日志相同，该调用在任何设备上都有误")
    if error and (request.guessed or not expected or NPU_WORDS.search(expected)):
        return Text(f"tried without an NPU, torch refuses this call: {error[:160]}", f"无 NPU 试运行，torch 拒绝该调用：{error[:160]}")
    if error:
        return Text(f"tried without an NPU: another error than in the log: {error[:160]}", f"无 NPU 试运行：报错与日志不同：{error[:160]}")
    if found["how"] == "cpu" and expected and not NPU_WORDS.search(expected):
        return Text("tried without an NPU: these inputs do not raise the error of the log", "无 NPU 试运行：这些输入不会触发日志中的报错")
    return None


def _may_be_tried(request: Request) -> bool:
    name = str(request.slots.get("OPERATOR", ""))
    return not request.slots.get("INCOMPLETE") and (name.startswith(TRIED) or load().find(name, "torch") is not None) and not name.startswith("torch_npu.")


def _call_of(text: str) -> str | None:
    """The tensors and the call of a script, without what runs it; None when it makes no single call."""
    kept = [
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) or (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id.startswith(("x", "t_")))
    ]
    if not any(isinstance(node, ast.FunctionDef) and node.name == "call" for node in kept):
        return None
    return "\n".join(ast.unparse(node) for node in kept) + "\n"


def _outcome(source: str) -> dict[str, str] | None:
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter and our program; what it runs went through the gate of the slots
            [sys.executable, "-I", "-c", _PROGRAM], input=source, capture_output=True, text=True, timeout=SECONDS, check=False
        )
        found = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("error"), str) and isinstance(found.get("how"), str) else None
