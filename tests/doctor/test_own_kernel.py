"""A kernel that its user wrote: the first fix is in its own code, whatever is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from doctor import report

FAULT = (
    "EZ9999[PID: 731] 2026-07-31-15:28:04.486.224 (EZ9999):  The error from device(chipId:2, dieId:0), serial number is 9, there is an exception of aivec error, core id is 3, error code = 0x40, dump info: pc start: 0x12.\n"
    "       The extend info: errcode:(0x40, 0, 0) errorStr: {why}. fixp_error0 info: 0x5e, subErrType:4.\n"
)
NAMED = "       Aicore kernel execute failed, device_id=2, stream_id=4, task_id=0, fault kernel_name={kernel}, fault kernel info ext=none.\n"
UB, GM, RACE = "VEC instruction error: the ub address out of bounds", "The DDR address of the MTE instruction is out of range", "L0C read/write conflict(vec read operation)"
TRITON = "import triton\n@triton.autotune(configs=[])\n@triton.jit\ndef plugh_sum(x_ptr, n, BLOCK: tl.constexpr):\n    pass\n"
TILELANG = "import tilelang\n\n@tilelang.jit(out_idx=[1], pass_configs=pass_configs)\ndef plugh_norm(n):\n    @T.prim_func\n    def main(x):\n        pass\n"
ASCENDC = 'extern "C" __global__ __aicore__ void plugh_add(GM_ADDR x, GM_ADDR y)\n{\n    KernelAdd op;\n}\n'


def found(folder: Path, why: str, kernel: str = "", more: str = "", **sources: str) -> dict[str, Any]:
    """The root of a log beside sources."""
    (folder / "run.log").write_text(more + FAULT.format(why=why) + (NAMED.format(kernel=kernel) if kernel else ""))
    for name, text in sources.items():
        (folder / name.replace("_", ".")).write_text(text)
    made = report(folder)["findings"][0]
    assert made["role"] == "root"
    return dict(made)


def first(made: dict[str, Any]) -> str:
    return str(made["fixes"][made["first_fix"]])


@pytest.mark.parametrize(
    ("why", "kernel", "source", "told"),
    [
        (UB, "", {"norm_py": TILELANG}, ("plugh_norm", "192 KB", "get_kernel_source")),
        (UB, "plugh_add_custom", {"add_cpp": ASCENDC.replace("plugh_add", "plugh_add_custom")}, ("plugh_add_custom", "--tool=memcheck", "-sanitizer")),
        (UB, "PlughAdd_7869a97190b9b4d296d9414a005b954b_1", {"add_cpp": ASCENDC}, ("plugh_add", "InitBuffer")),
        (GM, "plugh_sum_mix_aic", {"sum_py": TRITON}, ("plugh_sum", "mask", "mssanitizer --tool=memcheck python3 sum.py")),
        ("timeout or trap error", "plugh_sum", {"sum_py": TRITON}, ("plugh_sum", "wait", "--tool=synccheck")),
        (RACE, "plugh_sum", {"sum_py": TRITON}, ("plugh_sum", "wait", "--tool=racecheck")),
    ],
)  # fmt: skip
def test_the_first_fix_is_in_the_kernel_itself(tmp_path: Path, why: str, kernel: str, source: dict[str, str], told: tuple[str, ...]) -> None:
    made = found(tmp_path, why, kernel, **source)
    assert all(word in first(made) for word in told)
    assert "your own program" in made["cause"]["en"]
    assert next(iter(source)).replace("_", ".") in made["cause"]["en"]
    assert "matching newer set" not in str(made["fixes"])


def test_a_program_in_cpp_is_not_sent_into_site_packages(tmp_path: Path) -> None:
    made = found(tmp_path, UB, "plugh_add_scalar", "[ERROR] aclrtSynchronizeStream(stream) failed: 507035 (/home/u/plugh/main.cpp:93)\n")
    assert "plugh_add_scalar" in first(made)
    assert "./PROGRAM" in first(made)
    assert "python" not in first(made)


def test_tilelang_names_the_script_that_waited(tmp_path: Path) -> None:
    stack = 'Traceback (most recent call last):\n  File "/home/u/tilelang-ascend/plugh_gqa.py", line 385, in <module>\n    torch.npu.synchronize()\nRuntimeError: npuSynchronizeDevice error code is 507015\n'
    made = found(tmp_path, GM, "main_kernel", stack)
    assert "plugh_gqa.py" in made["cause"]["en"]
    assert "Your own kernel" in first(made)


def test_a_kernel_pasted_into_the_log_is_started_by_a_script(tmp_path: Path) -> None:
    made = found(tmp_path, GM, "", TRITON + "$ python3 repro.py\n")
    assert "plugh_sum" in first(made)
    assert "python3 SCRIPT.py" in first(made)
    assert "run.log" not in made["cause"]["en"]


@pytest.mark.parametrize(("kernel", "more"), [("RotaryMul_2c_7", ""), ("triton_poi_fused_add_3", ""), ("", "vllm serve /m/a --port 8000\nINFO [vllm/engine/llm_engine.py] v0.11.0\n")])
def test_what_is_not_theirs_is_not_called_theirs(tmp_path: Path, kernel: str, more: str) -> None:
    """Another kernel failed than the one beside the log, or a framework runs that brings its own."""
    assert "Your own kernel" not in str(found(tmp_path, UB, kernel, more, sum_py=TRITON)["fixes"])


def test_a_kernel_compiled_for_another_chip_is_not_searched_for_its_tiling(tmp_path: Path) -> None:
    """The command that compiled it stands in the log, beside the chip: the build is to be changed."""
    built = "bisheng --npu-arch=dav-2201 -O2 -xasc -fPIC --shared norm.cpp -o norm.so\nsoc_version: Ascend950PR_9579\n"
    (tmp_path / "norm.py").write_text(TILELANG)
    (tmp_path / "run.log").write_text(built + "RuntimeError: synchronize NPU function error: AclrtSynchronizeDeviceWithTimeout, error code is 507015\n")
    made = report(tmp_path)["findings"][0]
    assert "dav-3510" in first(made)
    assert "your own program" not in made["cause"]["en"]
