"""The operator table proves itself: every torch call in it is executed with the row's own example."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest
import yaml

import kb
from doctor.repro.bind import bind
from doctor.repro.call import Operator, Seen, Value
from doctor.repro.operator_names import aclnn_base, aten_base, kernel_candidates
from doctor.repro.operator_table import Row, Table, load, read
from doctor.repro.shapes import parse

TABLE = load()


def named(row: Row) -> tuple[str, str]:
    family = "cann" if row.cann else "aclnn" if row.aclnn else "aten"
    return row.names(family)[0], family


def test_more_than_150_operators_each_with_a_source() -> None:
    assert len(TABLE.rows) >= 150
    sources = yaml.safe_load((Path(kb.__file__).parent / "repro" / "operators.yaml").read_text(encoding="utf-8"))[
        "sources"
    ]
    for row in TABLE.rows:
        assert row.ref.partition("/")[0].partition(":")[0].split()[0] in sources, row.call


def test_every_row_has_a_name_and_is_found_by_it() -> None:
    for row in TABLE.rows:
        name, family = named(row)
        assert row is TABLE.find(name, family), name


def test_rows_are_consistent() -> None:
    from doctor.repro.build import templates

    for row in TABLE.rows:
        for source in (*row.args, *row.kwargs.values()):
            for index in re.findall(r"\bin(\d+)", str(source)):
                assert int(index) < len(row.example), row.call
        assert len(row.roles) <= max(len(row.example), 1), row.call
        assert row.template in templates()
        assert not row.note or {"en", "zh"} == set(row.note)


@pytest.mark.parametrize(
    ("name", "family", "call"),
    [
        ("MaxPoolGradWithArgmaxV1", "cann", "torch.nn.functional.max_pool2d"),
        ("topKD", "cann", "torch.topk"),
        ("GatherV2", "cann", "torch.index_select"),
        ("ScatterNdUpdate", "cann", "torch.index_put"),
        ("Gather", "cann", "torch.take"),
        ("aclnnGather", "aclnn", "torch.gather"),
        ("aclnnInplaceCopy", "aclnn", "torch.Tensor.copy_"),
        ("aclnnFusedInferAttentionScoreV3", "aclnn", "torch_npu.npu_fused_infer_attention_score"),
        ("aten::index_select.out", "aten", "torch.index_select"),
        ("aten::add_.Tensor", "aten", "torch.add"),
        ("F.linear", "torch", "torch.nn.functional.linear"),
        ("npu_swiglu", "torch", "torch_npu.npu_swiglu"),
        ("ai.onnx::11::grid_sampler", "cann", "torch.nn.functional.grid_sample"),
    ],
)
def test_names_of_every_layer(name: str, family: str, call: str) -> None:
    row = TABLE.find(name, family)
    assert row is not None
    assert call == row.call


@pytest.mark.parametrize(
    ("kernel", "word"),
    [
        ("GatherV3_7869a97190b9b4d296d9414a005b954b_high_performance_10330", "GatherV3"),
        ("te_gatherv2_657cb48fa1743a43209d7bc779fe8c294760a5b09b3079a3323fdf18376fc408_1__kernel0", "GatherV2"),
        ("12_204_trans_TransData_61", "TransData"),
        ("2_0_11_GatherV2", "GatherV2"),
        ("ArgMinWithValue_tvmbin", "ArgMinWithValue"),
        ("te_cast_06ca905b2a08ab8e9303e27ed61c5bdd_static_bin", "Cast"),
        ("RealDiv_ee98c6628030785f610b924ab1557b31_high_precision_210000000", "RealDiv"),
        ("FlashAttentionScore_0123456789abcdef0123456789abcdef_10000000000_mix_aic", "FlashAttentionScore"),
        ("moe_init_routing_0123456789abcdef0123", "MoeInitRouting"),
    ],
)
def test_kernel_names(kernel: str, word: str) -> None:
    row, found = TABLE.find_kernel(kernel)
    assert row is not None
    assert word == found


@pytest.mark.parametrize("kernel", ["none", "not found kernel name", "", "0123456789abcdef0123456789abcdef", "12_34"])
def test_names_that_say_nothing(kernel: str) -> None:
    assert TABLE.find_kernel(kernel) == (None, "")


def test_spellings() -> None:
    assert (aclnn_base("aclnnInplaceMaskedFillScalarGetWorkspaceSize"), aclnn_base("aclnnAddV3")) == (
        "MaskedFillScalar",
        "Add",
    )
    assert (aten_base("aten::add_.Tensor"), aten_base("aten::index_select.out"), aten_base("torch.max")) == (
        "add",
        "index_select",
        "max",
    )
    assert kernel_candidates("te_fused_mul_add_0123456789abcdef0123")


def test_sizes_of_one_input_reach_the_others() -> None:
    (one, two) = (
        s.get("tensor")
        for s in bind(Operator("MatMul", "cann", "x", (Seen("", 0, "float16", (7, 9)),)), TABLE).call.args
        if isinstance(s, dict)
    )
    assert (one, two) == ({"dtype": "float16", "shape": [7, 9]}, {"dtype": "float16", "shape": [9, 4]})


def test_a_transposed_matrix_is_made_with_strides() -> None:
    seen = (Seen("", 0, "float16", (32, 16)), Seen("", 1, "float16", (32, 8)))
    call = bind(Operator("MatMul", "cann", "x", seen, (("transpose_x1", True),)), TABLE).call
    assert call.args[0] == {"tensor": {"dtype": "float16", "shape": [16, 32], "stride": [1, 16]}}


def test_attributes_in_nchw_become_those_of_torch() -> None:
    seen = (Seen("", 0, "float16", (1, 3, 32, 32)), Seen("", 1, "float16", (8, 3, 3, 3)))
    attrs: tuple[tuple[str, Value], ...] = (("strides", [1, 1, 2, 2]), ("pads", [1, 1, 0, 0]), ("groups", 1))
    call = bind(Operator("Conv2D", "cann", "x", seen, attrs), TABLE).call
    assert (call.kwargs["stride"], call.kwargs["padding"], call.kwargs["groups"]) == ([2, 2], [1, 0], 1)


def test_an_unknown_key_is_an_error() -> None:
    with pytest.raises(KeyError, match="tempate"):
        read({"operators": [{"call": "torch.abs", "args": [], "ref": "x", "tempate": "y"}]})


@pytest.mark.parametrize("written", ["float32", "float32[2;3]", "quaternion[2]", "[2]", "float32[2]]"])
def test_what_is_no_tensor(written: str) -> None:
    with pytest.raises(ValueError, match=r"is no (tensor|size)"):
        parse(written)


def _run(row: Row, table: Table) -> str:
    """Empty, or what is wrong: the call of a row with its own example, the backward pass for a gradient kernel."""
    import torch

    from kb.repro._frame import Session
    from kb.repro._tensors import each, operator, tensors

    name, family = named(row)
    call = bind(Operator(name, family, "test"), table).call
    session = Session(argparse.Namespace(device="cpu", dtype="", seed=0, expect="", inject=None))
    leaves: list[torch.Tensor] = []

    def require(leaf: object) -> object:
        if isinstance(leaf, torch.Tensor) and leaf.is_floating_point() and row.template == "op_backward":
            leaves.append(leaf.detach().requires_grad_())
            return leaves[-1]
        return leaf

    try:
        planned = (session.plan(list(call.args)), {k: session.plan(v) for k, v in call.kwargs.items()})
        args, kwargs = each(session.place(planned, "cpu"), require)
        made = tensors(operator(call.operator)(*args, **kwargs))
        if row.template == "op_backward":
            outputs = [one for one in made if one.requires_grad]
            torch.autograd.grad(outputs, leaves, [torch.ones_like(one) for one in outputs], allow_unused=True)
        if row.inplace:
            operator(row.inplace)
    except Exception as problem:  # noqa: BLE001 - told by the caller
        return f"{name} -> {row.call}: {type(problem).__name__}: {problem}"
    return ""


@pytest.mark.filterwarnings("ignore")
def test_every_torch_call_of_the_table_runs() -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed: the table is not executed")
    rows = [row for row in TABLE.rows if not row.call.startswith("torch_npu.")]
    assert len(rows) >= 150
    wrong = [problem for row in rows if (problem := _run(row, TABLE))]
    assert wrong == []
