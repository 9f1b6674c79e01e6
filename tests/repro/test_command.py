"""`npu-doctor repro` as a function: from an entry, from logs, from a record, from scratch; what it refuses and says."""

from __future__ import annotations

import argparse
import ast
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from doctor import api
from doctor.base.errors import UsageError
from doctor.judge.diagnosis import Diagnosis
from doctor.repro import choose, gather
from doctor.repro.choose import BY_KIND, BY_OPERATOR, Wish
from doctor.repro.operator_table import load
from doctor.repro.repro_command import add_arguments, run
from doctor.repro.short import script
from kb.knowledge import Knowledge
from kb.model import Entry

# Re-enacted incidents in full text around the line that matters: file name, text, and what the script must call and hold.
LOGS: dict[str, tuple[str, str, list[dict[str, Any]]]] = {
    "vllm-gather.txt": (
        "INFO 05-15 09:40:00 engine started\n"
        * 40
        + "[ASSERT] [CANN_VERSION : 8.1.RC1][TimeStamp : 0] /x/op_impl/ai_core/tbe/impl/dynamic/../ascendc/gather_v3/gather_v3_base.h:137: Assertion "
        "`(0 <= val && val < this->gxSize_)' Index 7777 out of range[0 2048)!\n"
        "[rank0]:[W515 09:40:12.302912713 compiler_depend.ts:57] Warning: EZ9999: Inner Error!\n"
        "EZ9999: [PID: 2715] 2025-05-15-09:40:10.524.561 The error from device(chipId:2, dieId:0), serial number is 635, there is an aivec error exception, core id is 25, error code = 0, dump info: pc start: 0x1.\n"
        "        TraceBack (most recent call last):\n"
        "       Aicore kernel execute failed, device_id=2, stream_id=2, report_stream_id=2, task_id=96, flip_num=0, fault kernel_name=GatherV3_7869a97190b9b4d296d9414a005b954b_high_performance_10330, fault kernel info ext=none, program id=31, hash=4.[FUNC:GetError][FILE:stream.cc][LINE:1119]\n"
        "ERROR 05-15 09:40:12 [core.py:291] RuntimeError: ACL stream synchronize failed, error code:507035\n",
        "torch.index_select",
        [{"dtype": "float32", "shape": [2048, 4]}, {"dtype": "int64", "shape": [5], "low": 0, "high": 7778}],
    ),
    "aclnn.log": (
        "ERROR 04-27 02:22:35 [core.py:396]     return dispatch_unquantized_gemm()(x, layer.weight, bias)\n"
        "ERROR 04-27 02:22:35 [core.py:396] RuntimeError: call aclnnMatmul failed, detail:EZ1001: [PID: 50116] 2025-04-27-02:22:35.294.465 The k-axis of the two inputs are different [22937,128], [3584,3584]\n"
        "ERROR 04-27 02:22:35 [core.py:396] [ERROR] 2025-04-27-02:22:35 (PID:50116, Device:0, RankID:-1) ERR01100 OPS call acl api failed\n",
        "torch.matmul",
        [{"dtype": "float32", "shape": [22937, 128]}, {"dtype": "float32", "shape": [3584, 3584]}],
    ),
    "plog-77_20260101000000000.log": (
        "[INFO] ASCENDCL(77,python):2026-01-01-00:00:00.000.002 [op_compiler.cpp:187]77 aclopCompile::aclOp = OpType: MaxPoolGradWithArgmaxV1, InputDesc[0]: [TensorDesc] DataType = 1, Format = 0, StorageFormat = 3, "
        "Shape = [2, 64, 112, 112], StorageShape = [], shapeRange = [], memtype = 0, isConst = 0 Attr: {ksize = [1,1,3,3], strides = [1,1,2,2], pads = [1,1,1,1]}\n"
        "[ERROR] RUNTIME(77,python):2026-01-01-00:00:01.000.001 [x.cc:1]77 F:Aicore kernel execute failed, device_id=1, stream_id=7, fault kernel_name=MaxPoolGradWithArgmaxV1_0123456789abcdef0123_1, fault kernel info ext=none.\n",
        "torch.nn.functional.max_pool2d",
        [{"dtype": "float16", "shape": [2, 64, 112, 112], "format": 3}],
    ),
}


