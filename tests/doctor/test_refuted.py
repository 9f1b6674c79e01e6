"""Advice is held against what the logs tell of model, processor, packages and resources."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor import report
from doctor.answer.advice import chosen
from doctor.answer.met import of_an_npu, of_this_machine, refuted
from doctor.answer.own_command import own
from doctor.findings.inventory import lacking
from doctor.findings.situation import Situation
from doctor.findings.started import read
from kb.model import Command, Fix, Text
from kb.pairings import Pairing

ROWS = (Pairing("models", {"models": ("qwen3",), "transformers": ("4.51.0",)}), Pairing("packages", {"software": ("cann",), "packages": ("attrs", "scipy", "psutil", "zarr")}))
NEW_MODEL = Situation({"model": ("qwen3",), "cpu": ("x86_64",)}, {}, ROWS)


def fix(run: str) -> Fix:
    return Fix("resolve", "low", Text(run, run), (), (), (Command(run, Text("x", "x"), None),), None)


@pytest.mark.parametrize(
    ("run", "no"),
    [
        ("pip install 'transformers>=4.45,<4.50'", True),
        ("pip install transformers==4.49.0", True),
        ("pip install 'transformers<4.51'", True),
        ("pip install 'transformers>=4.45,<5'", False),
        ("pip install transformers==4.51.3", False),
        ("pip install torch==2.5.1", False),
    ],
)
def test_a_library_that_does_not_know_the_model_is_no_advice(run: str, no: bool) -> None:
    """A pin is held against the model that is loaded, where one is told."""
    assert refuted(fix(run), NEW_MODEL) is no
    assert refuted(fix(run), Situation({}, {}, ROWS)) is False


def test_what_cannot_work_is_left_out_unless_it_is_all_there_is() -> None:
    """The other way stands alone; a fix without any other stays."""
    pin, pair = fix("pip install transformers==4.49.0"), fix("pip install torch==2.5.1")
    assert chosen((pin, pair), NEW_MODEL) == (pair,)
    assert chosen((pin,), NEW_MODEL) == (pin,)


@pytest.mark.parametrize(
    ("run", "told"),
    [
        ("./Ascend-cann-toolkit_8.2.RC1_linux-aarch64.run --upgrade", "./Ascend-cann-toolkit_8.2.RC1_linux-x86_64.run --upgrade"),
        ("ls /usr/lib/aarch64-linux-gnu", "ls /usr/lib/x86_64-linux-gnu"),
        ("uname -m  # aarch64 or x86_64", "uname -m  # aarch64 or x86_64"),
        ("docker pull --platform linux/arm64 a", "docker pull --platform linux/arm64 a"),
    ],
)
def test_a_command_is_for_the_processor_of_the_reader(run: str, told: str) -> None:
    """What a package is called tells the processor that the logs name; where they name none, it stays."""
    assert of_this_machine(run, NEW_MODEL) == told
    assert of_this_machine(run, Situation()) == run


def test_a_list_of_packages_tells_what_is_not_installed() -> None:
    """What stands in the list, or behind what is shown of it, is not said to be missing; an unsorted list tells nothing."""
    assert lacking(("numpy  1.24.4 scipy 1.10.1 wheel 0.38.4 ",), ROWS) == ("attrs", "psutil")
    assert lacking(("numpy  1.24.4 pip 23.2 ",), ROWS) == ("attrs",)
    assert lacking(("wheel 0.38.4 numpy  1.24.4 ",), ROWS) == ()
    assert lacking(("attrs 23.1 numpy 1.2 wheel 0.4 ", "numpy  1.24.4 psutil 5.9 scipy 1.1 wheel 0.38.4 "), ROWS) == ()
    assert lacking((), ROWS) == ()


@pytest.mark.parametrize(
    ("model", "told"),
    [("/m/Kimi-K2", "/m/Kimi-K2-W8A8"), ("/m/Qwen2.5-7B-Instruct-AWQ/", "/m/Qwen2.5-7B-Instruct-W8A8"), ("org/Llama-GPTQ-Int4", "org/Llama-W8A8"), ("/m/phi-4-FP8-dynamic", "/m/phi-4-W8A8")],
)
def test_refused_weights_are_replaced(model: str, told: str) -> None:
    """An option beside the same weights changes nothing: the command names other ones, and says so."""
    started = read(f"vllm serve {model} --quantization fp8 --port 80", "run.sh")
    assert started is not None
    theirs = own("vllm serve MODEL-W8A8 --quantization ascend", (started,))
    assert theirs is not None
    assert theirs.run == f"vllm serve {told} --quantization ascend --port 80"
    assert told in theirs.note.en
    assert told in theirs.note.zh


WANTED = "ValueError: Total available GPUs 0 is less than total desired GPUs 16\n"
NO_NPU = "ValueError: Current node has no NPU available. current_node_resource={'CPU': 64.0%s}. vLLM engine cannot start without NPU.\n"
RAY = "(R pid=7) {'CPU': 64.0, 'NPU': 16.0, 'memory': 14.0}\n"
STATUS = "Total Usage:\n 0.0/64.0 CPU\n 0.0/16.0 %s\n 0B/1TiB memory\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (RAY + WANTED, "cards under NPU"),
        (STATUS % "NPU" + WANTED, "cards under NPU"),
        (WANTED, "not enough NPU"),
        ("(autoscaler) No available node types can fulfill resource request {'NPU': 16.0, 'CPU': 1.0}.\n" + WANTED, "not enough NPU"),
        (NO_NPU % ", 'GPU': 16.0, 'memory': 14.0", "offers GPU"),
        (STATUS % "GPU" + NO_NPU % "", "offers GPU"),
        (NO_NPU % "", "not enough NPU"),
    ],
)
def test_what_ray_offers_decides_what_is_missing(text: str, says: str) -> None:
    """Cards that Ray counts under another name than the program asks for are there: more of them would not help."""
    found = next(f for f in report(text)["findings"] if f["id"] == "DST027")
    assert says in found["title"]["en"]


FIRST_OPERATOR = "EH9999  [Init][Env]init env failed![FUNC:ReportInnerError]\n        build op model failed, result = 500001[FUNC:ReportInnerError]\n"
LIST = "$ pip list\nPackage    Version\n---------- -------\n%snumpy      1.26.4\npip        23.2.1\nwheel      0.38.4\n$ ls\n"
THERE = "attrs      23.1.0\ncffi       1.16.0\ndecorator  5.1.1\n"


def test_a_list_of_packages_decides_why_the_compiler_does_not_start() -> None:
    """One of three causes without the list; with it, the packages that it lacks."""
    told = {have: next(f for f in report(FIRST_OPERATOR + have)["findings"] if f["id"] == "ENV017") for have in ("", LIST % "", LIST % THERE)}
    assert [f["confidence"] for f in told.values()] == [0.75, 0.95, 0.95]
    assert "decorator, attrs, psutil, scipy, cffi" in told[LIST % ""]["title"]["en"]
    assert "(psutil, scipy)" in told[LIST % THERE]["title"]["en"]


@pytest.mark.parametrize(
    ("seen", "run", "no"),
    [
        ("before-kv-cache", "vllm serve MODEL --gpu-memory-utilization 0.8", True),
        ("before-kv-cache", "vllm serve MODEL --gpu-memory-utilization 0.8 --max-num-batched-tokens 4096", False),
        ("before-kv-cache", "vllm serve MODEL --max-num-batched-tokens 4096", False),
        ("kv-cache-being-laid-out", "vllm serve MODEL --gpu-memory-utilization 0.8", False),
    ],
)
def test_a_kv_cache_that_was_not_there_yet_gives_no_memory(seen: str, run: str, no: bool) -> None:
    """What failed while the model was built, or its memory measured, has not failed for the share that is kept for the cache."""
    assert refuted(fix(run), Situation({"seen": (seen,)})) is no


@pytest.mark.parametrize(
    ("machine", "run", "no"),
    [
        ("cuda", "docker pull quay.io/ascend/vllm-ascend:v0.13.0", True),
        ("rocm", "pip install torch-npu==2.8.0", True),
        ("cuda", "pip install -U vllm", False),
        ("npu", "docker pull quay.io/ascend/vllm-ascend:v0.13.0", False),
        ("", "pip install vllm-ascend==0.13.0", False),
    ],
)
def test_no_machine_without_an_npu_is_told_to_install_its_software(machine: str, run: str, no: bool) -> None:
    at = Situation({"machine": (machine,)} if machine else {})
    assert of_an_npu(fix(run), at) is no
    assert bool(chosen([fix(run)], at)) is not no


@pytest.mark.parametrize("beside", ["", "CUDA_VISIBLE_DEVICES=0 vllm serve /m/plugh\n"])
def test_a_plain_vllm_is_not_told_of_the_plugin(beside: str) -> None:
    raised = (
        "Traceback (most recent call last):\n"
        '  File "/usr/lib/python3/dist-packages/vllm/v1/plugh.py", line 9, in run\n'
        "    p = positions.gpu[:n]\n"
        "AttributeError: 'Plugh' object has no attribute 'gpu'\n"
    )
    told = [next(f for f in report(text)["findings"] if f["id"] == "MNG016") for text in (beside + raised, "device npu:0\n" + raised)]
    assert ["vllm-ascend" in str([fix["title"] for fix in one["fixes"]]) for one in told] == [False, True]


def test_a_script_that_calls_torch_alone_gets_no_options_of_servers(tmp_path: Path) -> None:
    """Nobody serves there; what is for torch_npu, or for everybody, stays."""
    failed = 'torch._dynamo.exc.BackendCompilerFailed: backend=\'inductor\' raised:\nRuntimeError: plugh\n[ERROR] 2026-02-26-10:27:51 (PID:29, Device:0, RankID:-1) ERR99999 UNKNOWN applicaiton exception\n'
    (tmp_path / "run.log").write_text(failed)

    def runs() -> str:
        return str([c["run"] for fix in report([str(tmp_path)])["findings"][0]["fixes"] for c in fix.get("commands", ())])

    assert "vllm serve" in runs()
    (tmp_path / "repro.py").write_text("import os\nimport torch\n\nprint(torch.compile(len)([]))\n")
    assert "serve" not in runs()
    assert "sglang.launch" not in runs()
    (tmp_path / "repro.py").write_text("import torch\nfrom vllm import LLM\n\nprint(torch.compile(len)([]))\n")
    assert "vllm serve" in runs()
