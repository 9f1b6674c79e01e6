"""Whose a kernel is that failed on the device: its owner is named on the first screen, and the owner's fix is the first."""

from __future__ import annotations

from typing import Any

import pytest

from doctor.answer.report import report
from doctor.judge.diagnosis import conclude
from doctor.read import discover
from doctor.render import compact
from doctor.render.call import Call
from doctor.render.layout import Style
from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge

CRASH = (
    "[ERROR] RUNTIME(731,python):2026-06-02-11:08:19.201.733 [davinci_kernel_task.cc:1582]802 PreCheckTaskErr:Kernel task happen error, retCode=0x31, [vector core exception].\n"
    "[ERROR] RUNTIME(731,python):2026-06-02-11:08:19.201.790 [davinci_kernel_task.cc:1498]802 PrintErrorInfoForDavinciTask:[DFX_INFO]Aicore kernel execute failed, device_id=2,"
    " stream_id=7, report_stream_id=7, task_id=51, flip_num=0, fault kernel_name={kernel}, fault kernel info ext=none, program id=12, hash=4411.\n"
    "[ERROR] RUNTIME(731,python):2026-06-02-11:08:19.202.020 [api_c_stream.cc:154]731 rtStreamSynchronize:ErrCode=507035, desc=[vector core exception], InnerCode=0x715005e\n"
)
STACK = (
    "Traceback (most recent call last):\n"
    '  File "/tmp/torchinductor_u/3f/c3fplugh.py", line 88, in call\n'
    "    triton_per_fused_mean_pow_rsqrt_4.run(arg0_1, buf1, 64, stream=stream0)\n"
    "RuntimeError: Kernel task happen error, retCode=0x31, [vector core exception].\n"
)


@pytest.fixture
def made(scanner: Scanner, knowledge: Knowledge) -> Any:
    """The report of a log, and its first screen."""

    def found(log: str, lang: str = "en") -> tuple[dict[str, Any], str]:
        told = report(conclude([scanner.scan(discover.given_text(log))], knowledge), knowledge)
        return told["findings"][0], compact.render(told, lang, Style(width=100), Call())

    return found


@pytest.mark.parametrize(
    ("kernel", "owner", "remedy"),
    [
        ("alloc_decode_kernel_3", "sgl_kernel_npu", "sgl-kernel-npu"),
        ("triton_red_fused_add_mean_2", "torch.compile", "TORCHDYNAMO_DISABLE"),
        ("PagedAttentionMaskNdKernel_9", "NNAL", "NNAL"),
        ("_triton_mrope_forward_0", "vllm-ascend", "later release of vllm-ascend"),
        ("chunk_scaled_dot_kkt_fwd_kernel_0", "flash-linear-attention", "plain torch"),
        ("split_plugh_rope_kernel", "above CANN", "split_plugh_rope_kernel"),
        ("plugh_preprocess_0_mix_aic", "above CANN", "plugh_preprocess_0_mix_aic"),
    ],
)
def test_the_owner_is_named_and_its_fix_is_first(made: Any, kernel: str, owner: str, remedy: str) -> None:
    """The name of the kernel, whose it is, and what they have for it, on one screen in both languages."""
    for lang in ("en", "zh"):
        finding, screen = made(CRASH.format(kernel=kernel), lang)
        assert finding["role"] == "root"
        assert kernel.rstrip("_0123456789") in screen
        first = finding["fixes"][finding["first_fix"]]
        assert remedy in f"{first}"
        assert first["title"][lang].split("（")[0][:12] in screen.replace("\n", "")
    assert owner in made(CRASH.format(kernel=kernel))[1]


@pytest.mark.parametrize("kernel", ["te_gatherv2_0f1e2d3c4b5a69788796a5b4c3d2e1f0_1", "GatherV2_7869a97190b9b4d296d9414a005b954b_high_performance_1", "gather_nd_10809780653405783111_0", "Softmax_f1", "PlughKernel_fp16_bsnd_mix_aiv"])
def test_a_kernel_of_cann_leaves_the_entry_its_word(made: Any, kernel: str) -> None:
    """The entries themselves know what to do about an operator of CANN, and of a package that names its kernels like ATB."""
    finding, _ = made(CRASH.format(kernel=kernel))
    assert "is a kernel of" not in finding["cause"]["en"]


def test_a_stack_names_the_kernel_that_no_plog_names(made: Any) -> None:
    """With synchronous launches the frame of the generated code is the one place where its name stands."""
    finding, screen = made(STACK)
    assert finding["id"] == "RTS002"
    assert "triton_per_fused_mean_pow_rsqrt" in screen
    assert "TORCHDYNAMO_DISABLE=1" in screen


ADDRESS = (
    "The error from device(chipId:0, dieId:0), serial number is 1, there is an exception of aivec error, core id is 1, error code = 0x800000\n"
    "The extend info: errcode:(0x800000, 0, 0) errorStr: The DDR address of the MTE instruction is out of range. fixp_error0 info: 0x1, subErrType:4.\n"
    "Aicore kernel execute failed, device_id=0, stream_id=2, report_stream_id=2, task_id=9, flip_num=0, fault kernel_name={kernel}, program id=3, hash=4.\n"
)


@pytest.mark.parametrize(("kernel", "first"), [("dequantize_blockwise_plugh_nf4", "Quantisation kernel"), ("alloc_extend_kernel", "Take another release of sglang")])
def test_what_an_entry_knows_of_a_kernel_comes_before_a_guess(made: Any, kernel: str, first: str) -> None:
    """A fix that an entry has for such a kernel is surer than how the name looks, but not than a name that only one package gives."""
    finding, _ = made(ADDRESS.format(kernel=kernel))
    assert finding["fixes"][finding["first_fix"]]["title"]["en"].startswith(first)
