"""What the reader sets already, in a script or in their command, is no advice; what stands in a script is changed there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from doctor.answer.advice import Advised, start
from doctor.answer.own_command import has_all
from doctor.answer.variables import placed, there
from doctor.api import report
from doctor.findings.situation import Situation, Variable
from doctor.findings.started import read
from doctor.read.discover import discover
from doctor.scan.scanner import Scanner
from kb.knowledge import load
from kb.model import CodeFix, Command, EnvFix, Fix, Text


def fix(**env: str) -> Fix:
    made = tuple(EnvFix(name, value, "process", f"unset {name}", Text("mind", "注意")) for name, value in env.items())
    return Fix("resolve", "low", Text("x", "x"), (), made, (), None)


@pytest.mark.parametrize(
    ("found", "advised", "done"),
    [
        ("600", "600", True),
        ("1800", "600", True),
        ("120", "600", False),
        ("", "600", False),
    ],
)
def test_a_variable_that_is_set_so_is_no_advice(found: str, advised: str, done: bool) -> None:
    """A time-out that is longer already is one as well."""
    variables = (Variable("HCCL_CONNECT_TIMEOUT", found, "run.sh"),) if found else ()
    assert there(fix(HCCL_CONNECT_TIMEOUT=advised), Situation(variables=variables)) is done
    assert there(fix(HCCL_CONNECT_TIMEOUT=advised, HCCL_EXEC_TIMEOUT="1"), Situation(variables=variables)) is False


@pytest.mark.parametrize(("title", "found", "done"), [("Raise it on all ranks", "2048", True), ("Raise it", "50", False), ("Smaller buffers", "2048", False)])
def test_a_fix_that_raises_never_lowers_what_the_reader_has(title: str, found: str, done: bool) -> None:
    advised = fix(HCCL_BUFFSIZE="1024")._replace(title=Text(title, "x"))
    assert there(advised, Situation(variables=(Variable("HCCL_BUFFSIZE", found, "run.sh"),))) is done


def test_under_ray_and_where_two_differ_nothing_is_known_to_be_set() -> None:
    set_so = Variable("HCCL_CONNECT_TIMEOUT", "600", "a.sh")
    assert there(fix(HCCL_CONNECT_TIMEOUT="600"), Situation({"seen": ("ray",)}, variables=(set_so,))) is False
    assert there(fix(HCCL_CONNECT_TIMEOUT="600"), Situation(variables=(set_so, set_so._replace(value="60", path="b.sh")))) is False


def test_of_a_fix_with_commands_what_is_set_so_is_left_out() -> None:
    """The look is still of use, the variable beside it is there."""
    both = fix(TE_PARALLEL_COMPILER="1", ASCEND_GLOBAL_LOG_LEVEL="1")._replace(commands=(Command("grep -rh errormsg ~/ascend/log", None, None),))
    set_so = (Variable("TE_PARALLEL_COMPILER", "1", "out.log"), Variable("ASCEND_GLOBAL_LOG_LEVEL", "3", "out.log"))
    assert [env.name for env in placed(both, Situation(variables=set_so)).env] == ["ASCEND_GLOBAL_LOG_LEVEL"]
    assert len(placed(both, Situation({"seen": ("ray",)}, variables=set_so)).env) == 2


def test_a_fix_names_the_script_that_sets_another_value() -> None:
    told = placed(fix(HCCL_IF_IP="10.0.0.1"), Situation(variables=(Variable("HCCL_IF_IP", "127.0.0.1", "job/run.sh"),))).env[0].caution
    assert told is not None
    assert told.en == "run.sh sets it to 127.0.0.1: change it there. mind"
    log = placed(fix(HCCL_IF_IP="10.0.0.1"), Situation(variables=(Variable("HCCL_IF_IP", "127.0.0.1", "out.log"),))).env[0].caution
    assert log is not None
    assert log.en == "out.log shows it as 127.0.0.1. mind"


def test_what_a_script_exports_again_is_taken_out_there(tmp_path: Path) -> None:
    """Unset in a shell, it comes back with the next start of the script."""
    unset = fix()._replace(commands=(Command("unset HCCL_LOGIC_SUPERPOD_ID", Text("x", "x"), None), Command("unset HCCL_ALGO", None, None)))
    set_twice = tuple(Variable("HCCL_LOGIC_SUPERPOD_ID", "pod_0", path) for path in ("in/run.sh", "in/b c.sh", "console.log"))
    there_is, other = placed(unset, Situation(variables=set_twice)).commands
    assert there_is.run == "sed -i.bak -E 's/^[[:space:]]*export[[:space:]]+HCCL_LOGIC_SUPERPOD_ID=/# &/' 'b c.sh' run.sh; unset HCCL_LOGIC_SUPERPOD_ID"
    assert there_is.changes is not None
    assert there_is.changes.en.startswith("b c.sh, run.sh sets it")
    assert other.run == "unset HCCL_ALGO"
    (tmp_path / "run.sh").write_text("export  HCCL_LOGIC_SUPERPOD_ID=pod_0\nHCCL_LOGIC_SUPERPOD_ID=1 python x.py\n\texport OTHER=1\n")
    (tmp_path / "b c.sh").write_text("")
    subprocess.run(["sh", "-c", there_is.run], cwd=tmp_path, check=True)
    assert (tmp_path / "run.sh").read_text() == "# export  HCCL_LOGIC_SUPERPOD_ID=pod_0\nHCCL_LOGIC_SUPERPOD_ID=1 python x.py\n\texport OTHER=1\n"
    assert placed(unset, Situation(variables=set_twice[2:])).commands == unset.commands


@pytest.mark.parametrize(
    ("advised", "done"),
    [
        ("vllm serve MODEL --enforce-eager", True),
        ("vllm serve MODEL --enforce-eager --max-num-seqs 4", False),
        ("vllm serve MODEL", False),
        ("vllm serve MODEL-W8A8 --enforce-eager", False),
    ],
)
def test_an_option_that_the_readers_command_has_is_no_advice(advised: str, done: bool) -> None:
    theirs = read("vllm serve /m/a --enforce-eager --port 80")
    assert theirs is not None
    assert has_all(advised, [theirs]) is done


def test_variables_are_read_of_scripts_beside_logs_and_not_of_what_messages_advise(tmp_path: Path, scanner: Scanner) -> None:
    (tmp_path / "run.sh").write_text('#!/bin/bash\nexport HCCL_CONNECT_TIMEOUT=1200\n# export HCCL_EXEC_TIMEOUT=9\nVLLM_API_KEY=abc\ntorchrun --nproc_per_node=8 train.py\n')
    (tmp_path / "a.log").write_text("RuntimeError: failed, please export ASCEND_GLOBAL_LOG_LEVEL=1 and run again\n")
    said = {(one.value, Path(one.path).name) for source in discover([str(tmp_path)]).sources for one in scanner.scan(source).situation if one.fact == "variable"}
    assert said == {("HCCL_CONNECT_TIMEOUT=1200", "run.sh")}


@pytest.mark.parametrize(
    ("path", "value", "remark"),
    [
        ("/home/li/train_kto.py", "True", "# train_kto.py: precompute_ref_log_probs=True\n"),
        ("/logs/a\nrm -rf x\u2028y.py", "True\nreboot", "# a rm -rf x y.py: precompute_ref_log_probs=True reboot\n"),  # a remark stays one line
        ("/home/li/train_kto.py", "False", ""),
        ("/home/li/train.log", "True", ""),
    ],
)
def test_a_setting_in_code_is_told_with_the_script_that_sets_it_otherwise(path: str, value: str, remark: str) -> None:
    """A log that repeats a setting is no place to change it."""
    code = Fix("resolve", "low", Text("x", "x"), (), (), (), CodeFix("python", "", "precompute_ref_log_probs=False"))
    made = placed(code, Situation(variables=(Variable("precompute_ref_log_probs", value, path),))).code
    assert made is not None
    assert made.after == f"{remark}precompute_ref_log_probs=False"


def test_the_script_beside_a_log_names_the_line_that_changes(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(
        "Computing reference log probs for train dataset:   0%|          | 0/2\n"
        "RuntimeError: Expected all tensors to be on the same device, but got index is on npu:0, different from other tensors on cpu\n"
    )
    (tmp_path / "dpo.py").write_text("import torch_npu\nargs = DPOConfig(bf16=True, precompute_ref_log_probs=True)\n# torchrun --nproc_per_node 8 dpo.py\n")
    first = report([str(tmp_path)])["findings"][0]["fixes"]
    assert any("# dpo.py: precompute_ref_log_probs=True" in (one.get("code") or {}).get("after", "") for one in first)


def test_swift_is_told_by_the_command_of_its_reader(tmp_path: Path) -> None:
    """It trains by other verbs than the one that is advised."""
    (tmp_path / "train.log").write_text("NotImplementedError: Operator npu._npu_dtype_cast.default does not have a sharding strategy registered.\n[INFO:swift] x\n")
    (tmp_path / "run.sh").write_text("swift rlhf --model /m/a --torch_dtype bfloat16 --fsdp fsdp2\n")
    assert "swift rlhf --model /m/a --torch_dtype float32 --fsdp fsdp2 --bf16 true" in str(report([str(tmp_path)])["findings"][0]["fixes"])


@pytest.mark.parametrize(
    ("lines", "path", "done", "after"),
    [
        ("infer_dtype: bfloat16", "glm4.yaml", False, "# glm4.yaml: infer_dtype=bfloat16\ninfer_dtype: float16"),
        ("infer_dtype: float16", "glm4.yaml", True, "infer_dtype: float16"),
        ("infer_dtype: float16", "api.log", False, "infer_dtype: float16"),  # a log may be of another run
    ],
)
def test_settings_in_a_file_are_changed_there_or_are_as_advised(tmp_path: Path, scanner: Scanner, lines: str, path: str, done: bool, after: str) -> None:
    (tmp_path / path).write_text(f"model_name_or_path: /m/glm-4-9b-chat\ntemplate: glm4\n{lines}\n")
    told = [one for source in discover([str(tmp_path)]).sources for one in scanner.scan(source).situation if one.fact == "variable"]
    known = Situation(variables=tuple(Variable(*one.value.split(": "), Path(one.path).name) for one in told))
    advised = Fix("resolve", "low", Text("x", "x"), (), (), (), CodeFix("yaml", "", "infer_dtype: float16"))
    assert there(advised, known) is done
    made = placed(advised, known).code
    assert made is not None
    assert made.after == after


def test_what_is_written_for_the_readers_framework_alone_comes_before_what_is_for_several() -> None:
    code = CodeFix("python", "", "x = 1")
    several = Fix("resolve", "low", Text("several", "x"), (), (), (), code, (("framework", ("llamafactory", "swift")),))
    alone = Fix("resolve", "low", Text("alone", "x"), (), (), (), CodeFix("yaml", "", "fp16: true"), (("framework", ("llamafactory",)),))
    entry = next(e for e in map(load().entry, ("OPR005",)) if e is not None)
    assert start(Advised((several, alone), 2), entry).fix == 1
    assert start(Advised((several, alone._replace(code=None)), 2), entry).fix == 0  # which changes nothing


RUN = "docker run -d --name svc --device /dev/davinci6 --device /dev/davinci7 -e ASCEND_RT_VISIBLE_DEVICES=6,7 -e HCCL_BUFFSIZE=200 q/vllm-ascend:v0.11.0 vllm serve /m"


def test_a_variable_of_a_container_is_changed_in_the_command_that_starts_it() -> None:
    """What is exported in a shell beside it does not reach the container."""
    made = read(RUN, "job/up.sh")
    assert made is not None
    told = placed(fix(ASCEND_RT_VISIBLE_DEVICES="0,1"), Situation(started=(made,)))
    assert not told.env
    assert [c.run for c in told.commands] == [RUN.replace("=6,7", "=0,1")]
    assert told.commands[0].why is not None
    assert told.commands[0].why.en == "your command in up.sh, with -e ASCEND_RT_VISIBLE_DEVICES=0,1. mind"
    other = placed(fix(HCCL_IF_IP="10.0.0.1", ASCEND_RT_VISIBLE_DEVICES="0,1"), Situation(started=(made,)))
    assert (other.env, [c.run for c in other.commands]) == ((), [RUN.replace("=6,7", "=0,1").replace(" q/", " -e HCCL_IF_IP=10.0.0.1 q/")])
    by_shell = placed(fix(HCCL_IF_IP="$(hostname -i)"), Situation(started=(made,)))  # of that shell: what it says there is not known
    assert [one.name for one in by_shell.env] == ["HCCL_IF_IP"]
    assert placed(fix(ASCEND_RT_VISIBLE_DEVICES="0,1"), Situation(started=(made, made._replace(words=(*made.words, "--x"))))).env


@pytest.mark.parametrize("inside", ["", "bash", "/bin/sh -l"])
def test_who_works_in_a_shell_of_the_container_sets_it_there(inside: str) -> None:
    made = read(f"{RUN.partition(' vllm serve')[0].replace(' -d ', ' -itd ')} {inside}".strip(), "job/up.sh")
    assert made is not None
    assert placed(fix(ASCEND_RT_VISIBLE_DEVICES="0,1"), Situation(started=(made,))).env


IN_NPU = "docker run {options} --device /dev/davinci0 {env}q/vllm-ascend:v0.11.0{inside}"


@pytest.mark.parametrize(
    ("options", "inside", "handed"),
    [
        ("-d", " bash /w/start.sh", True),
        ("-it", ' bash -c "source /w/env.sh && vllm serve /m"', True),
        ("--rm", " /w/entrypoint.sh --port 80", True),
        ("-d", "", True),  # the image's own program
        ("-d --entrypoint /w/start.sh", "", True),
        ("-itd", "", False),
        ("-it --entrypoint bash", "", False),
        ("-it --entrypoint bash", " /w/start.sh", True),
        ("-itd", " bash --login", False),
        ("-d", " sleep infinity", False),
        ("-d", ' bash -c "tail -f /dev/null"', False),
    ],
)
def test_a_new_variable_is_handed_to_the_program_that_a_container_starts(options: str, inside: str, handed: bool) -> None:
    """Where a script or the image's own program runs, nobody types anything in the container; who works in a shell of it exports there."""
    made = read(IN_NPU.format(options=options, env="", inside=inside), "job/up.sh")
    assert made is not None
    told = placed(fix(HCCL_IF_IP="10.0.0.1"), Situation(started=(made,)))
    assert (not told.env) is handed
    assert [c.run.count("-e HCCL_IF_IP=10.0.0.1 q/vllm-ascend") for c in told.commands] == [1] * handed


