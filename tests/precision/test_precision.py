"""`npu-doctor precision`: both generations of columns, both directions, causes before consequences, stacks, scripts."""

from __future__ import annotations

import json
import pickle
import shlex
from pathlib import Path

import pytest

from doctor.base.errors import UsageError
from doctor.precision import call_stack, comparison_csv, suspect_script
from doctor.precision.comparison import Limits

NEW = "NPU Name,Bench Name,NPU Dtype,Bench Dtype,NPU Tensor Shape,Bench Tensor Shape,Cosine,EucDist,MaxAbsErr,MaxRelativeErr,One Thousandth Err Ratio,Five Thousandths Err Ratio,NPU max,Accuracy Reached or Not,Err_message"
OLD = "NPU Name,Bench Name,NPU Tensor Dtype,Bench Tensor Dtype,NPU Tensor Shape,Bench Tensor Shape,Cosine,MaxAbsErr,NPU max,Accuracy Reached or Not,Err_message"


def new(name: str, cosine: object, error: object, shape: str = "[2, 8]", dtype: str = "torch.float32") -> str:
    return f'{name},{name},{dtype},{dtype},"{shape}","{shape}",{cosine},0,{error},0,1,1,3.2,Yes,'


def old(name: str, cosine: object, error: object) -> str:
    return f'{name},{name},torch.float32,torch.float32,"[1, 3]","[1, 3]",{cosine},{error},3.2,Yes,'


MSPROBE = [
    NEW,
    new("Functional.conv2d.0.forward.input.0", 1.0, 0.0, "[1, 3, 8, 8]"),
    new("Functional.conv2d.0.forward.output.0", 0.9999, 0.0008, "[1, 4, 8, 8]"),
    new("Functional.softmax.0.forward.input.0", 0.9999, 0.0008),
    new("Functional.softmax.0.forward.output.0", 0.91, 0.4),
    new("Tensor.__add__.3.forward.input.0", 0.91, 0.4),
    new("Tensor.__add__.3.forward.output.0", 0.80, 0.9),
    new("Tensor.__add__.3.backward.input.0", 0.9, 0.3),
    new("Tensor.__add__.3.backward.output.0", 0.9, 0.3),
    new("Functional.softmax.0.backward.input.0", 1.0, 0.0),
    new("Functional.softmax.0.backward.output.0", "Nan", 0.9),
]
PTDBG = [
    OLD,
    old("66_Torch_relu__9_forward_input.0", 1.0, 0.0),
    old("66_Torch_relu__9_forward_output", "unsupported", "unsupported"),
    old("67_VF_lstm_backward_input.0", 0.99999, 0.00001),
    old("67_VF_lstm_backward_output.0", 0.62, 1.4),
]


def test_the_first_of_each_direction() -> None:
    made = comparison_csv.judge(MSPROBE)
    assert (made.tool, made.mode, made.rows, made.judged, made.apis) == ("msprobe", "values", 10, 10, 5)
    forward, backward = made.first("forward"), made.first("backward")
    assert forward is not None
    assert (forward.name, forward.inherited) == ("Functional.softmax.0.forward", False)
    assert backward is not None
    assert (backward.name, backward.inherited) == ("Tensor.__add__.3.backward", True)
    origin = made.origin("backward")
    assert origin is not None
    assert origin.name == "Functional.softmax.0.backward"
    assert made.suspects == {"forward": 2, "backward": 2}


def test_old_columns_and_names() -> None:
    made = comparison_csv.judge(PTDBG)
    assert made.tool == "ptdbg_ascend"
    assert made.first("forward") is None
    backward = made.first("backward")
    assert backward is not None
    assert backward.name == "67_VF_lstm_backward"
    assert made.judged == 3


@pytest.mark.parametrize(
    ("cosine", "error", "suspect"),
    [
        (0.98, 0.01, True), (0.98, 0.0005, False), (0.995, 0.01, False), ("nan", 0.01, True), (0.2, "nan", True), ("N/A", 5, True),
        (0.89, 0.0005, True), (0.9, 0.0005, False), (0.9999, 1.5, True), (0.9999, 1.0, False), (0.89, "N/A", True), (0.95, "N/A", False),
    ],
)  # fmt: skip
def test_both_limits_must_be_crossed_or_one_of_the_far_ones(cosine: object, error: object, suspect: bool) -> None:
    made = comparison_csv.judge([NEW, new("Torch.mm.0.forward.output.0", cosine, error)])
    assert bool(made.found) is suspect


