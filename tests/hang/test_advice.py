"""A time-out of which no log tells the cause asks for what would: the calls of all ranks."""

from __future__ import annotations

import pytest

from doctor.answer.missing import missing
from doctor.api import diagnose

WATCHDOG = """\
Traceback (most recent call last):
  File "/home/u/train.py", line 9, in <module>
    dist.all_reduce(x)
RuntimeError: [Rank 3]: HCCL watchdog thread caught collective operation timeout: WorkHCCL(SeqNum=12, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1800500 milliseconds before timing out.
"""
MEMORY = """\
Traceback (most recent call last):
  File "/home/u/train.py", line 9, in <module>
    loss.backward()
RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.97 GiB total capacity; 58.11 GiB already allocated; 500.00 MiB free; 59.02 GiB reserved in total by PyTorch)
"""


@pytest.mark.parametrize(("log", "wanted"), [(WATCHDOG, True), (MEMORY, False), (MEMORY + WATCHDOG, False)])
def test_the_recorder_is_asked_for_when_a_wait_has_no_cause(log: str, wanted: bool) -> None:
    asked = [row.how.en for row in missing(diagnose(log))]
    assert any("TORCH_HCCL_TRACE_BUFFER_SIZE" in how for how in asked) is wanted, asked
