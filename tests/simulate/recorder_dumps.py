"""Flight Recorder dumps of jobs that were never run: the format of version 2.x, as torch_npu and PyTorch write it."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

BEGUN = 1_772_359_200_000_000_000

Entry = dict[str, Any]


def frames(*lines: str) -> list[dict[str, Any]]:
    """`file:line name`, the innermost first."""
    made = []
    for one in lines:
        place, _, name = one.partition(" ")
        file, _, line = place.rpartition(":")
        made.append({"name": name, "filename": file, "line": int(line)})
    return made


TRAIN = frames("/opt/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py:2806 all_reduce", "/job/train.py:41 step", "/job/train.py:88 <module>")


def entry(
    number: int, op: str = "all_reduce", *, group: str = "0", desc: str = "default_pg", sizes: Sequence[Sequence[int]] = ((1024,),),
    dtype: str = "BFloat16", state: str = "completed", backend: str = "hccl", stack: Sequence[Any] = TRAIN, p2p: bool = False,
) -> Entry:  # fmt: skip
    """One call of a rank."""
    return {
        "frames": list(stack), "record_id": number, "pg_id": 0, "process_group": (group, desc), "collective_seq_id": 0 if p2p else number,
        "p2p_seq_id": number if p2p else 0, "op_id": number, "profiling_name": f"{backend}:{op}", "time_created_ns": BEGUN + number * 1_000_000,
        "input_sizes": [list(one) for one in sizes], "input_dtypes": [dtype] * len(sizes), "output_sizes": [list(one) for one in sizes],
        "output_dtypes": [dtype] * len(sizes), "state": state, "time_discovered_started_ns": None, "time_discovered_completed_ns": None,
        "retired": state == "completed", "timeout_ms": 1_800_000, "is_p2p": p2p,
    }  # fmt: skip


def dump(entries: Iterable[Entry], groups: Mapping[str, Sequence[int]], version: str = "2.4") -> dict[str, Any]:
    """The dump of one rank, as a value."""
    config = {name: {"name": name, "desc": "default_pg" if name == "0" else name, "ranks": str(list(ranks))} for name, ranks in groups.items()}
    return {"version": version, "pg_config": config, "pg_status": {}, "entries": list(entries), "hccl_comm_state": {}}


def torch_pickled(value: Any) -> bytes:
    """The value as PyTorch's own writer has it: texts and the shared dictionaries of frames have a number, lists and pairs have none."""
    out, known = bytearray(b"\x80\x02"), dict[Any, int]()
    _torch_value(value, out, known)
    return bytes(out + b".")


def _torch_value(value: Any, out: bytearray, known: dict[Any, int]) -> None:
    key = value if isinstance(value, str) else id(value) if isinstance(value, dict) and value.keys() == {"name", "filename", "line"} else None
    if key is not None and key in known:
        out += b"h" + bytes([known[key]]) if known[key] < 256 else b"j" + struct.pack("<I", known[key])
        return
    if value is None or isinstance(value, bool):
        out += {None: b"N", True: b"\x88", False: b"\x89"}[value]
    elif isinstance(value, int):
        out += b"K" + bytes([value]) if 0 <= value < 256 else b"J" + struct.pack("<i", value) if -(1 << 31) <= value < 1 << 31 else b"\x8a\x08" + struct.pack("<q", value)
    elif isinstance(value, str):
        out += b"X" + struct.pack("<I", len(value.encode())) + value.encode()
    elif isinstance(value, tuple):
        for inner in value:
            _torch_value(inner, out, known)
        out += b"\x86"
    else:
        out += b"}(" if isinstance(value, dict) else b"]("
        for inner in (part for pair in value.items() for part in pair) if isinstance(value, dict) else value:
            _torch_value(inner, out, known)
        out += b"u" if isinstance(value, dict) else b"e"
    if key is not None:
        known[key] = len(known)
        out += b"q" + bytes([known[key]]) if known[key] < 256 else b"r" + struct.pack("<I", known[key])


def write(folder: Path, dumps: Mapping[int, Mapping[str, Any]], prefix: str = "hccl_trace_rank_") -> Path:
    """A file a rank, under the names that torch_npu gives them."""
    folder.mkdir(parents=True, exist_ok=True)
    for rank, value in dumps.items():
        (folder / f"{prefix}{rank}").write_bytes(pickle.dumps(value, 2))
    return folder


def away(world: int, culprit: int, last: int = 12, *, ring: int = 2000) -> dict[int, dict[str, Any]]:
    """All wait in call `last`, to which one rank does not come."""
    begin = max(1, last - ring + 1)
    made = {}
    for rank in range(world):
        own = [entry(number) for number in range(begin, last)]
        if rank != culprit:
            own.append(entry(last, state="started"))
        made[rank] = dump(own, {"0": range(world)})
    return made


def large(folder: Path, world: int, calls: int, culprit: int) -> Path:
    """Very many ranks; the bytes of all but the culprit differ in nothing that is compared, so they are made once for each kind."""
    ops = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "all_reduce")
    lines = [frames(*(f"/job/model/layer{place}.py:{place * 3 + deep} f{deep}" for deep in range(12))) for place in range(40)]
    own = [entry(number, ops[number % 5], sizes=((64 * (number % 7 + 1), 128),), stack=lines[number % 40]) for number in range(1, calls)]
    waiting = [*own, entry(calls, ops[calls % 5], sizes=((64 * (calls % 7 + 1), 128),), state="started")]
    groups = {"0": range(world)}
    here, away_ = torch_pickled(dump(waiting, groups)), torch_pickled(dump(own, groups))
    for rank in range(world):
        (folder / f"hccl_trace_rank_{rank}").write_bytes(away_ if rank == culprit else here)
    return folder