def test_a_container_for_no_npu_is_not_the_one_that_failed() -> None:
    made = read("docker run -d --name db -p 5432:5432 postgres:16 postgres")
    assert made is not None
    assert placed(fix(HCCL_IF_IP="10.0.0.1"), Situation(started=(made,))).env


@pytest.mark.parametrize(
    ("typed", "run"),
    [
        ("docker run -d --privileged q/i:1 vllm serve /m", "docker run -d --privileged -e X_Y=1 q/i:1 vllm serve /m --port 80"),
        ("docker run -it --privileged q/i:1 bash", "X_Y=1 vllm serve /m --port 80"),
    ],
)
def test_a_variable_before_a_service_is_handed_to_its_container(typed: str, run: str) -> None:
    """No shell reads `X_Y=1` where a container is told what to run."""
    made = read(typed)
    assert made is not None
    advised = fix()._replace(commands=(Command("X_Y=1 vllm serve /m --port 80", None, None),))
    assert [c.run for c in placed(advised, Situation(started=(made,))).commands] == [run]


def test_exports_in_a_command_or_in_code_are_handed_to_the_container_as_well() -> None:
    made = read(IN_NPU.format(options="-d", env="", inside=" bash /w/start.sh"))
    assert made is not None
    known = Situation(started=(made,))
    want = IN_NPU.format(options="-d", env="-e TORCH_LOGS=+dynamo ", inside=" bash /w/start.sh")
    assert [c.run for c in placed(fix()._replace(commands=(Command("export TORCH_LOGS=+dynamo", None, None),)), known).commands] == [want]
    code = placed(fix()._replace(code=CodeFix("bash", "", "# all ranks\nexport TORCH_LOGS=+dynamo\nexport A_B='1 2'")), known).code
    assert code is not None
    assert code.after.splitlines()[0::2] == ["# all ranks", want.replace(" q/", " -e 'A_B=1 2' q/")]
    kept = fix()._replace(commands=(Command("export LD_LIBRARY_PATH=/x:$LD_LIBRARY_PATH", None, None),))
    assert placed(kept, known) == kept


