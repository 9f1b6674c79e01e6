"""A line that many faults end in, and the fact beside it that tells whose it is."""

from __future__ import annotations

import pytest

from doctor.api import report
from doctor.findings.fits import together

GAVE_UP = """\
Traceback (most recent call last):
  File "/work/plugh/infer.py", line 32, in main
    dist.barrier()
  File "/opt/env/lib/python3.9/site-packages/torch/distributed/distributed_c10d.py", line 3703, in barrier
    work.wait()
RuntimeError: The Inner error is reported as above. The process exits for this inner error, and the current working operator name is HcclAllreduce.
[ERROR] 2026-02-11-09:10:26 (PID:7101, Device:1, RankID:1) ERR00100 PTA call acl api failed
{after}
[2026-02-11 09:10:44,936] torch.distributed.elastic.multiprocessing.api: [WARNING] Sending process 7100 closing signal SIGTERM
"""
ATC = "ATC start working now, please wait for a moment.\nModuleNotFoundError: No module named '{name}'\nATC run failed\nE40000: Failed to import te.platform.log_util.\n"
HEADER = "/home/u/plugh/{folder}/plugh.cpp:6:10: fatal error: {header}: No such file or directory\ncompilation terminated.\n"
CALL = """\
image quay.io/ascend/vllm-ascend:v0.11.0rc1
  File "{folder}/vllm/vllm/v1/worker/worker_base.py", line 12, in run
    self.worker.plugh()
  File "{folder}/vllm-ascend/vllm_ascend/models/plugh.py", line 496, in forward
    hidden_states = self.plugh(
TypeError: PlughAttention.forward() got an unexpected keyword argument 'xyzzy'
"""
OBJECT = """\
{before}
ERROR 07-02 00:38:05 [multiproc_worker_utils.py:239]     object_list[i] = _tensor_to_object(obj_view, obj_size, group)
ERROR 07-02 00:38:05 [multiproc_worker_utils.py:239] _pickle.UnpicklingError: invalid load key, '\\x00'.
"""


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        (GAVE_UP.format(after="Wrote sample 24 of 60"), "DST900", "another process (pid 7100)"),
        (ATC.format(name="_struct"), "ENV900", "_struct"),
        (ATC.format(name="plugh"), "ENV018", "has no plugh"),
        (HEADER.format(folder="op_host", header="register/plugh.h"), "INS022", "operator project"),
        (HEADER.format(folder="src", header="graph/tensor.h"), "INS022", "belongs to the CANN toolkit"),
        (HEADER.format(folder="src", header="graph/plugh.h"), "INS945", "graph/plugh.h"),
        (CALL.format(folder="/vllm-workspace"), "VER013", "itself is faulty"),
        (CALL.format(folder="/home/u"), "VER013", "versions do not match"),
        (OBJECT.format(before="INFO vllm platform npu on Ascend310P3"), "DST842", "310P"),
        (OBJECT.format(before="torch rank 1"), "DST842", "delivered bytes"),
    ],
)
def test_what_stands_beside_it_decides(text: str, code: str, told: str) -> None:
    first = report(text)["findings"][0]
    assert (first["id"], told in first["title"]["en"]) == (code, True), first["title"]


@pytest.mark.parametrize("after", ["Traceback (most recent call last):", "[ERROR] 2026-02-11-09:10:27 (PID:7102, Device:2, RankID:2) x", "EI0002: The wait execution times out", "  warnings.warn(x)"])
def test_words_of_the_failure_are_nobody_s_work(after: str) -> None:
    assert "DST900" not in [one["id"] for one in report(GAVE_UP.format(after=after))["findings"]]


def test_an_image_holds_a_pair() -> None:
    seen = {"seen": ("of-one-image",)}
    assert together({"vllm_ascend": ("0.8.5rc1",), **seen}, ()) == ("image",)
    assert together({"vllm_ascend": ("0.8.5rc1",)}, ()) == ()
    assert together({"vllm_ascend": ("0.9.1", "0.8.5rc1"), **seen}, ()) == (), "which of them runs is not told"
