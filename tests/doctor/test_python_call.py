"""Somebody who calls vLLM from Python gets their own call back, with what the advice changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor import report
from doctor.answer.own_command import another, own
from doctor.findings.started import read

CALL = 'LLM(model="/m/a", tensor_parallel_size=tp, enforce_eager=True, dtype="bfloat16", compilation_config={"cudagraph_mode": "PIECEWISE"}, quantization=None)'


@pytest.mark.parametrize(
    ("advised", "made"),
    [
        ("vllm serve MODEL --max-model-len 4096", "LLM(model='/m/a', tensor_parallel_size=tp, enforce_eager=True, dtype='bfloat16', compilation_config={'cudagraph_mode': 'PIECEWISE'}, quantization=None, max_model_len=4096)"),
        ("vllm serve MODEL --no-enforce-eager", "LLM(model='/m/a', tensor_parallel_size=tp, dtype='bfloat16', compilation_config={'cudagraph_mode': 'PIECEWISE'}, quantization=None, enforce_eager=False)"),
        ("vllm serve MODEL   # without --compilation-config", "LLM(model='/m/a', tensor_parallel_size=tp, enforce_eager=True, dtype='bfloat16', quantization=None)"),
        (
            "vllm serve MODEL -tp 2 --compilation-config '{\"cudagraph_capture_sizes\": [1]}'",
            "LLM(model='/m/a', tensor_parallel_size=2, enforce_eager=True, dtype='bfloat16', compilation_config={'cudagraph_mode': 'PIECEWISE', 'cudagraph_capture_sizes': [1]}, quantization=None)",
        ),
        ("vllm serve MODEL-W8A8", CALL.replace('"', "'").replace("/m/a", "/m/a-W8A8")),
    ],
)
def test_a_call_is_changed_as_a_command_is(advised: str, made: str) -> None:
    started = read(CALL)
    assert started is not None
    changed = own(advised, [started])
    assert changed is not None
    assert changed.run == made


@pytest.mark.parametrize("text", ["LLM(", "LLM(**args)", "LLM(model=name)", "LLM(a, b)", "LLM(model='/m/a'", "LLM(model='a')(x)", "LLM(tokenizer='/m/a')", "LLM(model='/m/a', dtype=__import__('os').system('id'))"])
def test_what_is_no_whole_call_of_a_model_is_none(text: str) -> None:
    started = read(text)
    assert started is None or started.model is None


def test_a_call_comes_before_what_the_engine_prints_of_itself(tmp_path: Path) -> None:
    (tmp_path / "paste.log").write_text(
        "from vllm import LLM\n"
        'llm = LLM(model="/m/a",\n          max_model_len=65536,  # long\n          gpu_memory_utilization=0.9)\n'
        "(EngineCore_0 pid=981) INFO 07-02 03:14:01 [core.py:75] Initializing a V1 LLM engine (v0.11.0) with config: model='/m/a', max_seq_len=65536, tensor_parallel_size=1\n"
        "(EngineCore_0 pid=981) ERROR 07-02 03:14:51 [core.py:586] ValueError: To serve at least one request with the models's max seq len (65536), (16.00 GiB KV cache is needed, which is larger than the available KV cache memory"
        " (11.21 GiB). Based on the available memory, the estimated maximum model length is 45876. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.\n"
    )
    (found,) = [f for f in report([tmp_path / "paste.log"])["findings"] if f["role"] == "root"][:1]
    code = [fix["code"] for fix in found["fixes"] if fix.get("code")]
    assert any(c["lang"] == "python" and "LLM(model='/m/a', max_model_len=45" in c["after"] for c in code)
    assert not [c for fix in found["fixes"] for c in fix["commands"] if c["run"].startswith(("LLM(", "vllm serve"))]


def test_weights_that_are_of_the_wanted_form_stay() -> None:
    assert another("/m/Qwen3-8B-w8a8", "MODEL-W8A8") == "/m/Qwen3-8B-w8a8"
    assert another("/m/Qwen3-8B-w8a8/", "MODEL-W8A8") == "/m/Qwen3-8B-w8a8/"
    assert another("/m/Qwen3-8B-fp8", "MODEL-W8A8") == "/m/Qwen3-8B-W8A8"


def test_a_command_in_a_paste_has_the_values_that_are_set_in_it(tmp_path: Path) -> None:
    """Nothing is put in that is set twice, or not at all."""
    from doctor.scan.beside import told
    from kb.knowledge import load

    text = b"$ export MODEL_PATH=/m/a\nP=1\nP=2\nMODEL: x\nvllm serve $MODEL_PATH -tp ${N:-4} --port $P --served-model-name $MODEL\n"
    (value,) = [one.value for one in told(text, "a.log", load().situation()) if one.fact == "start"]
    assert value == "vllm serve /m/a -tp ${N:-4} --port $P --served-model-name $MODEL"


def test_the_model_of_an_engine_is_not_its_draft() -> None:
    line = (
        "model='/m/a', speculative_config=SpeculativeConfig(method='eagle3', model='/m/draft', num_spec_tokens=2), "
        "tokenizer='/m/a', max_seq_len=4096, tensor_parallel_size=1"
    )
    engine = read(line, "paste.log")
    assert engine is not None
    assert engine.model == "/m/a"
