"""py-spy on running processes: twice, with some seconds between, all at the same time."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from doctor.live.processes import Process, one, switches
from parsers import stacks
from parsers.stacks import Stacks

TIMEOUT_S = 15.0
BETWEEN_S = 2.0
AT_ONCE = 16
WAKES = 40
"""Times that a thread wakes between the looks while it stands still: py-spy itself stops it."""


class Looked(NamedTuple):
    """What was seen of a process; `why` it was not, else."""

    process: Process
    stacks: Stacks
    why: str = ""


def program() -> str | None:
    """py-spy beside this Python, else on the path."""
    beside = Path(sys.executable).with_name("py-spy")
    return str(beside) if beside.exists() else shutil.which("py-spy")


def look(found: Sequence[Process], spy: str, between: float = BETWEEN_S) -> tuple[Looked, ...]:
    """The stacks of all processes, each with whether it stood elsewhere the second time."""
    with ThreadPoolExecutor(max_workers=max(1, min(AT_ONCE, len(found)))) as pool:
        first = list(pool.map(lambda process: _dump(process, spy), found))
        before = [switches(looked.process.pid) for looked in first]
        if any(looked.stacks.threads for looked in first):
            time.sleep(between)
        after = [switches(looked.process.pid) for looked in first]
        second = list(pool.map(lambda looked: _dump(looked.process, spy) if looked.stacks.threads else looked, first))
    woken = [was is not None and is_ is not None and is_ - was > WAKES for was, is_ in zip(before, after, strict=True)]
    return tuple(_together(a, b, moved) for a, b, moved in zip(first, second, woken, strict=True))


def _together(a: Looked, b: Looked, woken: bool) -> Looked:
    if not b.stacks.threads:
        return b if b.stacks.state == "gone" else a
    return b._replace(stacks=b.stacks._replace(moved=woken or _places(a.stacks) != _places(b.stacks)))


def _places(one: Stacks) -> tuple[object, ...]:
    """Where the main thread stands."""
    return next((thread.frames for thread in one.threads if thread.name == "MainThread"), one.threads[0].frames)


def _dump(process: Process, spy: str) -> Looked:
    now = one(process.pid)
    state = now.state
    nothing = Stacks(process.pid, process.rank, process.command, (), "py-spy", state=state)
    if state in ("gone", "Z", "X", "T", "t"):
        return Looked(process, nothing)  # a stopped process cannot be looked at without waking it
    try:
        ran = subprocess.run(  # noqa: S603 - py-spy and a number
            [spy, "dump", "--json", "--pid", str(process.pid)], capture_output=True, timeout=TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return Looked(process, nothing, f"py-spy did not answer within {TIMEOUT_S:.0f} s")
    except OSError as error:
        return Looked(process, nothing, error.strerror or str(error))
    read = stacks.read(ran.stdout.decode("utf-8", "replace"))
    if not read:
        if one(process.pid).state == "gone":
            return Looked(process, nothing._replace(state="gone"))
        lines = ran.stderr.decode("utf-8", "replace").strip().splitlines()
        return Looked(process, nothing, next((line for line in lines if line.strip()), f"py-spy ended with {ran.returncode}")[:200])
    return Looked(process, read[0]._replace(pid=process.pid, rank=process.rank, command=process.command, state=state))
