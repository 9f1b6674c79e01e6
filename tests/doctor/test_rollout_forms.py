"""Who trains with an engine in the rollout types no `vllm serve`: options are told as the trainer has them."""

from __future__ import annotations

import pytest

from doctor.answer.rollout_forms import called, lines
from doctor.api import report
from doctor.findings.started import read

CAPTURE = """\
{by}
  File "/opt/vllm/v1/worker/plugh_runner.py", line 88, in f
  File "/opt/py/site-packages/vllm_ascend/plugh.py", line 8, in g
RuntimeError: NPU function error: aclrtMemcpyAsync, error code is 107027
"""


def shown(by: str) -> str:
    return "\n".join(f"{fix.get('code', {}).get('after', '')} {[c['run'] for c in fix.get('commands', ())]} {fix.get('steps', ())}" for fix in report(CAPTURE.format(by=by))["findings"][0]["fixes"])


def test_a_rollout_of_a_trainer_has_no_command_of_vllm() -> None:
    text = shown("GRPO training of plugh, vllm 0.18.0 for the rollout")
    assert "actor_rollout_ref.rollout.enforce_eager=True" in text
    assert "+actor_rollout_ref.rollout.engine_kwargs.vllm.compilation_config.cudagraph_mode=PIECEWISE" in text
    assert "vllm serve" not in text
    assert "another trainer has its own" in text
    assert "其他框架另有叫法" in text


@pytest.mark.parametrize("by", ["vllm 0.18.0 serves plugh", "GRPO training, vllm for the rollout\n$ vllm serve /m/plugh --port 80"])
def test_who_types_a_command_keeps_it(by: str) -> None:
    assert "vllm serve" in shown(by)


def test_options_as_verl_names_them() -> None:
    """What its settings have no key for is handed to the engine, key by key."""
    command = read("""vllm serve /m --tensor-parallel-size 2 --no-enable-prefix-caching --block-size 64 --additional-config '{"a": {"b": [1, 2]}, "c": true}'""")
    assert command is not None
    assert lines("vllm", command.options) == [
        "actor_rollout_ref.rollout.tensor_model_parallel_size=2",
        "actor_rollout_ref.rollout.enable_prefix_caching=False",
        "+actor_rollout_ref.rollout.engine_kwargs.vllm.block_size=64",
        "+actor_rollout_ref.rollout.engine_kwargs.vllm.additional_config.a.b='[1, 2]'",
        "+actor_rollout_ref.rollout.engine_kwargs.vllm.additional_config.c=True",
    ]
    assert called("sglang", "--disable-cuda-graph") == "actor_rollout_ref.rollout.enforce_eager"
