"""Options of an engine, told in the words of Xinference, GPUStack or a script, where one of these starts it."""

from __future__ import annotations

from typing import Any

import pytest

from doctor.answer.engine_forms import told
from doctor.api import report
from doctor.findings.situation import Situation
from doctor.findings.started import read
from kb.model import CodeFix, Command, Fix, Text

TOO_LONG = """\
{by}
(EngineCore_DP0 pid=7) INFO 07-02 03:11:02 [utils.py:233] non-default args: {{'model_tag': '/m/plugh', 'max_model_len': 131072}}
ValueError: To serve at least one request with the models's max seq len (131072), (16.00 GiB KV cache is needed, which is larger than the available KV cache memory (11.21 GiB). Based on the available memory, the estimated maximum model length is 91776. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.
"""
GPUSTACK = "2026-07-02T03:11:00+00:00 INFO gpustack.worker.serve_manager - serving plugh"
XINFERENCE = "2026-07-02 03:11:00 xinference.core.worker 88 INFO launch plugh"


def shown(by: str) -> str:
    return "\n".join(f"{fix.get('code', {}).get('after', '')} {[c['run'] for c in fix.get('commands', ())]}" for fix in report(TOO_LONG.format(by=by))["findings"][0]["fixes"])


@pytest.mark.parametrize(
    ("by", "wanted"),
    [
        (GPUSTACK, "--max-model-len=91776 []"),
        (XINFERENCE, "xinference launch --model-name MODEL_NAME --model-engine vLLM --max_model_len 91776"),
        ("$ xinference launch --model-name plugh --model-engine vLLM --max_model_len 131072 --n-gpu 2", "xinference launch --model-name plugh --model-engine vLLM --max_model_len 91776 --n-gpu 2"),
        ('  File "/opt/x/vllm/entrypoints/llm.py", line 3, in generate', "llm = LLM(model=MODEL, max_model_len=91776)"),
        ("$ python examples/offline_inference_plugh.py", "llm = LLM(model=MODEL, max_model_len=91776)"),
    ],
)
def test_who_starts_an_engine_otherwise_reads_no_command_of_vllm(by: str, wanted: str) -> None:
    text = shown(by)
    assert wanted in text
    assert "vllm serve" not in text


@pytest.mark.parametrize(
    "by",
    ["$ vllm serve /m/plugh", '(APIServer pid=8) INFO x\n  File "/opt/x/vllm/entrypoints/llm.py", line 3, in f', '  File "/opt/x/vllm/entrypoints/llm.py", line 3, in f\n  File "/opt/verl/workers/rollout/vllm_rollout.py", line 3, in g\n[verl] training'],
)
def test_a_server_and_a_trainer_that_makes_the_call_keep_their_command(by: str) -> None:
    assert "LLM(" not in shown(by)


def fix(*runs: str, code: CodeFix | None = None, why: Text | None = None) -> Fix:
    return Fix("mitigate", "low", Text("x", "x"), (), (), tuple(Command(run, Text("slower", "慢"), why) for run in runs), code)


def seen(*names: str, **more: Any) -> Situation:
    return Situation({"seen": names}, **more)


def test_settings_in_json_variables_and_what_goes_are_told_in_each_form() -> None:
    run = "A_B=1 vllm serve MODEL --compilation-config '{\"a\": 1}' --no-enable-prefix-caching  # without --speculative-config"
    stack = told(fix(run), seen("gpustack"))
    assert stack.code is not None
    assert stack.code.after == '--compilation-config={"a": 1}\n--no-enable-prefix-caching'
    assert [step.en for step in stack.steps][1:] == ["Without --speculative-config", "Variables: A_B=1", "slower"]
    launch = told(fix(run), seen("xinference")).commands[0]
    assert launch.run == "xinference launch --model-name MODEL_NAME --model-engine vLLM --compilation_config '{\"a\": 1}' --enable_prefix_caching False"
    assert launch.why is not None
    assert launch.why.zh.endswith("去掉 --speculative-config。环境变量：A_B=1")
    call = told(fix(run), seen("llm-class"))
    assert call.code is not None
    assert call.code.after.startswith("llm = LLM(model=MODEL, compilation_config={'a': 1}, enable_prefix_caching=False)")
    assert "Without speculative_config" in [step.en for step in call.steps]


def test_of_the_readers_own_arguments_only_what_changes_is_told() -> None:
    theirs = read("vllm serve /m/a --max-model-len 4096 --dtype bfloat16 --enable-lora")
    assert theirs is not None
    made = told(fix("vllm serve /m/a --max-model-len 2048 --dtype bfloat16", why=Text("your command in a.log, with x. Halve it", "您在 a.log 中的命令，改用 x。减半")), seen("gpustack", started=(theirs,)))
    assert made.code is not None
    assert made.code.after == "--max-model-len=2048"
    assert [step.en for step in made.steps][1:] == ["Without --enable-lora", "slower", "Halve it"]


def test_a_launch_of_theirs_loses_a_group_of_options() -> None:
    theirs = read("xinference launch -n plugh -en SGLang --speculative_algorithm EAGLE --speculative_num_steps 3 --tp_size 2")
    assert theirs is not None
    made = told(fix("python3 -m sglang.launch_server --model-path MODEL  # without --speculative-*"), seen("xinference", started=(theirs,)))
    assert [c.run for c in made.commands] == ["xinference launch -n plugh -en SGLang --tp_size 2"]


def test_a_line_for_a_shell_in_code_is_told_so_as_well() -> None:
    made = told(fix(code=CodeFix("bash", "", "vllm serve MODEL \\\n  --enforce-eager")), seen("llm-class"))
    assert made.code is not None
    assert made.code.lang == "python"
    assert "enforce_eager=True" in made.code.after
    other = fix(code=CodeFix("bash", "", "cd /x\nvllm serve MODEL --enforce-eager"))
    assert told(other, seen("llm-class")) == other


def test_prose_names_the_arguments_of_a_call() -> None:
    made = told(fix()._replace(steps=(Text("start with --enforce-eager", "启动时加 --enforce-eager"),)), seen("llm-class"))
    assert made.steps[0] == Text("start with enforce_eager=True", "启动时加 enforce_eager=True")
