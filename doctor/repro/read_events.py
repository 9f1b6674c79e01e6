"""Faults that are no operator of their own but have a template: collectives, failed allocations, switched devices.

[TaskExecStage][Timeout][Host]Task run failed, base information is streamID:[32], taskID[21], tag[AllGather_group_0], ...
... opData information is timeStamp:[...], deviceId[0], index[4], count[3397632], src[...], dst[...], dataType[uint8].
Watchdog caught collective operation timeout: WorkHCCL(SeqNum=12, OpType=ALLREDUCE, Timeout(ms)=1836000) ran for ...
NPU out of memory. Tried to allocate 594.00 MiB (NPU 0; ...
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from doctor.repro.call import Operator, Value
from doctor.repro.dtypes import torch_dtype

_TAG = re.compile(
    r"(?:tag\[|OpType=)(?P<name>AllReduce|AllGather|ReduceScatter|Reduce|Broadcast|AlltoAll|AllToAll|Send|Receive|Barrier"
    r"|ALLREDUCE|ALLGATHER|REDUCESCATTER|REDUCE|BROADCAST|ALLTOALL|SEND|RECV|BARRIER)",
)
_DATA = re.compile(r"count\[(?P<count>\d{1,15})\].{0,200}?dataType\[(?P<dtype>\w{1,20})\]")
_MEMORY = re.compile(r"Tried to allocate (?P<size>\d{1,9}(?:\.\d{1,4})?) (?P<unit>[KMG]i?B|bytes)")
_UNITS = {"bytes": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_COLLECTIVES = {
    "allreduce": "all_reduce",
    "allgather": "all_gather",
    "reducescatter": "reduce_scatter",
    "reduce": "reduce",
    "broadcast": "broadcast",
    "alltoall": "all_to_all",
    "send": "send_recv",
    "receive": "send_recv",
    "recv": "send_recv",
    "barrier": "barrier",
}


def operators(lines: Sequence[str]) -> Iterator[Operator]:
    """Collectives with what is known of their data, allocations that failed, ExchangeDevice."""
    for at, line in enumerate(lines):
        if "tag[" in line or "OpType=" in line:
            found = _TAG.search(line)
            if found and ("fail" in line or "timeout" in line.lower()):
                yield Operator(
                    _COLLECTIVES[found["name"].lower()], "hccl", "hccl", (), _data(lines, at), line=at + 1, failed=True
                )
        elif "Tried to allocate" in line:
            if found := _MEMORY.search(line):
                size = int(
                    float(found["size"]) * _UNITS[found["unit"] if found["unit"] == "bytes" else found["unit"][0]]
                )
                yield Operator(
                    "allocate",
                    "memory",
                    "memory",
                    (),
                    (("size", size),),
                    line=at + 1,
                    failed=True,
                    error="out of memory",
                )
        elif "ExchangeDevice" in line:
            yield Operator("ExchangeDevice", "device", "device", line=at + 1, failed=True, error="ExchangeDevice")


def _data(lines: Sequence[str], at: int) -> tuple[tuple[str, Value], ...]:
    for line in lines[at : at + 6]:
        if found := _DATA.search(line):
            return (("count", int(found["count"])), ("dtype", torch_dtype(found["dtype"])))
    return ()