@pytest.fixture(autouse=True)
def _same_knowledge(knowledge: Knowledge) -> None:
    """Loaded once for all tests, as the command line loads it once for a call."""
    global KNOWN
    KNOWN = knowledge


KNOWN: Knowledge | None = None


def diagnose(what: Sequence[str]) -> Diagnosis:
    return api.diagnose(what, knowledge=KNOWN)


def options(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    parser.add_argument("--lang")
    return parser.parse_args([*words, "--no-try"])


def slots(text: str) -> dict[str, Any]:
    found = {}
    for node in ast.parse(text).body:
        if (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and node.target.id.isupper()
            and node.value
        ):
            try:
                found[node.target.id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return found


def made(capsys: pytest.CaptureFixture[str], *words: str, knowledge: Knowledge | None = None) -> dict[str, Any]:
    assert run(options("--harness", *words), diagnose, knowledge) == 0
    return slots(capsys.readouterr().out)


@pytest.mark.parametrize("name", LOGS)
def test_from_logs_the_script_holds_operator_sizes_and_types(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, call, tensors = LOGS[name]
    (tmp_path / name).write_text(text)
    got = made(capsys, "--from", str(tmp_path / name))
    assert call == got["OPERATOR"]
    assert tensors == [arg["tensor"] for arg in got["ARGS"] if isinstance(arg, dict)]


def test_attributes_and_the_backward_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str], execute: Any) -> None:
    """A gradient kernel gets the template with autograd, its attributes in torch's form; the script runs."""
    (tmp_path / "plog-77_20260101000000000.log").write_text(LOGS["plog-77_20260101000000000.log"][0])
    assert run(options("--harness", "--from", str(tmp_path)), diagnose) == 0
    text = capsys.readouterr().out
    got = slots(text)
    assert (got["ARGS"][1][0], got["KWARGS"]["stride"], got["KWARGS"]["padding"]) == (3, [2, 2], [1, 1])
    code, printed = execute(text, "--device", "cpu", "--dtype", "float32")
    assert (code, "gradient" in printed) == (0, True), printed


def test_the_line_of_the_log_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "vllm-gather.txt"
    path.write_text(LOGS["vllm-gather.txt"][0])
    (note, *_) = made(capsys, "--from", str(path))["NOTES"]
    assert "vllm-gather.txt:41" in note
    assert str(tmp_path) not in note  # scripts are passed on; paths tell of people and machines


def test_the_error_to_compare_is_taken_from_the_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.log"
    path.write_text(LOGS["aclnn.log"][0])
    assert made(capsys, "--from", str(path))["EXPECT"] == "call aclnnMatmul failed"
    assert made(capsys, "--from", str(path), "--expect", "161002")["EXPECT"] == "161002"


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LOGS["aclnn.log"][0].encode())))
    assert made(capsys, "--from", "-")["OPERATOR"] == "torch.matmul"


def test_from_scratch(capsys: pytest.CaptureFixture[str]) -> None:
    """A torch call is taken as it is written; nothing is added to it and nothing is a guess."""
    got = made(capsys, "--op", "torch.max", "--input", "int64[10,20]", "--attr", "dim=1")
    assert (got["OPERATOR"], got["ARGS"], got["KWARGS"]) == (
        "torch.max",
        [{"tensor": {"dtype": "int64", "shape": [10, 20]}}],
        {"dim": 1},
    )
    assert got["NOTES"] == ["operator 'torch.max' (command line)"]


def test_from_scratch_by_a_name_of_cann(capsys: pytest.CaptureFixture[str]) -> None:
    got = made(capsys, "--op", "ArgMaxWithValue", "--input", "float16[10,20]", "--attr", "dimension=1")
    assert (got["OPERATOR"], *got["ARGS"][:2]) == ("torch.max", {"tensor": {"dtype": "float16", "shape": [10, 20]}}, 1)


