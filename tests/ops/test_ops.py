"""`npu-doctor ops`: folding, recompilation and its cause, conversions, steps, the profiler's table, and its limits."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path

import pytest

from doctor.ops import compile_log, compile_table, profiler
from doctor.ops.compiled import Summary
from doctor.read.discover import given_text
from doctor.read.source import Hints
from doctor.render.layout import Style


def desc(side: str, n: int, dtype: int, shape: str, form: int = 2) -> str:
    return (
        f"{side}putDesc[{n}]: [TensorDesc] DataType = {dtype}, Format = {form}, StorageFormat = -1, Shape = [{shape}], "
        "StorageShape = [], shapeRange = [], memtype = 0, isConst = 0 "
    )


def aclop(kind: str, *shapes: str, dtype: int = 1, pid: int = 7, attr: str = "") -> str:
    inputs = "".join(desc("In", n, dtype, s) for n, s in enumerate(shapes))
    return (
        f"[INFO] ASCENDCL({pid},python3):2026-01-01-00:00:00.000.001 [op_compiler.cpp:187]{pid} aclopCompile: "
        f"aclopCompile::aclOp = OpType: {kind}, {inputs}{desc('Out', 0, dtype, shapes[0])}Attr: {attr}"
    )


def missed(kind: str, what: str = "inputs", pid: int = 7) -> str:
    return (
        f"[WARNING] ASCENDCL({pid},python3):2026-01-01-00:00:00.000.002 [op_model_cache.h:101]{pid} MatchOpModel: "
        f"Match op {what} failed. opType = {kind}, inputDesc = 1~2~[]"
    )


def compiled(kind: str, pid: int = 7) -> str:
    return (
        f"[INFO] ASCENDCL({pid},python3):2026-01-01-00:00:00.000.003 [op_compiler.cpp:208]{pid} CompileOp: "
        f"To compile op: {kind}, compileFlag is 0"
    )


STEP_1 = [
    aclop("Relu", "4, 4"), missed("Relu", "type"), compiled("Relu"),
    aclop("MatMul", "16, 32", "32, 8", attr="{transpose_x1: 0}, {transpose_x2: 1}"), missed("MatMul", "type"), compiled("MatMul"),
    aclop("TransData", "1, 16, 8, 8"), missed("TransData", "type"), compiled("TransData"),
]  # fmt: skip
STEP_2 = [
    aclop("Relu", "4, 4"),
    aclop("MatMul", "17, 32", "32, 8", attr="{transpose_x1: 0}, {transpose_x2: 1}"), missed("MatMul"), compiled("MatMul"),
    aclop("TransData", "1, 16, 8, 8"),
]  # fmt: skip


def collect(lines: list[str], marker: str | None = None) -> Summary:
    return compile_log.collect([given_text("\n".join(lines) + "\n")], marker)[0]


def test_descriptions_are_folded_and_read_whole() -> None:
    made = collect([*STEP_1, *STEP_2])
    assert [(k.type, k.calls) for k in made.kinds] == [("Relu", 2), ("MatMul", 1), ("TransData", 2), ("MatMul", 1)]
    matmul = made.kinds[1]
    assert [(s.dtype, s.shape) for s in matmul.inputs] == [("float16", (16, 32)), ("float16", (32, 8))]
    assert matmul.outputs[0].shape == (16, 32)
    assert dict(matmul.attrs) == {"transpose_x1": 0, "transpose_x2": 1}
    assert made.conversions() == [("TransData", 2, 1)]


def test_a_recompilation_names_its_step_and_the_input_that_changed() -> None:
    made = collect([*STEP_1, *STEP_2])
    assert made.steps == 2
    assert made.steps_by == "estimate"
    (again,) = made.again
    assert (again.type, again.again, again.again_step) == ("MatMul", 1, 2)
    assert [tuple(c) for c in again.changes] == [(0, "shape", "[16, 32]", "[17, 32]")]


def test_the_first_step_may_compile_one_type_for_many_shapes() -> None:
    lines = [*STEP_1, aclop("MatMul", "5, 5", "5, 5"), missed("MatMul"), compiled("MatMul")]
    assert collect(lines).again == []
    assert len(collect([*lines, aclop("Relu", "4, 4"), *lines[-3:]]).again) == 1


def test_a_miss_and_its_compilation_are_one() -> None:
    made = collect([*STEP_1, *STEP_2, aclop("MatMul", "18, 32", "32, 8"), compiled("MatMul")])
    assert [k.compiled for k in made.kinds if k.type == "MatMul"] == [1, 1, 1]


def test_progress_lines_count_the_steps_when_there_are_any() -> None:
    lines = [
        "loading data", *STEP_1, aclop("Relu", "4, 4"), " iteration        1/     100 | lm loss: 9.1 |",
        *STEP_2, " iteration        2/     100 | lm loss: 9.0 |",
    ]  # fmt: skip
    made = collect(lines)
    assert (made.steps, made.steps_by) == (2, "marker")
    assert made.again[0].again_step == 2
    own = collect(["go", *STEP_1, "## round 1", *STEP_2], r"^## round (\d+)")
    assert own.again
    assert own.steps_by == "marker"
    assert collect(["go", *STEP_1, *STEP_2]).steps_by == "none"


def test_processes_do_not_mix() -> None:
    other = [line.replace("(7,", "(8,") for line in STEP_2[1:]]
    made = collect([*STEP_1, *other])
    assert made.processes == 2
    assert made.again == []


def test_dtype_and_attribute_changes_are_told() -> None:
    lines = [
        *STEP_1,
        aclop("Relu", "4, 4"),
        aclop("MatMul", "16, 32", "32, 8", dtype=0, attr="{transpose_x1: 1}, {transpose_x2: 1}"),
    ]
    lines += [missed("MatMul")]
    told = {(c.what, c.before, c.after) for c in collect(lines).again[0].changes}
    assert ("dtype", "float16", "float32") in told
    assert ("attribute transpose_x1", "0", "1") in told


def test_beyond_the_limit_calls_are_folded_by_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_log, "MAX_KINDS", 3)
    lines = [aclop("Cast", "1"), *(aclop("Cast", str(n + 1)) for n in range(10)), missed("Cast"), compiled("Cast")]
    made = collect(lines)
    assert [k.folded for k in made.kinds] == [False, False, False, True]
    assert (made.folded, made.calls, made.kinds[3].again) == (7, 11, 1)
    assert made.conversions() == [("Cast", 11, 3)]
    assert json.loads(compile_table.as_json(compile_table.data(made, ())))["folded_calls"] == 7


def test_a_line_without_an_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_log, "BLOCK", 64)
    monkeypatch.setattr(compile_log, "MAX_LINE", 256)
    blocks = list(compile_log._blocks(io.BytesIO(b"x" * 5000 + b"\nlast")))
    assert max(map(len, blocks)) < 512
    assert blocks[-1] == b"last"


def test_an_unreadable_source_is_named() -> None:
    source = given_text("x")._replace(name="gone.log", open=lambda: open("/nonexistent/gone.log", "rb"))
    made, skipped = compile_log.collect([source, given_text("\n".join(STEP_1))])
    assert made.kinds
    assert skipped[0].path == "gone.log"


def test_a_pure_plog_is_skipped_in_stretches_but_no_operator_is_lost() -> None:
    noise = "\n".join(f"[INFO] HCCL(7,python3):2026-01-01-00:00:00.000.{n:03} [a.cc:1] line" for n in range(900))
    text = f"{noise}\n" + "\n".join(STEP_1) + f"\n{noise}\n"
    plog = given_text(text)._replace(hints=Hints(pid=7))
    assert len(compile_log.collect([plog])[0].kinds) == 3


def test_text_json_and_csv_from_the_command(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    log = tmp_path / "plog-7_20260101000000000.log"
    log.write_text("\n".join([*STEP_1, *STEP_2]) + "\n")
    done = run("ops", str(log), "--lang", "en")
    text = done.stdout.decode()
    assert done.returncode == 1
    assert "input 0 shape: [16, 32] -> [17, 32]" in text
    assert "TransData  2 calls" in text
    assert "首个 step 之后" in run("ops", str(log), "--lang", "zh").stdout.decode()
    made = json.loads(run("ops", "-", "-f", "json", stdin=log.read_bytes()).stdout)
    assert made["recompiled"][0]["changed"] == [
        {"number": 0, "what": "shape", "before": "[16, 32]", "after": "[17, 32]"}
    ]
    rows = list(csv.DictReader(io.StringIO(run("ops", str(log), "-f", "csv").stdout.decode())))
    assert len(rows) == 4
    assert rows[3]["compiled_again"] == "1"
    assert rows[1]["outputs"] == "float16 ND [16, 32]"


def test_a_log_without_operators_tells_how_to_get_them(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    done = run("ops", "-", stdin=b"hello\n")
    assert done.returncode == 3
    assert b"ASCEND_GLOBAL_LOG_LEVEL=1" in done.stderr
    assert not done.stdout
    assert run("ops", "-", "--step", "(", stdin=b"x").returncode == 2
    assert run("ops", "--profiler", str(tmp_path / "none.log")).returncode == 2


def test_csv_cells_are_no_formulas() -> None:
    made = collect([aclop("Relu", "1")])
    made.kinds[0].type = "=cmd()"
    assert "'=cmd()" in compile_table.as_csv(made)


PROFILE = """\
step one
-------------------------  ------------  ------------  ------------------------
                     Name    Self CPU %    # of Calls              Input Shapes
