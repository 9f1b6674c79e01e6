"""Texts that tests compose."""

from __future__ import annotations

SMI = """\
+------------------------------------------------------------------------------------------------+
| npu-smi 24.1.rc2                 Version: 24.1.rc2                                             |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B3               | OK            | 93.5        41                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3391 / 65536         |
+===========================+===============+====================================================+
"""


def mixed(exception: str, plog: str) -> str:
    """A training log as screens show it: progress, a table, a prefixed traceback, plog lines on stdout."""
    lines = [
        "2026-02-03 04:00:00,123 - INFO - starting",
        *(f" iteration {i:4}/ 100 | lm loss: {9 - i / 20:.3f} |" for i in range(40)),
        SMI,
        "[INFO] HCCL(4711,python3):2026-02-03-04:05:01.001.001 [op_base.cc:10] [4711]Entry-HcclAllReduce",
        plog,
        "[rank0]: Traceback (most recent call last):",
        '[rank0]:   File "/home/u/train.py", line 7, in main',
        "[rank0]:     loss.backward()",
        f"[rank0]: {exception}",
        "  0%|          | 0/300 [00:00<?, ?it/s]",
    ]
    return "\n".join(lines) + "\n"