def test_what_is_unset_goes_out_of_the_command_that_starts_the_container() -> None:
    made = read(RUN, "job/up.sh")
    assert made is not None
    advised = Fix("mitigate", "low", Text("x", "x"), (), (), (Command("unset ASCEND_RT_VISIBLE_DEVICES", Text("x", "x"), None),), None)
    told = placed(advised, Situation(started=(made,)))
    assert [c.run for c in told.commands] == [RUN.replace(" -e ASCEND_RT_VISIBLE_DEVICES=6,7", "")]


@pytest.mark.parametrize(
    ("batch", "length", "done", "after"),
    [
        ("1", "512", True, []),
        ("1", "8192", False, ["# qwen.yaml: cutoff_len=8192", "cutoff_len: 4096"]),
        ("8", "512", False, ["# qwen.yaml: per_device_train_batch_size=8", "per_device_train_batch_size: 1", "gradient_accumulation_steps: 4"]),
    ],
)
def test_of_several_settings_only_those_are_told_that_the_file_has_otherwise(batch: str, length: str, done: bool, after: list[str]) -> None:
    """A length that is smaller than the advised one is not raised, and no accumulation is told where the batch stays."""
    known = Situation(variables=(Variable("per_device_train_batch_size", batch, "qwen.yaml"), Variable("cutoff_len", length, "qwen.yaml")))
    code = CodeFix("yaml", "per_device_train_batch_size: 4\ncutoff_len: 8192", "per_device_train_batch_size: 1\ngradient_accumulation_steps: 4\ncutoff_len: 4096")
    advised = Fix("mitigate", "low", Text("x", "x"), (), (), (), code)
    assert there(advised, known) is done
    made = placed(advised, known).code
    assert made is not None
    assert done or made.after.splitlines() == after
