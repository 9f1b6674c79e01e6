"""The short script: a person's own, run for real on the CPU, with nothing in it but the case."""

from __future__ import annotations

import ast
from collections.abc import Callable
from statistics import median

import pytest
from tests_support import HOSTILE

from doctor.repro import choose
from doctor.repro.build import template, templates
from doctor.repro.call import Call, Operator, Request, Value
from doctor.repro.choose import Wish
from doctor.repro.operator_table import Row, load
from doctor.repro.short import script
from doctor.repro.validate import IncompleteError, SlotError
from doctor.repro.word_sets import words

Execute = Callable[..., tuple[int, str]]
TABLE = load()
NAMES = tuple(templates())
ROWS = [row for row in TABLE.rows if not row.needs and not row.call.startswith("torch_npu.")]
WORDS = words(
    "sys os time torch torch_npu dist DEVICE NPU print len int str range float complex isinstance tuple list call device dtype expected result "
    "error Exception formatted tensor number out first model inputs p held size attempt begin exact limit rank world mine parts part "
    "sent received x y run made free total wanted blocks block graph backend compiled last torchair"
)


def short(name: str, **slots: Value) -> str:
    return script(Request(name, slots)).text


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"hccl_collective"}))
def test_each_template_runs_on_the_cpu(name: str, execute: Execute, tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is handed out, without an NPU: the same call on the CPU, and its verdict in words."""
    monkeypatch.chdir(str(tmp_path))
    code, printed = execute(short(name), "cpu")
    assert code == 0, printed
    assert "torch 2" in printed


def test_they_are_short() -> None:
    """What a maintainer reads at a glance."""
    lengths = [short(name).count("\n") for name in NAMES]
    assert max(lengths) <= 44
    assert median(lengths) <= 32


@pytest.mark.parametrize("row", ROWS, ids=[row.call for row in ROWS])
def test_every_operator_of_the_table_runs(row: Row, execute: Execute) -> None:
    """Named by a log and nothing else known, each gives a script that runs."""
    family = "cann" if row.cann else "aclnn" if row.aclnn else "aten"
    name = row.names(family)[0]
    text = script(choose.request(Operator(name, family, "test", failed=True), TABLE, Wish())).text
    code, printed = execute(text, "cpu")
    assert code == 0 or "not comparable" in printed, f"{text}\n{printed}"
    assert text.count("\n") <= 52


def test_a_malformed_call_says_so(execute: Execute) -> None:
    """Shapes that no device multiplies prove nothing about the NPU."""
    tensors: list[Value] = [{"tensor": {"dtype": "float32", "shape": [2, 3]}}, {"tensor": {"dtype": "float32", "shape": [5, 7]}}]
    code, printed = execute(short("single_op", OPERATOR="torch.matmul", ARGS=tensors, KWARGS={}), "cpu")
    assert code == 1
    text = short("single_op", OPERATOR="torch.matmul", ARGS=tensors, KWARGS={})
    assert "malformed" in text
    del printed


def test_random_results_are_not_compared() -> None:
    text = short("single_op", OPERATOR="torch.nn.functional.dropout", ARGS=[{"tensor": {"dtype": "float32", "shape": [4]}}], KWARGS={}, COMPARE=False)
    assert "assert_close" not in text
    assert "may differ from run to run" in text


def test_views_and_private_formats_are_kept(execute: Execute) -> None:
    """Strides, offsets and NZ are what such faults hang on."""
    view: Value = {"tensor": {"dtype": "float16", "shape": [4, 3], "stride": [1, 4], "offset": 2, "format": 29}}
    text = short("single_op", OPERATOR="torch.abs", ARGS=[view], KWARGS={})
    assert ".as_strided((4, 3), (1, 4), 2)" in text
    assert "npu_format_cast" in text
    code, printed = execute(text, "cpu")
    assert code == 0, printed


def test_no_script_is_better_than_one_that_stops_at_once() -> None:
    with pytest.raises(IncompleteError, match="fill in ARGS"):
        short("single_op", INCOMPLETE="fill in ARGS")


def test_a_ladder_asks_for_no_more_than_is_free_and_then_in_pieces(execute: Execute) -> None:
    """On an NPU each step beyond what is free would fail, and prove nothing."""
    code, printed = execute(short("memory_pressure", SIZE=8 << 20, LIMIT=32 << 20), "cpu")
    assert (code, "16 MiB in one piece can be had" in printed, "32 MiB in one piece" in printed) == (0, True, False), printed
    assert "2 MiB in one piece can be had when 4 MiB were freed in pieces" in printed


@pytest.mark.parametrize(("name", "random"), [("aten::randn.default", True), ("aten::native_dropout.default", True), ("aten::normal_.default", True), ("torch.nn.functional.normalize", False), ("aten::native_layer_norm.default", False)])
def test_what_is_random_is_not_compared(name: str, random: bool) -> None:
    """Whoever recorded it: the table does not know every spelling."""
    tensor: Value = {"tensor": {"dtype": "float32", "shape": [3, 4]}}
    called = name if name.startswith("torch.") else "torch.ops." + name.replace("::", ".")
    made = script(choose.request(Operator(name, "aten", "record", failed=True, call=Call(called, (tensor,))), load(), Wish())).text
    assert ("may differ from run to run" in made) is random


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("name", NAMES)
def test_hostile_text_stays_text(name: str, hostile: str) -> None:
    """A value, a note, a name or a keyword: no name appears in a script that it did not have by itself."""
    for slot_name in template(name).slot_names:
        values: list[Value] = [
            hostile, [hostile], {hostile: hostile}, [{"tensor": {"dtype": "float32", "shape": [1], "id": hostile}}],
            [{"tensor": {"dtype": hostile, "shape": [1]}}], {"class": 1}, {"sys": 1},
            [{"op": "torch.abs", "args": [{"tensor": {"dtype": "float32", "shape": [1], "id": "sys"}}], "kwargs": {}, "out": ["print"]}],
            [{"op": hostile, "args": [hostile], "kwargs": {hostile: 1}, "out": [hostile]}],
        ]  # fmt: skip
        for value in values:
            try:
                text = script(Request(name, {slot_name: value}, expect=hostile)).text
            except SlotError:
                continue
            names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
            assert {n for n in names if n not in WORDS and not n.startswith(("x", "t_", "_"))} == set(), text
            calls = [node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
            assert not any(isinstance(c, ast.Name) and c.id not in WORDS for c in calls)