def test_from_scratch_an_operator_outside_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    got = made(capsys, "--op", "torch.special.bessel_j0", "--input", "float64[3]")
    assert (got["OPERATOR"], got["ARGS"]) == (
        "torch.special.bessel_j0",
        [{"tensor": {"dtype": "float64", "shape": [3]}}],
    )


def test_another_template_is_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    got = made(capsys, "--op", "torch.add", "--input", "float32[4,8]", "--template", "inplace_out")
    assert (got["INPLACE"], got["OUT"]) == ("torch.Tensor.add_", True)
    got = made(capsys, "--op", "torch.stack", "--input", "float32[4,8]", "--input", "float16[4,8]")
    assert [one["tensor"]["dtype"] for one in got["INPUTS"]] == ["float32", "float16"]
    got = made(capsys, "--op", "torch.softmax", "--input", "float32[4,100]", "--template", "dynamic-shape")
    assert (got["DIMENSION"], got["SIZES"][0]) == (1, 100)
    got = made(
        capsys, "--op", "Conv2D", "--input", "float32[1,3,32,32]", "--input", "float32[8,3,5,5]", "--template", "module"
    )
    assert got["MODULES"][0] == {"name": "Conv2d", "args": [3, 8, [5, 5]], "kwargs": {}}


@pytest.mark.parametrize(
    "template",
    [
        "single_op",
        "inplace_out",
        "op_backward",
        "mixed_stack",
        "dtype_sweep",
        "dynamic_shape",
        "stream_bisect",
        "overflow_detection",
        "op_dump",
        "module_context",
    ],
)
def test_every_operator_template_runs_with_an_operator_of_a_log(
    template: str, capsys: pytest.CaptureFixture[str], execute: Any
) -> None:
    words = ("--op", "aclnnAdd", "--input", "float16[6,8]", "--input", "float16[6,8]", "--template", template)
    assert run(options(*words), diagnose) == 0
    code, printed = execute(capsys.readouterr().out, "cpu")
    assert code == 0, printed
    assert run(options("--harness", *words), diagnose) == 0
    code, printed = execute(capsys.readouterr().out, "--device", "cpu")
    assert code == 0, printed


def test_from_an_entry(knowledge: Knowledge, entries: list[Entry], capsys: pytest.CaptureFixture[str]) -> None:
    """Every entry with a template gives a script; the template names of the knowledge are real ones."""
    told = [entry for entry in entries if entry.repro]
    assert told
    for entry in told:
        assert entry.repro is not None
        template, slots = entry.repro
        if any(value == "unknown" or value.endswith("|unknown}") for _, value in slots) or (template in BY_OPERATOR and not slots):  # the log has to tell the operator
            with pytest.raises(UsageError, match="tells no operator"):
                run(options(entry.code), diagnose, knowledge)
        else:
            assert made(capsys, entry.code, knowledge=knowledge)


def test_an_entry_without_a_template_gets_that_of_its_kind(
    knowledge: Knowledge, entries: list[Entry], capsys: pytest.CaptureFixture[str]
) -> None:
    """Memory, collectives, devices and precision have scripts of their own; nothing else is made up."""
    for kind, template in BY_KIND.items():
        entry = next((e for e in entries if e.kind == kind and e.repro is None and not e.no_repro), None)
        if entry is not None:
            assert run(options(entry.code), diagnose, knowledge) == 0
            head, title, rest = capsys.readouterr().out.split("\n", 2)
            assert f"{head}\n{rest}" == script(choose.request(None, load(), Wish(template))).text
            assert title.startswith(f"# {entry.code}: ")
    silent = next(e for e in entries if e.kind == "permission")
    with pytest.raises(UsageError, match="tells no operator"):
        run(options(silent.code), diagnose, knowledge)