def test_inputs_that_were_not_dumped_are_told(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "compare result.csv"
    path.write_text("\n".join([NEW, new("Functional.linear.0.forward.output.0", 0.5, 0.4)]))
    told = run("precision", str(path), "--lang", "en").stdout.decode()
    assert "its inputs were not dumped" in told
    assert "its inputs agree" not in told


def test_the_suggested_commands_run(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Paths with blanks, and names that are no names: quoted for the shell, and data for Python."""
    path = tmp_path / "compare result (1).csv"
    path.write_text("\n".join([*MSPROBE[:3], new("Functional.softmax.0.forward.input.0", 1.0, 0.0), new("Functional.softmax.0.forward.output.0", 0.5, 0.4)]))
    told = json.loads(run("precision", str(path), "-f", "json").stdout)["next"]
    command = next(line for line in told if "--script" in line).partition(";")[0]
    words = shlex.split(command)
    assert words[:3] == ["npu-doctor", "precision", str(path)]
    done = run(*words[1:], cwd=tmp_path)
    assert done.returncode == 1
    compile((tmp_path / "repro.py").read_text(), "repro.py", "exec")
    path.write_text("\n".join([OLD, old("1_Torch_'; touch x; '_0_forward_output", 0.5, 1.4)]))
    told = json.loads(run("precision", str(path), "-f", "json").stdout)["next"]
    code = shlex.split(next(line for line in told if "parse(" in line))
    assert code[:2] == ["python3", "-c"]
    assert len(code) == 3


def test_no_bias_is_invented(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "r.csv"
    rows = [new("Functional.conv2d.0.forward.input.0", 1.0, 0.0, "[1, 3, 8, 8]"), new("Functional.conv2d.0.forward.input.1", 1.0, 0.0, "[4, 3, 3, 3]"), new("Functional.conv2d.0.forward.output.0", 0.5, 0.4)]
    path.write_text("\n".join([NEW, *rows]))
    done = run("precision", str(path), "--script", "-")
    assert b"x2" not in done.stdout
    assert b"bias" not in done.stdout + done.stderr
    assert done.stdout.count(b"\n") <= 40


def test_limits_are_adjustable() -> None:
    rows = [NEW, new("Torch.mm.0.forward.output.0", 0.995, 0.0005)]
    assert comparison_csv.judge(rows, Limits(0.999, 0.0001)).found
    assert not comparison_csv.judge(rows).found


def test_rows_without_a_result_are_no_success(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "r.csv"
    path.write_text("\n".join([NEW, new("Torch.mm.0.forward.output.0", "N/A", "N/A")]))
    done = run("precision", str(path))
    assert done.returncode == 3
    assert b"none of the 1 rows" in done.stderr


def test_statistics_and_md5_are_judged_by_the_tools_own_mark() -> None:
    head = "NPU Name,Bench Name,NPU Dtype,Bench Dtype,NPU Tensor Shape,Bench Tensor Shape,Max diff,Min diff,Mean diff,L2norm diff,MaxRelativeErr,Result,Err_message"
    row = 'Torch.mm.0.forward.output.0,x,torch.float16,torch.float16,"[2]","[2]",3,1,1,2,50%,Warning,'
    made = comparison_csv.judge([head, row])
    assert made.mode == "statistics"
    assert made.found[0].suspects[0][1] == "Warning"
    md5 = "NPU Name,Bench Name,NPU Dtype,Bench Dtype,NPU Tensor Shape,Bench Tensor Shape,NPU MD5,BENCH MD5,Result,NPU_Stack_Info"
    made = comparison_csv.judge([md5, 'Torch.mm.0.forward.output.0,x,a,b,"[2]","[2]",11,12,Different,None'])
    assert made.mode == "md5"
    assert made.found


@pytest.mark.parametrize(
    "text", ["", "a,b,c\n1,2,3\n", "PK\x03\x04rubbish\n", "NPU Name,Cosine\nx,1\n", '"' + "x" * 200_000]
)
def test_another_file_is_refused_clearly(run, tmp_path: Path, text: str) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "other.csv"
    path.write_text(text)
    done = run("precision", str(path))
    assert done.returncode == 2
    assert b"npu-doctor: " in done.stderr
    assert b"Traceback" not in done.stderr


def test_the_stack_of_each_tool(tmp_path: Path) -> None:
    ours = tmp_path / "stack.json"
    ours.write_text(
        json.dumps({"Functional.softmax.0.forward": ["File /w/net.py, line 41, in forward, \n p = x.softmax(-1)"]})
    )
    assert call_stack.find(str(ours), "Functional.softmax.0.forward") == (
        "File /w/net.py, line 41, in forward, p = x.softmax(-1)",
    )
    ours.write_text(json.dumps({"0": [["Torch.mm.0.forward", "Torch.mm.1.forward"], ["File /w/a.py, line 1"]]}))
    assert call_stack.find(str(ours), "Torch.mm.1.forward") == ("File /w/a.py, line 1",)
    pkl = tmp_path / "dump.pkl"
    pkl.write_text(
        '["67_VF_lstm_backward_input.0", 1, [], "torch.float32", [1, 3], [4.1, -4.1, 0.0]]\n'
        '["67_VF_lstm_backward_stack_info", [["/w/npu.py", 35, "<module>", ["out = model(x)"]]]]\n'
    )
    assert call_stack.find(str(pkl), "67_VF_lstm_backward") == ("File /w/npu.py, line 35, in <module> out = model(x)",)
    assert call_stack.find(str(pkl), "1_Torch_mm_forward") is None


def test_a_real_pickle_is_never_loaded(tmp_path: Path) -> None:
    path = tmp_path / "dump.pkl"
    path.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(UsageError, match="binary pickle"):
        call_stack.find(str(path), "a")


@pytest.mark.parametrize(
    ("api", "name"),
    [
        ("Functional.conv2d.0.forward", "torch.nn.functional.conv2d"),
        ("Functional_conv2d_0_forward", "torch.nn.functional.conv2d"),
        ("67_VF_lstm_backward", "torch.lstm"),
        ("Tensor_log2_12_forward", "torch.Tensor.log2"),
        ("Torch.matmul.7.backward", "torch.matmul"),
        ("Module.layer1.Conv2d.forward.0", ""),
    ],
)
def test_names_lead_to_torch(api: str, name: str) -> None:
    assert suspect_script.api_name(api) == name


def test_the_command_in_both_languages_with_its_script(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path, target = tmp_path / "compare_result_1.csv", tmp_path / "repro.py"
    path.write_text("\n".join(MSPROBE) + "\n", encoding="utf-8-sig")
    done = run("precision", str(path), "--lang", "en", "--script", str(target))
    text = done.stdout.decode()
    assert done.returncode == 1
    assert "First in forward order: Functional.softmax.0.forward" in text
    assert '"list": ["Functional.softmax.0.forward"]' in text
    assert "正向首个可疑 API" in run("precision", "-", "--lang", "zh", stdin=path.read_bytes()).stdout.decode()
    code = target.read_text()
    compile(code, "repro.py", "exec")
    assert "softmax" in code
    made = json.loads(run("precision", str(path), "-f", "json").stdout)
    assert made["origin"]["backward"]["rows"][0]["cosine"] == "nan"
    clean = run("precision", str(path), "--cosine", "0.5", "--max-abs-err", "2")
    assert clean.returncode == 0
    assert run("precision", str(path), "--cosine", "0.5", "--max-abs-err", "2", "--script", "-").returncode == 2


def test_a_script_is_offered_only_when_it_can_be_written(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "r.csv"
    path.write_text("\n".join(PTDBG))
    done = run("precision", str(path), "--lang", "en")
    assert b'parse("./npu_dump.pkl", "67_VF_lstm_backward")' in done.stdout
    assert b"--script" not in done.stdout
    asked = run("precision", str(path), "--script", "-")
    assert asked.returncode == 2
    assert b"no script can be written" in asked.stderr
    path.write_text("\n".join(MSPROBE))
    assert b"--script repro.py" in run("precision", str(path), "--lang", "en").stdout


def test_what_is_shown_of_another_file_cannot_steer_the_terminal() -> None:
    with pytest.raises(UsageError) as caught:
        comparison_csv.judge(["\x1b[2J\x07red,b\n"])
    assert "\x1b" not in str(caught.value)
    assert "\x07" not in str(caught.value)
