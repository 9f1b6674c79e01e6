"""The nodes of the user's running Ray cluster: who lives there, and one task on each. Ray is the user's; it is never installed here.

The program goes by Ray's object store, which forgets it when we leave. A `runtime_env` would be Ray's own way to ship code, but what
that unpacks stays in the cache of every node for as long as the cluster lives, and it can only be told for a whole job.
"""

from __future__ import annotations

import base64
import json
import os
import pkgutil
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from doctor.base import interrupts
from doctor.base.errors import UsageError
from doctor.fleet.far import GRACE_S
from doctor.fleet.outcome import FAILED, TIMED_OUT, UNREACHABLE, Outcome
from doctor.fleet.talk import Payload, Talk
from doctor.fleet.targets import Target
from parsers import foreign_json

MACHINES = ("x86_64", "aarch64")
MAX_LINE = 128 << 20
_GONE = ("NodeDied", "WorkerCrashed", "OwnerDied", "Unschedulable", "ObjectLost", "RaySystemError")
HELP = "pip install npu-doctor beside it, or put the ray command of the cluster on PATH; --address names the cluster"
Done = Callable[[Target, Outcome], None]
Json = Mapping[str, Any]


def python() -> str:
    """The Python that has Ray: this one, else the one beside the `ray` command."""
    if find_spec("ray") is not None:
        return sys.executable
    command = shutil.which("ray")
    beside = [Path(command).parent / name for name in ("python3", "python")] if command else []
    found = next((str(path) for path in beside if os.access(path, os.X_OK)), "")
    if not found:
        raise UsageError("there is no Ray here", HELP)
    return found


def living(address: str) -> tuple[Target, ...]:
    """The living nodes of the cluster; the address of each is its number there."""
    for row in _told({"do": "list", "address": address}):
        if "nodes" in row:
            return tuple(Target(str(node["name"]), str(node["id"])) for node in row["nodes"])
    raise UsageError("Ray named no nodes", HELP)


def run(asked: Sequence[tuple[Target, Talk]], address: str, seconds: float, fanout: int, payload: Payload, done: Done, began: Callable[[Target], None]) -> None:
    """Runs a task on each node and tells each outcome as it comes. What Ray does not tell of, it left without a word."""
    of_id = {target.address: (target, talk) for target, talk in asked}
    begin: dict[str, float] = {}
    programs = {machine: payload(machine)[0] for machine in (*MACHINES, "")}
    order = {
        "do": "ask", "address": address, "fanout": fanout, "seconds": seconds + 3 * GRACE_S, "payloads": {machine: len(data) for machine, data in programs.items()},
        "nodes": [{"id": target.address, "opening": talk.opening().decode("ascii")} for target, talk in asked],
    }  # fmt: skip
    for row in _told(order, b"".join(programs.values())):
        if "began" in row and row["began"] in of_id:
            begin[row["began"]] = time.monotonic()
            began(of_id[row["began"]][0])
        elif row.get("node") in of_id:
            target, talk = of_id.pop(row["node"])
            done(target, outcome(talk, row, time.monotonic() - begin.get(target.address, time.monotonic())))
    for target, _ in of_id.values():
        done(target, Outcome(FAILED, "Ray ended before it answered"))


def outcome(talk: Talk, row: Json, seconds: float) -> Outcome:
    """What came of one task."""
    if row.get("late"):
        return Outcome(TIMED_OUT, "no answer within the time limit", seconds=seconds)
    if error := row.get("error"):
        state = UNREACHABLE if any(word in str(error) for word in _GONE) else FAILED
        return Outcome(state, str(error), seconds=seconds)
    data = base64.b64decode(str(row.get("data", "")))
    for at in range(0, len(data), 1 << 16):
        talk.heard(data[at : at + (1 << 16)])
    return talk.outcome(0, False, seconds)


def _told(order: Json, programs: bytes = b"") -> Iterator[Json]:
    """What Ray's side tells, row by row, while we listen; it ends when we do. Programs for nodes go to it the same way: no file is left of them."""
    source = pkgutil.get_data("doctor.fleet", "ray_side.py")
    assert source is not None
    child = subprocess.Popen(  # noqa: S603 - the user's own Python with our own text
        [python(), "-c", source.decode("utf-8")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        env={**os.environ, "RAY_DEDUP_LOGS": "0", "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        child.stdin.write(json.dumps(order).encode("ascii") + b"\n" + programs)
        child.stdin.flush()
        for line in _lines(child.stdout.fileno()):
            row = _row(line)
            if "fault" in row:
                raise UsageError(f"Ray does not answer: {row['fault']}", HELP)
            yield row
    except BrokenPipeError:
        raise UsageError(f"Ray could not be started with {python()}", HELP) from None
    finally:
        child.stdin.close()
        child.stdout.close()
        try:
            child.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _lines(handle: int) -> Iterator[bytes]:
    kept = b""
    while True:
        interrupts.ready(handle)
        data = os.read(handle, 1 << 20)
        if not data:
            return
        kept += data
        if len(kept) > MAX_LINE:
            kept = b""
        *lines, kept = kept.split(b"\n")
        yield from lines


def _row(line: bytes) -> Json:
    try:
        row = foreign_json.read(line)
    except ValueError:
        return {}  # what Ray prints of its own
    return row if isinstance(row, dict) else {}
