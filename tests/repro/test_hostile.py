"""Captured text is data: whatever a log says, a script holds it as a value, and does nothing else than its template."""

from __future__ import annotations

import ast
import json
import os
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests_support import HOSTILE

from doctor.repro import choose, gather
from doctor.repro.build import BEGIN, END, script, template, templates
from doctor.repro.call import Operator, Request, Seen, Value
from doctor.repro.choose import Wish
from doctor.repro.extract import operators
from doctor.repro.operator_table import load
from doctor.repro.validate import SlotError, slot
from kb.model import Text

NAMES = tuple(templates())


@lru_cache(maxsize=64)
def around(name: str, lang: str) -> tuple[str, str]:
    """The program before and after the values, from a script without any."""
    own = script(Request(name, {}, lang=lang)).text
    return own[: own.index(BEGIN)], own[own.rindex(END) :]


def unchanged(name: str, text: str, lang: str = "en") -> None:
    """The same program as the template's own to the letter, and between the marks nothing but literals for its slots."""
    head, tail = around(name, lang)
    assert (text.startswith(head), text.endswith(tail)) == (True, True)
    block = ast.parse(text[len(head) : len(text) - len(tail)]).body
    assert list(template(name).slot_names) == [
        n.target.id for n in block if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
    ]
    assert len(block) == len(template(name).slot_names)
    for node in block:
        assert isinstance(node, ast.AnnAssign)
        assert node.value is not None
        if not isinstance(node.value, ast.BinOp):  # a default of the template itself, such as 64 << 20
            ast.literal_eval(node.value)


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("name", NAMES)
def test_hostile_text_in_every_place_of_every_template(name: str, hostile: str) -> None:
    """Each slot of each template takes the text as a value or refuses it; notes and the expected error always take it."""
    for slot_name in template(name).slot_names:
        values: list[Value] = [
            hostile,
            [hostile],
            {hostile: hostile},
            [{"tensor": {"dtype": hostile, "shape": [1]}}],
            [{"tensor": {"dtype": "float32", "shape": [1], "id": hostile}}],
            [{"tensor": {"dtype": "float32", "shape": [1], hostile: 1}}],
            [{"dtype": hostile}],
            [{"device": hostile}],
            [{"layout": hostile}],
            [{hostile: 1}],
            [{"op": hostile, "args": [hostile], "kwargs": {hostile: 1}, "out": [hostile]}],
            [{"name": hostile, "args": [], "kwargs": {}}],
        ]
        for value in values:
            try:
                made = script(Request(name, {slot_name: value}, lang="zh"))
            except SlotError:
                continue
            unchanged(name, made.text, "zh")
    made = script(Request(name, {}, expect=hostile, notes=(Text(hostile, hostile),), guessed=(Text(hostile, hostile),)))
    unchanged(name, made.text)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_captures_through_the_whole_way(hostile: str) -> None:
    """As names, roles, attributes and messages of logs, and as captures of a finding."""
    texts = (
        f"RuntimeError: call aclnnMatmul failed, detail:EZ1001: {hostile} [3,4], [5,6]",
        f"fault kernel_name={hostile}, device_id=1, Aicore kernel execute failed",
        f"aclOp = OpType: MatMul, InputDesc[0]: [TensorDesc] DataType = 1, Format = 2, StorageFormat = 2, Shape = [2, 3] Attr: {{{hostile} = {hostile}}}",
        f"CAUTION: The operator 'aten::{hostile}' is not currently supported on the NPU backend",
        f"Optype [{hostile}] of Ops kernel [x] is unsupported",
        f'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    torch.max({hostile})\nRuntimeError: {hostile}',
        json.dumps(
            {
                "npu_doctor_record": 1,
                "operators": [],
                "error": None,
                "failed": {"seq": 1, "op": "aten.from_file.default", "args": [hostile], "kwargs": {}},
            }
        ),
        json.dumps(
            {
                "npu_doctor_record": 1,
                "operators": [],
                "error": None,
                "failed": {"seq": 1, "op": "aten.abs.default", "args": [hostile], "kwargs": {hostile: 1}},
            }
        ),
    )
    for text in texts:
        for one in operators(text):
            try:
                request = choose.request(one, load(), Wish(expect=hostile))
                made = script(request)
            except SlotError:
                continue
            unchanged(request.template, made.text)
    told = {"op": hostile, "kernel": hostile, "device": hostile}
    request = choose.request(None, load(), Wish("single_op"), told)
    unchanged(request.template, script(request).text)