-------------------------  ------------  ------------  ------------------------
                 aten::mm        12.30%             4    [[16, 32], [32, 8]]
               aten::relu         2.30%             2    [[16, 8]]
                   detach         0.30%             1    []
-------------------------  ------------  ------------  ------------------------
Self CPU time total: 3.1ms
Self NPU time total: 9.1ms
-------------------------  ------------  ------------  ------------------------
                     Name    Self CPU %    # of Calls              Input Shapes
-------------------------  ------------  ------------  ------------------------
                 aten::mm        12.30%             4    [[17, 32], [32, 8]]
               aten::relu         2.30%             2    [[16, 8]]
               aten::topk         2.30%             2    [[16], [], []]
-------------------------  ------------  ------------  ------------------------
"""


def test_the_profiler_table(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    table = profiler.parse(PROFILE.splitlines())
    assert table.operators == {"aten::mm": 8, "aten::relu": 4, "detach": 1, "aten::topk": 2}
    assert table.steps == 2
    assert table.dynamic == {"aten::mm": ("[[17, 32], [32, 8]]",), "aten::topk": ("[[16], [], []]",)}
    log = tmp_path / "profiler.log"
    log.write_text(PROFILE)
    done = run("ops", "--profiler", str(log), "--lang", "en")
    assert done.returncode == 1
    assert b"aten::topk" in done.stdout
    assert json.loads(run("ops", "--profiler", str(log), "-f", "json").stdout)["dynamic"] == ["aten::mm", "aten::topk"]
    assert b"aten::mm,8" in run("ops", "--profiler", "-", "-f", "csv", stdin=log.read_bytes()).stdout


def test_a_table_without_shapes_says_so(run) -> None:  # type: ignore[no-untyped-def]
    text = "Name    Self CPU %    CPU total    # of Calls\n----  ----\naten::add    1.0%    2.0us    3\n"
    done = run("ops", "--profiler", "-", "--lang", "en", stdin=text.encode())
    assert done.returncode == 0
    assert b"record_shapes=True" in done.stdout


def test_the_demo_has_a_recompilation(run) -> None:  # type: ignore[no-untyped-def]
    done = run("ops", "kb/demo", "-f", "json")
    made = json.loads(done.stdout)
    assert done.returncode == 1
    assert made["steps"] == {"count": 4, "by": "estimate"}
    assert [(r["type"], r["compiled_again_step"]) for r in made["recompiled"]] == [("MatMulV2", 3)]
    assert {c["type"]: c["calls"] for c in made["conversions"]} == {"Cast": 4, "TransData": 4}


def test_no_input_raises() -> None:
    r = random.Random(3)
    bits = [
        "aclOp = OpType: ", "MatMul, ", "InputDesc[0]: [TensorDesc] DataType = 1, Format = 2, StorageFormat = -1, Shape = [", "16, 32]",
        "-1, 2]", "Match op inputs failed. opType = ", "To compile op: ", "[INFO] ", "ASCENDCL(7,p):", "\n", "Attr: {a: [", "step 3 ",
        "\x00\x7f", "é中", "Name   CPU  # of Calls   Input Shapes\n", "[[",
    ]  # fmt: skip
    for _ in range(300):
        text = "".join(r.choice(bits) for _ in range(r.randrange(60)))
        made, _ = compile_log.collect([given_text(text)])
        assert compile_table.text(made, (), "zh", Style())
        assert json.loads(compile_table.as_json(compile_table.data(made, ())))
        assert compile_table.as_csv(made)
        profiler.parse(text.splitlines())
