"""Where another program starts the one that failed, a fix says where what it changes belongs."""

from __future__ import annotations

from typing import Any

import pytest

from doctor.api import report

LONG = """\
{by}
(APIServer pid=7) INFO 07-02 03:11:02 [utils.py:233] non-default args: {{'model_tag': '/m/plugh', 'max_model_len': 131072}}
ValueError: To serve at least one request with the models's max seq len (131072), (16.00 GiB KV cache is needed, which is larger than the available KV cache memory (11.21 GiB). Based on the available memory, the estimated maximum model length is 91776. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.
"""


def first(text: str) -> dict[str, Any]:
    root = report(text)["findings"][0]
    made: dict[str, Any] = root["fixes"][root["first_fix"]]
    return made


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("2026-07-02T03:11:00+00:00 INFO gpustack.worker.serve_manager - serving plugh", "GPUStack starts it"),
        ("2026-07-02 03:11:00 xinference.core.worker 88 INFO launch plugh", "Xinference starts it"),
        ("$ docker compose -f serve.yaml up", "Compose starts it"),
        ("Name:             plugh-0\nNamespace:        xyzzy\nNode:             npu-1/10.0.0.1", "A pod runs it"),
    ],
)
def test_a_command_says_who_starts_the_program(by: str, said: str) -> None:
    """The options of the advice are right, and the shell is the wrong place for them."""
    fix = first(LONG.format(by=by))
    assert fix["commands"][0]["run"] == "vllm serve /m/plugh --max-model-len 91776"
    assert fix["commands"][0]["why"]["en"].startswith(said)


def test_where_a_person_starts_it_nothing_is_added() -> None:
    """As most logs have it."""
    why = first(LONG.format(by="$ bash serve.sh"))["commands"][0]["why"]["en"]
    assert "starts it" not in why
    assert "A pod runs it" not in why
