"""What a failing line and its message tell of a call goes into the script, and the call is tried before it is handed out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from doctor.repro import choose, trial
from doctor.repro.choose import Wish
from doctor.repro.extract import operators
from doctor.repro.operator_table import load
from doctor.repro.short import script
from doctor.repro.source_line import literals

Execute = Callable[..., tuple[int, str]]


def failed(code: str, message: str, kind: str = "RuntimeError") -> str:
    return f'Traceback (most recent call last):\n  File "/job/train.py", line 10, in <module>\n    {code}\n{kind}: {message}\n'


def made(text: str) -> str:
    return script(choose.request(operators(text)[0], load(), Wish())).text


@pytest.mark.parametrize(
    ("code", "message", "parts"),
    [
        ("values, index = torch.topk(scores, k=50, dim=-1)", "call aclnnTopk failed, detail:EZ1001: x", ["torch.topk(x0.to(device), 50, -1,", "torch.randn(4, 100)"]),
        ("best = scores.topk(7, largest=False)", "call aclnnTopk failed, detail:EZ1001: x", ["torch.topk(x0.to(device), 7, -1, False,"]),
        ("y = torch.cat([a, b], dim=1)", "Sizes of tensors must match except in dimension 1. Expected size 4 but got size 5 for tensor number 1 in the list.", ["torch.randn(4, 3)", "torch.randn(5, 3)", "], 1)"]),
        ("y = torch.add(a, b, alpha=2)", "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1", ["torch.randn(1, 3)", "torch.randn(1, 4)", "alpha=2)"]),
        ("y = F.layer_norm(x, (768,), w, b, 1e-5)", "Given normalized_shape=[768], expected input with shape [*, 768], but got input of size[2, 16, 512]", ["torch.randn(2, 16, 512)", "torch.randn(768)", "[768]"]),
        ("return F.batch_norm(input, mean, var, weight, bias, True)", "running_mean should contain 64 elements not 32", ["torch.randn(4, 64, 6, 6)", "torch.randn(32)", ", True)"]),
        ("y = torch.stack([a, b], dim=0)", "stack expects each tensor to be equal size, but got [3, 4] at entry 0 and [3, 5] at entry 1", ["torch.randn(3, 4)", "torch.randn(3, 5)", "torch.stack("]),
    ],
)  # fmt: skip
def test_a_failing_line_tells_its_literals_and_sizes(code: str, message: str, parts: list[str]) -> None:
    text = made(failed(code, message))
    assert [part for part in parts if part not in text] == [], text


def test_a_target_out_of_bounds_stays_out_of_bounds() -> None:
    text = made(failed("loss = F.cross_entropy(logits, target, ignore_index=-100)", "Target 105 is out of bounds.", "IndexError"))
    assert "torch.randint(105, 106," in text
    assert "ignore_index=-100" in text


def test_indices_of_two_dimensions_are_an_embedding() -> None:
    """GatherV2 is what index_select and embedding become; only one of them takes such indices."""
    block = (
        "[ERROR] GE(1,python):2026-01-01-10:00:00.100.200 [exception_dumper.cc:1]1 Dump:[AIC_INFO] node_name:GatherV2, node_type:GatherV2, stream_id:2, task_id:6\n"
        "[AIC_INFO] input:0;shape:[16,4];format:ND;dtype:DT_FLOAT;addr:0x12c0\n[AIC_INFO] input:1;shape:[SIZES];format:ND;dtype:DT_INT64;addr:0x12c0\n"
    )
    assert "torch.nn.functional.embedding(x0.to(device), x1.to(device))" in made(block.replace("SIZES", "2,8"))
    assert "torch.index_select(x0.to(device), 0, x1.to(device))" in made(block.replace("SIZES", "8"))


def test_equal_shapes_are_two_inputs() -> None:
    text = made("RuntimeError: call aclnnAdd failed, detail:EZ1001: self [3,7] other [3,7] broadcast failed\n")
    assert text.count("torch.randn(3, 7)") == 2


def test_every_attribute_is_used_or_named() -> None:
    text = made("RuntimeError: call aclnnFlashAttentionScore failed, detail:EZ1001: kD=24 vD=48 must be equal, sparse_mode:3, some_other_mode:2\n")
    assert text.count("128, 24)") == 2
    assert "128, 48)" in text
    assert "sparse_mode=3" in text
    assert "told by the log and not used: some_other_mode=2" in text


def test_types_that_a_refusal_lists_are_those_of_the_call() -> None:
    text = made(
        "RuntimeError: npu_rms_norm: NPU function error: call aclnnRmsNorm failed, error code is 161002\n"
        "[PID: 1180] AclNN_Parameter_Error(EZ1001): Io input dtype or format is not supported, get io input info is x(DT_BFLOAT16, ND) gamma(DT_BFLOAT16, ND) yOut(DT_BFLOAT16, ND) but supported list is:\n"
        "        [x(DT_FLOAT16, ND) gamma(DT_FLOAT16, ND) yOut(DT_FLOAT16, ND)]\n"
    )
    assert text.count(".to(torch.bfloat16)") == 2
    assert ".to(torch.float16)" not in text


def test_lines_of_other_modules_tell_no_shapes() -> None:
    text = made(
        "RuntimeError: call aclnnAdd failed, error code is 561000\n"
        "[ERROR] HCCL(55694,):2026-06-03-06:04:59.040.451 [hccl_socket_manager.cc:860] [60446][Wait][LinksEstablishCompleted] is failed. ret[9].\n"
    )
    assert "60446" not in text


def test_a_full_memory_is_nobodys_call() -> None:
    """torch.empty cannot be blamed for it: the ladder of allocations shows it."""
    text = made(failed("x = torch.empty(1, 2, device='npu')", "NPU out of memory. Tried to allocate 270.00 MiB (NPU 0; 60.97 GiB total capacity; 19.52 MiB free)"))
    assert "wanted = min(283115520, free // 2)" in text
    assert operators(failed("x = x.cuda()", "Torch not compiled with CUDA enabled", "AssertionError")) == ()


def test_no_optional_input_is_invented() -> None:
    """A convolution without a bias has none."""
    described = (
        "[INFO] ASCENDCL(1,python):x aclopCompile::aclOp = OpType: Conv2D, InputDesc[0]: [TensorDesc] DataType = 1, Format = 0, StorageFormat = 0, Shape = [1, 3, 8, 8], "
        "InputDesc[1]: [TensorDesc] DataType = 1, Format = 0, StorageFormat = 0, Shape = [4, 3, 3, 3], OutputDesc[0]: was not compiled\n"
    )
    assert "x2" not in made(described)


@pytest.mark.parametrize(
    ("code", "name", "found"),
    [
        ("y = x.view(2, -1).topk(3)", "torch.Tensor.topk", (("@1", 3),)),
        ("return torch.pad(x, (1, 2), 'constant', value=None)", "torch.pad", (("@1", [1, 2]), ("@2", "constant"), ("value", None))),
        ("y = x.to(dtype=torch.float16)", "torch.Tensor.to", (("dtype", "float16"),)),
        ("y = torch.add(a, *more, 3)", "torch.add", ()),
        ("y = torch.add(a, b(", "torch.add", ()),
        ("y = torch.add(a, b=[[1], [2]], c=open('x'), d={1: 2})", "torch.add", ()),
        ("if torch.any(x, dim=0):", "torch.any", (("dim", 0),)),
        ("torch.sum(" + "(" * 300, "torch.sum", ()),
    ],
)
def test_literals_of_a_line(code: str, name: str, found: tuple[tuple[str, object], ...]) -> None:
    assert literals(code, name) == found


@pytest.mark.parametrize(
    ("options", "call"),
    [
        (["--op", "torch.einsum", "--attr", "equation=ij,jk->ik", "--input", "float32[2,3]", "--input", "float32[3,4]"], "torch.einsum('ij,jk->ik', x0.to(device), x1.to(device))"),
        (["--op", "torch.scatter", "--attr", "dim=1", "--input", "float32[2,3]", "--input", "int64[2,3] 0..3", "--input", "float32[2,3]"], "torch.scatter(x0.to(device), 1, x1.to(device), x2.to(device))"),
        (["--op", "torch.topk", "--attr", "1=5", "--attr", "sorted=False", "--input", "float32[2,30]"], "torch.topk(x0.to(device), 5, sorted=False)"),
        (["--op", "F.pad", "--attr", "pad=(1,1,2,2)", "--attr", "value=None", "--input", "float32[2,30]"], "torch.nn.functional.pad(x0.to(device), pad=[1, 1, 2, 2], value=None)"),
        (["--op", "F.cross_entropy", "--attr", "reduction='sum'", "--input", "float32[2,30]", "--input", "int64[2] 0..30"], "cross_entropy(x0.to(device), x1.to(device), reduction='sum')"),
        (["--op", "torch.tensordot", "--attr", "dims=[[1],[0]]", "--input", "float32[2,3]", "--input", "float32[3,4]"], "torch.tensordot(x0.to(device), x1.to(device), dims=[[1], [0]])"),
        (["--op", "torch.cat", "--attr", "dim=1", "--input", "float32[2,3]", "--input", "float32[2,4]"], "torch.cat([x0.to(device), x1.to(device)], dim=1)"),
        (["--op", "torch.index_select", "--attr", "dim=0", "--input", "float32[9,3]", "--input", "int64[4] 0..9"], "torch.index_select(x0.to(device), 0, x1.to(device))"),
    ],
)  # fmt: skip
def test_attributes_are_bound_by_the_operators_schema(options: list[str], call: str, run, tmp_path: Path, execute: Execute) -> None:  # type: ignore[no-untyped-def]
    """By name, by place, None, lists, texts; and the script runs."""
    done = run("repro", "--no-try", *options)
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode()
    assert call in text
    code, printed = execute(text, "cpu")
    assert (code, "same result as the CPU" in printed) == (0, True), printed


def test_a_place_that_the_call_does_not_have_is_told(run) -> None:  # type: ignore[no-untyped-def]
    done = run("repro", "--op", "torch.abs", "--attr", "5=1", "--input", "float32[2,3]", "--lang", "en")
    assert done.returncode == 2
    assert b"no argument number 5" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (failed("y = torch.cat([a, b], dim=1)", "Sizes of tensors must match except in dimension 1. Expected size 4 but got size 5 for tensor number 1 in the list."), "the error of the log, so the call is wrong on every device"),
        (failed("y = torch.mm(a, b)", "call aclnnMm failed, detail:EZ1001: the two inputs are different [3,4], [5,6]"), "torch refuses this call"),
        (failed("out = F.embedding(ids, table)", "index out of range in self", "IndexError"), "these inputs do not raise the error of the log"),
        ("RuntimeError: call aclnnAdd failed, detail:EZ1001: self [3,7] other [3,7] broadcast failed\n", ""),
        (failed("y = torch.mm(a, b)", "mat1 and mat2 shapes cannot be multiplied (100000x200000 and 300000x100000)"), "torch refuses this call"),
    ],
)  # fmt: skip
def test_the_call_is_tried_without_an_npu(text: str, said: str) -> None:
    """On the CPU where it is small, on meta tensors where 80 GB would be needed; what cannot show the error says so."""
    pytest.importorskip("torch", reason="PyTorch is not installed: nothing is tried")
    request = choose.request(operators(text)[0], load(), Wish())
    told = trial.told(request, script(request))
    assert (told.en if told is not None else "").find(said) >= 0
    assert (told is None) == (not said)


def test_numbers_of_chips_and_streams_are_no_attributes() -> None:
    text = made("RuntimeError: call aclnnMaskedSelect failed, detail:EZ9999: The error from device(chipId:0, dieId:0), fsmId:1, head_num:8\n")
    assert "Id=" not in text
    assert "head_num=8" in text


def test_frames_behind_the_prefix_of_a_launcher_end_the_message() -> None:
    """`[0]` of a source line is no shape."""
    prefix = "(Worker_TP1 pid=2214) ERROR 07-09 10:41:07 [multiproc_executor.py:870] "
    text = made("".join(prefix + line + "\n" for line in (
        "RuntimeError: call aclnnMatmulWeightNz failed, error code is 161002", "EZ1001: Not support mat2 n = 1, mat2: [2048, 1]",
        "Traceback (most recent call last):", '  File "/a/b.py", line 1, in forward', "    out = F.sigmoid(self.gate(x)[0]) * out",
    )))  # fmt: skip
    assert "torch.randn(2048, 1)" in text
    assert "torch.randn(0)" not in text
