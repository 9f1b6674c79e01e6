"""Each template is run for real on the CPU: its exit codes are what they claim, and what is built stands alone."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests_support import HANG_S

from doctor.repro.build import ALIASES, folder, script, template, templates
from doctor.repro.call import Request, Value

Execute = Callable[..., tuple[int, str]]
NAMES = tuple(templates())
# What a failing sequence starts anew, and the ranks of a collective, are processes of their own: seconds, not milliseconds.
SLOW = frozenset(("hccl_collective",))


def built(name: str, **slots: Value) -> str:
    return script(Request(name, slots)).text


def all_templates(*, slow: bool = True) -> list[object]:
    return [pytest.param(name, marks=pytest.mark.slow) if slow and name in SLOW else name for name in NAMES]


SIXTEEN = (
    "single_op inplace_out op_backward module_context mixed_stack dtype_sweep dynamic_shape memory_pressure hccl_collective "
    "device_switch set_device_order stream_bisect overflow_detection op_dump graph_capture graph_compile"
)


def test_the_sixteen_are_there() -> None:
    assert set(SIXTEEN.split()) == set(NAMES)
    assert set(NAMES) == {path.stem for path in folder().glob("[a-z]*.py")}
    assert set(ALIASES.values()) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_matching_results_give_0(name: str, execute: Execute) -> None:
    code, printed = execute(built(name), "--device", "cpu")
    assert (code, "verdict: same" in printed) == (0, True), printed
    assert "torch 2" in printed  # the versions are told


@pytest.mark.parametrize("name", all_templates())
def test_an_injected_mismatch_gives_1(name: str, execute: Execute) -> None:
    code, printed = execute(built(name), "--device", "cpu", "--inject", "mismatch")
    assert code == 1, printed


@pytest.mark.parametrize("name", all_templates())
def test_an_injected_failure_gives_2(name: str, execute: Execute) -> None:
    code, printed = execute(built(name), "--device", "cpu", "--inject", "error")
    assert code == 2, printed
    assert "ERROR REPRODUCED" in printed


@pytest.mark.parametrize("name", NAMES)
def test_a_machine_without_npu_gives_3(name: str, execute: Execute) -> None:
    code, printed = execute(built(name), "--device", "npu:0")
    assert (code, "environment not usable" in printed) == (3, True), printed


def test_an_unknown_device_gives_3(execute: Execute) -> None:
    assert execute(built("single_op"), "--device", "cuda:0")[0] == 3


def test_an_operator_that_torch_does_not_have_gives_3(execute: Execute) -> None:
    code, printed = execute(built("single_op", OPERATOR="torch.no_such_operator"), "--device", "cpu")
    assert (code, "has no torch.no_such_operator" in printed) == (3, True)


def test_an_incomplete_script_says_what_is_missing(execute: Execute) -> None:
    code, printed = execute(built("single_op", INCOMPLETE="fill in ARGS"), "--device", "cpu")
    assert (code, "fill in ARGS" in printed) == (3, True)


def test_an_error_that_the_cpu_raises_too_is_a_malformed_call(execute: Execute) -> None:
    shapes: list[Value] = [
        {"tensor": {"dtype": "float32", "shape": [3, 4]}},
        {"tensor": {"dtype": "float32", "shape": [5, 6]}},
    ]
    code, printed = execute(built("single_op", OPERATOR="torch.mm", ARGS=shapes, KWARGS={}), "--device", "cpu")
    assert (code, "the call is MALFORMED" in printed) == (5, True)
    assert "the CPU raises as well" in printed


def test_the_expected_error_is_compared(execute: Execute) -> None:
    shapes: list[Value] = [
        {"tensor": {"dtype": "float32", "shape": [3, 4]}},
        {"tensor": {"dtype": "float32", "shape": [5, 6]}},
    ]
    text = built("single_op", OPERATOR="torch.mm", ARGS=shapes, KWARGS={})
    code, printed = execute(text, "--device", "cpu", "--expect", "shapes cannot be multiplied (3x4 and 5x6)")
    assert (code, "the same error as in the log" in printed) == (2, True)
    code, printed = execute(text, "--device", "cpu", "--expect", "index out of range")
    assert (code, "MALFORMED" in printed) == (5, True)
    code, printed = execute(text, "--device", "cpu", "--expect", "507035")  # an NPU's code cannot come from a CPU
    assert code == 5


def test_another_error_of_the_device_alone_is_no_reproduction(execute: Execute) -> None:
    code, printed = execute(built("single_op"), "--device", "cpu", "--inject", "error", "--expect", "index out of range")
    assert (code, "ANOTHER error" in printed) == (4, True)


def test_a_random_result_is_not_the_same(execute: Execute) -> None:
    """Nothing was compared, and that is the verdict."""
    text = built("single_op", OPERATOR="torch.nn.functional.dropout", ARGS=[{"tensor": {"dtype": "float32", "shape": [4]}}], KWARGS={}, COMPARE=False)
    code, printed = execute(text, "--device", "cpu")
    assert (code, "verdict: not comparable" in printed) == (6, True)


def test_a_kernel_that_the_cpu_lacks_is_no_reproduction(execute: Execute) -> None:
    """What a CPU cannot compute says nothing about an NPU, unless it is the very error of the log."""
    text = built(
        "single_op", OPERATOR="torch.bitwise_not", ARGS=[{"tensor": {"dtype": "float32", "shape": [4]}}], KWARGS={}
    )
    code, printed = execute(text, "--device", "cpu")
    assert (code, "this CPU has no such kernel" in printed) == (3, True), printed
    assert execute(text, "--device", "cpu", "--expect", "not implemented for 'Float'")[0] == 2


def test_an_expected_error_that_stays_away_is_told(execute: Execute) -> None:
    code, printed = execute(built("single_op"), "--device", "cpu", "--expect", "507035")
    assert (code, "NOT reproduced" in printed) == (0, True)


def test_dtype_and_seed_are_obeyed(execute: Execute) -> None:
    text = built("single_op", OPERATOR="torch.sum", ARGS=[{"tensor": {"dtype": "float32", "shape": [4]}}], KWARGS={})
    assert "float64[]" in execute(text, "--device", "cpu", "--dtype", "float64")[1]
    dump = built("overflow_detection")
    assert execute(dump, "--device", "cpu", "--seed", "1")[1] == execute(dump, "--device", "cpu", "--seed", "1")[1]
    assert execute(dump, "--device", "cpu", "--seed", "1")[1] != execute(dump, "--device", "cpu", "--seed", "2")[1]


def test_strides_and_offsets_are_made(execute: Execute) -> None:
    spec: Value = {"tensor": {"dtype": "float32", "shape": [3, 4], "stride": [1, 3], "offset": 5}}
    text = built("single_op", OPERATOR="torch.Tensor.stride", ARGS=[spec], KWARGS={})
    assert execute(text, "--device", "cpu")[0] == 0
    text = built("single_op", OPERATOR="torch.Tensor.storage_offset", ARGS=[spec], KWARGS={})
    assert execute(text, "--device", "cpu")[0] == 0


def test_an_input_that_no_host_can_hold_gives_3(execute: Execute) -> None:
    spec: Value = {"tensor": {"dtype": "float32", "shape": [1 << 20, 1 << 20]}}
    code, printed = execute(built("single_op", OPERATOR="torch.abs", ARGS=[spec], KWARGS={}), "--device", "cpu")
    assert (code, "does not fit" in printed) == (3, True)


def test_the_module_template_names_the_first_layer_that_differs(execute: Execute) -> None:
    code, printed = execute(built("module_context"), "--device", "cpu", "--inject", "mismatch")
    assert (code, "the first difference is at: forward 0 Conv2d" in printed) == (1, True)


def test_the_sequence_names_the_failing_step(execute: Execute) -> None:
    steps: list[Value] = [
        {"op": "torch.abs", "args": [{"tensor": {"dtype": "float32", "shape": [3, 4], "id": "a"}}], "kwargs": {}, "out": ["b"]},
        {"op": "torch.mm", "args": [{"tensor": {"dtype": "float32", "shape": [3, 4], "id": "b"}}, {"tensor": {"dtype": "float32", "shape": [5, 6]}}], "kwargs": {}, "out": []},
    ]  # fmt: skip
    code, printed = execute(built("stream_bisect", STEPS=steps), "--device", "cpu", "--sync", "each")
    assert (code, "step 1 torch.mm raises" in printed) == (5, True)


def test_results_flow_from_step_to_step(execute: Execute) -> None:
    """A later step sees the earlier result, also through another view of its storage and in half precision."""
    whole: Value = {"tensor": {"dtype": "float16", "shape": [4, 6], "id": "a"}}
    view: Value = {"tensor": {"dtype": "float16", "shape": [6, 4], "stride": [1, 6], "id": "b"}}
    steps: list[Value] = [
        {"op": "torch.mul", "args": [whole, 0], "kwargs": {}, "out": ["b"]},
        {"op": "torch.any", "args": [view], "kwargs": {}, "out": ["c"]},
        {"op": "torch.normal", "args": [0.0, 1.0, [4]], "kwargs": {}, "out": ["r"]},
        {
            "op": "torch.abs",
            "args": [{"tensor": {"dtype": "float32", "shape": [4], "id": "r"}}],
            "kwargs": {},
            "out": [],
        },
    ]
    code, printed = execute(built("stream_bisect", STEPS=steps), "--device", "cpu")
    assert code == 0, printed


def test_the_ladder_finds_the_failing_size(execute: Execute) -> None:
    text = built("memory_pressure", SIZE=8 << 20, LIMIT=32 << 20)
    code, printed = execute(text, "--device", "cpu", "--inject", "error")
    assert code == 2
    assert "fails: RuntimeError: injected error: out of memory" in printed
    assert "largest single block: 7." in printed or "largest single block: 8.0" in printed


def test_the_dump_writes_inputs_and_result(execute: Execute, tmp_path: Path) -> None:
    code, _ = execute(built("op_dump"), "--device", "cpu", "--out", str(tmp_path))
    assert (code, (tmp_path / "inputs.pt").exists(), (tmp_path / "result.pt").exists()) == (0, True, True)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_built_stands_alone(name: str, lang: str) -> None:
    """Only the standard library and torch are imported, every name is bound, and Python 3.8 can read it."""
    text = script(Request(name, {}, lang=lang)).text
    tree = ast.parse(text, feature_version=(3, 8))
    roots = {
        (alias.name if isinstance(node, ast.Import) else node.module or "").partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    assert roots <= {*sys.stdlib_module_names, "torch", "torch_npu", "torchair", "__future__"}
    bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    bound |= {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    bound |= {a.arg for n in ast.walk(tree) if isinstance(n, ast.arguments) for a in (*n.args, *n.kwonlyargs)}
    bound |= {n.name for n in ast.walk(tree) if isinstance(n, ast.ExceptHandler) and n.name}
    bound |= {
        (a.asname or a.name).partition(".")[0]
        for n in ast.walk(tree)
        if isinstance(n, (ast.Import, ast.ImportFrom))
        for a in n.names
    }
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    assert used <= bound | set(dir(__builtins__)) | set(vars(__import__("builtins"))) | {"__file__", "__name__"}


@pytest.mark.parametrize("name", NAMES)
def test_every_slot_has_a_check(name: str) -> None:
    from doctor.repro.validate import SLOTS

    assert set(template(name).slot_names) <= set(SLOTS)


def test_a_built_file_runs_without_this_project(tmp_path: Path) -> None:
    """In an isolated interpreter that cannot import npu-doctor from here."""
    pytest.importorskip("torch", reason="PyTorch is not installed: scripts are not executed")
    path = tmp_path / "repro.py"
    path.write_text(built("op_backward"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", str(path), "--device", "cpu"], capture_output=True, text=True, timeout=HANG_S, check=False
    )
    assert (done.returncode, "verdict: same" in done.stdout) == (0, True), done.stderr


def test_a_template_itself_runs() -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed: scripts are not executed")
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "kb.repro.single_op", "--device", "cpu"],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