def test_a_finding_chooses_the_template(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.log"
    path.write_text(
        "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.97 GiB total capacity; 59.51 GiB already allocated)\n"
    )
    assert made(capsys, "--from", str(path))["SIZE"] == 2 << 30
    assert made(capsys, "--from", str(path), "--finding", "1")["SIZE"] == 2 << 30


def test_a_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tensor = {"tensor": {"dtype": "float32", "shape": [3, 4], "stride": [1, 3], "id": 4096}}
    failed = {
        "seq": 2,
        "op": "aten.mm.default",
        "args": [tensor, tensor],
        "kwargs": {},
        "error": {"type": "RuntimeError", "message": "boom"},
    }
    before = {"seq": 1, "op": "aten.abs.default", "args": [tensor], "kwargs": {}, "out": [4096]}
    record = {
        "npu_doctor_record": 1,
        "pid": 1,
        "operators": [before, failed],
        "failed": failed,
        "error": {"type": "RuntimeError", "message": "boom", "frames": []},
    }
    path = tmp_path / "ops-1.json"
    path.write_text(json.dumps(record))
    got = made(capsys, "--from", str(path))
    assert (got["OPERATOR"], got["EXPECT"]) == ("torch.ops.aten.mm.default", "boom")
    assert [arg["tensor"] for arg in got["ARGS"]] == [
        {"dtype": "float32", "shape": [3, 4], "stride": [1, 3], "id": "s0"}
    ] * 2
    steps = made(capsys, "--from", str(path), "--context", "5")["STEPS"]
    assert ([s["op"] for s in steps], steps[0]["out"]) == (
        ["torch.ops.aten.abs.default", "torch.ops.aten.mm.default"],
        ["s0"],
    )


def test_guesses_are_told_in_the_readers_language(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "r.py"
    assert run(options("--harness", "--op", "aclnnSoftmax", "--lang", "zh", "-o", str(target)), diagnose) == 0
    told = capsys.readouterr().err
    assert "猜测" in told
    assert "命令行未给出的形状：in0" in told
    text = target.read_text(encoding="utf-8")
    assert "# 部分取值是猜测的" in text
    assert "猜测：命令行未给出的形状：in0" in slots(text)["NOTES"]


def test_lists(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(options("--list"), diagnose) == 0
    assert "stream_bisect" in capsys.readouterr().out
    path = tmp_path / "a.log"
    path.write_text(LOGS["aclnn.log"][0])
    assert run(options("--list", "--from", str(path)), diagnose) == 0
    assert f"  1  aclnnMatmul  (aclnn, {path}:2)  in0 ?[22937,128], in1 ?[3584,3584]\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "nothing to reproduce"),
        (("ZZZ999",), "no entry 'ZZZ999'"),
        (("--op", "torch.load", "--input", "int64[3]"), "may be called"),
        (("--op", "torch.max", "--input", "int64"), "no tensor"),
        (("--op", "torch.max", "--input", "int64[k]"), "without a number"),
        (("--op", "torch.max", "--attr", "dim"), "no attribute"),
        (("--input", "int64[3]"), "--op"),
        (("--template", "sonnet"), "no template 'sonnet'"),
        (("--finding", "2"), "--from"),
    ],
)
def test_wrong_calls_say_what_to_do(words: tuple[str, ...], told: str, knowledge: Knowledge) -> None:
    with pytest.raises(UsageError) as caught:
        run(options(*words), diagnose, knowledge)
    assert told in str(caught.value)
    assert " = help: " in str(caught.value)


def test_logs_without_an_operator_say_so(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("all is well\n")
    with pytest.raises(UsageError, match="no operator was found"):
        run(options("--from", str(path)), diagnose)
    with pytest.raises(UsageError, match="there are 0 findings"):
        run(options("--from", str(path), "--finding", "1"), diagnose)


def test_only_the_lines_around_the_words_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large logs are read in chunks; line numbers are those of the file, whatever was left out."""
    monkeypatch.setattr(gather, "CHUNK", 4096)
    path = tmp_path / "big.log"
    dull = "[INFO] GE(1,python):2026-01-01-00:00:00.000.000 [a.cc:1]1 F:all is well\n" * 1000
    path.write_text(
        dull + "RuntimeError: call aclnnAdd failed, error code is 161002\n" + dull + "call aclnnMul failed\n"
    )
    seen = gather.evidence([str(path)])
    assert len(seen.text) < 20_000
    assert [(one.name, one.line) for one in seen.operators()] == [("aclnnAdd", 1001), ("aclnnMul", 2002)]


def test_descriptions_by_thousands_do_not_hide_the_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """INFO logs describe every operator: only the last descriptions before an error are kept, and they give its shapes."""
    monkeypatch.setattr(gather, "MAX_KEPT", 20_000)
    described = (
        "[INFO] ASCENDCL(7,python):2026-01-01-00:00:00.000.001 [op_compiler.cpp:187]7 aclopCompile::aclOp = OpType: {kind}, InputDesc[0]: [TensorDesc] DataType = 1, Format = 2, "
        "StorageFormat = 2, Shape = [{size}, 8], StorageShape = [], shapeRange = [], memtype = 0, isConst = 0 \n"
    )
    path = tmp_path / "plog-7_20260101000000000.log"
    path.write_text(
        "".join(described.format(kind=f"Op{i}", size=i) for i in range(3000))
        + described.format(kind="SoftmaxV2", size=77)
        + "[INFO] GE(7,python):2026-01-01-00:00:00.000.000 [a.cc:1]7 F:Op[Conv2D_1,optype[Conv2D]] is fine\n" * 2000
        + "[ERROR] RUNTIME(7,python):2026-01-01-00:00:01.000.001 [x.cc:1]7 F:Aicore kernel execute failed, device_id=0, fault kernel_name=SoftmaxV2_0123456789abcdef0123_1, x.\n"
    )
    seen = gather.evidence([str(path)])
    assert len(seen.text) < 400_000
    (first, *_) = seen.operators()
    assert (first.name, first.line, first.inputs[0].shape) == ("SoftmaxV2", 5002, (77, 8))


def test_a_path_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        run(options("--from", str(tmp_path / "none.log")), diagnose)


def test_rings_are_found_in_a_folder(tmp_path: Path) -> None:
    head = json.dumps({"npu_doctor_record": 1, "pid": 7, "slots": 8, "slot_size": 2048}).encode() + b"\n"
    line = b'{"seq":1,"op":"aten.abs.default","args":[{"tensor":{"dtype":"float32","shape":[2]}}],"kwargs":{}}\n'
    (tmp_path / "ops-7.ring").write_bytes(head.ljust(4096, b"\0") + line.ljust(2048, b"\0") * 2)
    (one,) = gather.evidence([str(tmp_path)]).operators()
    assert (one.name, one.guessed) == ("aten::abs.default", ())


def _record(tmp_path: Path, name: str, last: dict[str, Any], message: str = "") -> Path:
    """A record whose last operator is as told, of a program that ended with a message."""
    tensor = {"tensor": {"dtype": "float32", "shape": [3, 4], "stride": [4, 1], "id": 4096}}
    entry = {"seq": 1, "op": f"aten.{name}.default", "args": [tensor], "kwargs": {}, **last}
    record = {"npu_doctor_record": 1, "operators": [entry], "error": {"type": "RuntimeError", "message": message, "frames": []}}
    if "error" in last:
        record["failed"] = entry
    path = tmp_path / f"ops-{name}.json"
    path.write_text(json.dumps(record))
    return path


def test_an_operator_that_returned_is_not_blamed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The end came from elsewhere; what ran last can still be replayed when it is asked for."""
    path = _record(tmp_path, "abs", {"out": [4097]}, "killed")
    with pytest.raises(UsageError, match="no operator was running"):
        run(options("--from", str(path)), diagnose)
    assert run(options("--from", str(path), "--context", "1"), diagnose) == 0
    assert "torch.ops.aten.abs.default" in capsys.readouterr().out


def test_of_many_ranks_the_one_whose_operator_raised_wins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither the rank that waited for it nor one that was merely running something is the one to reproduce."""
    _record(tmp_path, "abs", {}, "")
    _record(tmp_path, "exp", {"error": {"type": "RuntimeError", "message": "wait timeout, peer is gone"}}, "wait timeout, peer is gone")
    _record(tmp_path, "neg", {"error": {"type": "RuntimeError", "message": "shape of plugh is wrong"}}, "shape of plugh is wrong")
    assert run(options("--from", str(tmp_path)), diagnose) == 0
    assert "torch.ops.aten.neg.default" in capsys.readouterr().out
