"""What decides stands beneath a header, what works is not written over, and a word alone is not taken for the NPU."""

from __future__ import annotations

from typing import Any

import pytest

from doctor import report
from doctor.answer.advice import chosen
from doctor.findings.situation import Situation
from doctor.render import compact
from doctor.render.call import Call
from doctor.render.layout import Style
from kb.model import Command, Fix, Text

MLIR = "triton.compiler.errors.MLIRCompilationError: \n///------------------[ERROR][Triton][BEG]------------------\n[ConvertLinalgRToBinary] encounters error:\n"


def first(text: str, entry: str) -> dict[str, Any]:
    found: dict[str, Any] = next(f for f in report(text)["findings"] if f["id"] == entry)
    return found


def titles(found: dict[str, Any]) -> list[str]:
    return [fix["title"]["en"] for fix in found["fixes"]]


@pytest.mark.parametrize(
    ("text", "entry", "shown"),
    [
        (MLIR + "LLVM ERROR: The buffer memory has been released and cannot be used again!\n", "CMP019", "LLVM ERROR: The buffer memory"),
        (MLIR + 'loc("/tmp/tmpx/kernel.ttadapter.mlir":94:163): error: strides must not be zero\n[ERROR] Failed to parse input file: /tmp/tmpx/kernel.ttadapter.mlir\n\n///------------------[ERROR][Triton][END]------------------\n', "CMP019", "error: strides must not be zero"),
        ("import torch\nmodel = torch.compile(model)\ntriton.compiler.errors.CompilationError: \nNameError('loop_x0 is not defined')\n", "CMP028", "NameError('loop_x0 is not defined')"),
        (MLIR + "loc(\"/tmp/k.mlir\":1:1): error: Failed to run BiShengHIR pipeline\nloc(\"/tmp/k.mlir\":17:10): error: 'memref.alloc' op Failed to propagate memory scope ub for allocOp\n", "CMP891", "Failed to propagate memory scope ub"),
    ],
)  # fmt: skip
def test_the_line_beneath_a_header_is_the_evidence(text: str, entry: str, shown: str) -> None:
    """The exception's own line ends in a colon: what it says comes after it."""
    made = report(text)
    screen = compact.render(made, "en", Style(110, False), Call())
    assert made["findings"][0]["id"] == entry
    evidence = screen.split("  evidence", 1)[1].split("\n  do ", 1)[0]
    assert shown in evidence
    assert "Error: \n" not in evidence


def test_a_header_with_nothing_beneath_it_is_shown_itself() -> None:
    assert "MLIRCompilationError" in compact.render(report("triton.compiler.errors.MLIRCompilationError: \n"), "en", Style(110, False), Call())


def test_packages_are_not_what_a_compile_failure_begins_with() -> None:
    """No line tells that the versions do not fit."""
    found = first(MLIR + 'loc("/tmp/tmpx/kernel.ttadapter.mlir":9:1): error: plugh is not legal here\n', "CMP019")
    assert "install" not in " ".join(c["run"] for c in found["fixes"][found["first_fix"]]["commands"])


def test_what_a_compiler_aborts_at_is_no_code_of_the_reader() -> None:
    found = first(MLIR + "LLVM ERROR: The frob has been released and cannot be used again!\n", "CMP019")
    assert "itself aborted" in found["title"]["en"]
    assert not any("pip install" in c["run"] for fix in found["fixes"] for c in fix["commands"])


@pytest.mark.parametrize("run", ["pip uninstall -y triton triton-ascend && pip install triton-ascend", "python3 -m pip install --no-deps '{package}==VERSION'", "pip install -U triton-ascend==3.2.1"])
def test_the_triton_of_flagtree_is_not_written_over(run: str) -> None:
    told = [
        Fix("resolve", "medium", Text("Exchange it", "换"), (), (), (Command(run, Text("x", "x"), None),), None),
        Fix("resolve", "low", Text("Rewrite it", "改写"), (), (), (), None),
    ]
    assert [fix.title.en for fix in chosen(told, Situation({"seen": ("flagtree",)}), {"package": "triton"})] == ["Rewrite it"]
    assert len(chosen(told, Situation({}), {"package": "triton"})) == 2


def test_a_library_that_wants_a_newer_triton_leaves_the_one_that_is_there() -> None:
    frames = (
        'Traceback (most recent call last):\n  File "/w/FlagGems/src/flag_gems/ops/frob.py", line 23, in <module>\n'
        "    from triton.knobs import autotuning as _knobs\nModuleNotFoundError: No module named 'triton.knobs'\n"
    )
    found = first("On Ascend 910C, flagtree 0.6.0:\n" + frames, "ENV056")
    assert found["title"]["en"].startswith("flag_gems is newer than the triton")
    assert not any("install" in c["run"] and "triton==" in c["run"] for fix in found["fixes"] for c in fix["commands"])
    assert "_knobs = None" in str(found["fixes"])


DEVICE = (
    'Traceback (most recent call last):\n  File "/opt/py/site-packages/xyzzy/device.py", line 9, in get\n    d = torch.device(name)\n'
    "RuntimeError: Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, ort, xla, lazy, vulkan, mps, meta, hpu, mtia, privateuseone device type at start of device string: npu\n"
)


def test_a_torch_npu_that_works_is_not_installed_again() -> None:
    said = "import torch_npu\nx = torch.ones(2).npu()\n\nthis works, xyzzy does not:\n"
    works, open_ = first(said + DEVICE, "ENV023"), first(DEVICE, "ENV023")
    assert works["title"]["en"].startswith("xyzzy asks for the npu")
    assert not any("pip install" in c["run"] for fix in works["fixes"] for c in fix["commands"])
    assert "pip install" not in " ".join(c["run"] for c in open_["fixes"][open_["first_fix"]]["commands"])
    assert any(title.startswith("Only where that import") for title in titles(open_))


def test_no_such_device_of_a_file_is_no_device() -> None:
    """What maps a file is told so by its file system."""
    frames = 'Traceback (most recent call last):\n  File "/opt/py/site-packages/safetensors/torch.py", line 308, in load_file\n    with safe_open(filename) as f:\n'
    told = report(frames + "OSError: No such device (os error 19)\n")["findings"]
    assert told[0]["id"] == "NOT054"
    assert "MNG034" not in {f["id"] for f in told}
    assert report("[ERROR] open /dev/davinci_frob failed: No such device\n")["findings"][0]["id"] == "MNG034"


def test_the_documentation_outweighs_a_check_of_the_same_library() -> None:
    refused = "RuntimeError: npu_frob: h0 must be [B,Hv,K,V]; h0=[7, 1, 128] chunk=1\n"
    told, untold = first("npu_frob 的文档与检查要求不一致\n将 h0 设置为None后可以正常运行\n" + refused, "MNG071"), first(refused, "MNG071")
    assert "its documentation asks" in told["title"]["en"]
    assert "leave the optional tensors out" in told["fixes"][told["first_fix"]]["title"]["en"]
    assert untold["title"]["en"] == "h0 has 3 axes where npu_frob wants 4: [B,Hv,K,V]"