@pytest.mark.parametrize(
    "name",
    ["torch.load", "torch.save", "torch.compile", "torch.from_file", "torch.ops.aten.from_file", "torch.ops.prim.Print.default", "torch.hub.load",
     "torch.os.system", "torch.Tensor.__reduce_ex__", "torch.Tensor.apply_", "torch.ops.load_library", "torch.jit.load", "torch._C._jit_set",
     "torch_npu.utils.x", "os.system", "torch.nn.functional.os.system", "torch.utils.cpp_extension.load", "torch.max; x", "torch.max\n", ""],
)  # fmt: skip
def test_only_operators_may_be_called(name: str) -> None:
    with pytest.raises(SlotError):
        slot("OPERATOR", name)


@pytest.mark.parametrize(
    "name",
    [
        "torch.max",
        "torch.nn.functional.conv2d",
        "torch.Tensor.add_",
        "torch.linalg.inv",
        "torch.ops.aten.max.dim",
        "torch_npu.npu_swiglu",
    ],
)
def test_operators_may(name: str) -> None:
    assert name == slot("OPERATOR", name)


def test_every_call_of_the_table_may() -> None:
    for row in load().rows:
        assert row.call == slot("OPERATOR", row.call)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ARGS", [{"tensor": {"dtype": "float32", "shape": [-1]}}]),
        ("ARGS", [{"tensor": {"dtype": "float32", "shape": [1 << 60]}}]),
        ("ARGS", [{"tensor": {"dtype": "float32", "shape": [1] * 17}}]),
        ("ARGS", [{"tensor": {"dtype": "float32", "shape": [2, 2], "stride": [1]}}]),
        ("ARGS", [1 << 70]),
        ("KWARGS", {"__class__": 1}),
        ("NO_SUCH_SLOT", 1),
        ("DEVICE", "cuda:0"),
        ("COLLECTIVE", "all_of_them"),
        ("COUNT", True),
    ],
)
def test_values_out_of_range_are_refused(name: str, value: Value) -> None:
    with pytest.raises(SlotError):
        slot(name, value)


def test_deep_nesting_is_refused() -> None:
    deep: Value = 1
    for _ in range(50):
        deep = [deep]
    with pytest.raises(SlotError):
        slot("ARGS", [deep])


def test_infinities_become_literals() -> None:
    made = script(Request("single_op", {"ARGS": [float("inf"), float("nan"), -float("inf")]}))
    assert "{'float': 'inf'}, {'float': 'nan'}, {'float': '-inf'}" in made.text


@settings(max_examples=60)
@given(st.text(max_size=60), st.text(max_size=60), st.integers(-(1 << 70), 1 << 70))
def test_any_text_and_number(one: str, other: str, number: int) -> None:
    seen = Seen(one, 0, "float32", (2, 3))
    operator = Operator("MatMul", "cann", "aclop", (seen,), ((other, number), ("transpose_x1", one)), error=other)
    try:
        request = choose.request(operator, load(), Wish())
        made = script(request)
    except SlotError:
        return
    unchanged(request.template, made.text)


def test_only_plain_files_of_the_folder_are_read_as_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe is not waited for, a link out of the folder not followed, of an enormous file the beginning is enough."""
    monkeypatch.setattr(gather, "MAX_RECORD", 1000)
    (tmp_path / "secret").write_text("swordfish")
    folder = tmp_path / "logs"
    folder.mkdir()
    os.mkfifo(folder / "ops-1.ring")
    os.mkfifo(folder / "ops-1.json")
    (folder / "ops-2.ring").symlink_to(tmp_path / "secret")
    with (folder / "ops-3.ring").open("wb") as file:
        file.truncate(1 << 38)
    (folder / "ops-4.ring").write_text("of this folder")
    told = str(gather.evidence([str(folder)]))
    assert "of this folder" in told
    assert "swordfish" not in told
