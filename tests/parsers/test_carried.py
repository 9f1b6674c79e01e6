"""What pasting made of logs, as a scan sees it: lines run together, what pytest shows, tables of tools."""

from __future__ import annotations

from doctor.api import report

HEAD = "(VllmWorkerProcess pid=31877) ERROR 07-05 16:08:12 [multiproc_worker_utils.py:238] "
LINES = (
    'File "/opt/py/site-packages/vllm_ascend/models/qwen2_5_vl.py", line 84, in forward',
    "q, k, v = self.split_qkv(x)",
    'File "/opt/py/site-packages/vllm/model_executor/models/qwen2_5_vl.py", line 262, in split_qkv',
    "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 61.27 GiB total capacity)",
)




def test_a_traceback_in_one_line_is_no_all_clear() -> None:
    folded, whole = (joint.join(HEAD + line for line in LINES) for joint in (" ", "\n"))
    assert report(folded)["verdict"] == report(whole)["verdict"] == "findings"
    assert "out of memory" in str(report(folded)["findings"][0])
    assert [one["evidence"][0]["line"] for one in (report(folded)["findings"][0], report(whole)["findings"][0])] == [1, 4]


def test_frames_of_pytest_are_frames() -> None:
    shown = (
        'plugh/test_tok.py:12: in test_load\n    load("/models/m")\n'
        "/opt/py/site-packages/transformers/tokenization_utils_base.py:2419: in _from_pretrained\n    if _config.model_type not in []:\n"
        "E   AttributeError: 'dict' object has no attribute 'model_type'\n"
    )
    python = (
        'Traceback (most recent call last):\n  File "plugh/test_tok.py", line 12, in test_load\n    load("/models/m")\n'
        '  File "/opt/py/site-packages/transformers/tokenization_utils_base.py", line 2419, in _from_pretrained\n    if _config.model_type not in []:\n'
        "AttributeError: 'dict' object has no attribute 'model_type'\n"
    )
    assert [one["title"] for one in report(shown)["findings"]] == [one["title"] for one in report(python)["findings"]]
    assert "4.57.2" in str(report(shown)["findings"][0]["title"])
