"""Of a machine without an NPU it is told how the program failed there, not only whose machine it is."""

from __future__ import annotations

import pytest

from doctor import report

TABLE = "| NVIDIA-SMI 550.90.07              Driver Version: 550.90.07      CUDA Version: 12.4     |\n"
RAISED = """\
Traceback (most recent call last):
  File "/home/u/train.py", line 86, in train
    model_args, data_args, training_args = parser.parse_args_into_dataclasses()
  File "/opt/py/lib/python3.10/site-packages/transformers/training_args.py", line 1650, in __post_init__
    raise ValueError(
ValueError: Your setup doesn't support bf16/gpu. You need torch>=1.10, using Ampere GPU with cuda>=11.0
"""
POOL = "[ERROR] MD(1443,7fea,python):2021-12-12-14:13:43.932.181 [mindspore/ccsrc/minddata/dataset/util/arena.cc:250] Init] cudaHostAlloc failed, ret[2], out of memory\n"
FED = "[ERROR] DEVICE(1443,7fea,python):2021-12-12-14:14:14.044.127 [mindspore/ccsrc/runtime/device/gpu/gpu_buffer_mgr.cc:85] Front] get data timeout, queue name: 1e9d\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TABLE + RAISED, "doesn't support bf16/gpu"),
        (POOL + FED, "Init] cudaHostAlloc failed, ret[2], out of memory"),
    ],
)
def test_how_it_failed_is_told(text: str, said: str) -> None:
    found = report(text)["findings"][0]
    assert found["kind"] == "other-machine"
    assert said in found["says"]


def test_nothing_is_told_where_nothing_failed() -> None:
    assert [found["says"] for found in report(TABLE)["findings"]] == [None]
