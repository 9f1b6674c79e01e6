"""Which variables help against what took the memory."""

from __future__ import annotations

from collections.abc import Mapping

from doctor.memory.classes import Kind

VARIABLES: Mapping[Kind, tuple[tuple[str, str], ...]] = {
    Kind.OTHER_PROCESS: (("ASCEND_RT_VISIBLE_DEVICES", "1"),),
    Kind.HCCL: (("HCCL_BUFFSIZE", "64"),),
    Kind.PENDING: (("MULTI_STREAM_MEMORY_REUSE", "2"),),
    Kind.FRAGMENTED: (("PYTORCH_NPU_ALLOC_CONF", "expandable_segments:True"),),
    Kind.WORKSPACE: (("TASK_QUEUE_ENABLE", "1"),),
    Kind.LEAK: (("OOM_SNAPSHOT_ENABLE", "1"),),
    Kind.PEAK: (("PYTORCH_NPU_ALLOC_CONF", "expandable_segments:True"),),
}
