"""py-spy on running processes: twice, with some seconds between, all at the same time."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from doctor.live.processes import Process, one, switches
from parsers import stacks
from parsers.named import NamedTuple
from parsers.stacks import Stacks

FIRST_S = 8.0
"""Seconds in which a process must be looked at the first time,"""
ALL_S = 15.0
"""and all of them twice: whoever waits for an answer wants it now; who was looked at once is known by that."""
BETWEEN_S = 2.0
AT_ONCE = 16
WAKES = 15
"""Times that a thread wakes between the looks while it stands still: who waits in one call does not at all, who polls does now and then."""


T = TypeVar("T")


class Looked(NamedTuple):
    """What was seen of a process; `why` it was not, else."""

    process: Process
    stacks: Stacks
    why: str = ""


def program() -> str | None:
    """py-spy beside this Python, else on the path."""
    beside = Path(sys.executable).with_name("py-spy")
    return str(beside) if beside.exists() else shutil.which("py-spy")


def look(found: Sequence[Process], spy: str, between: float = BETWEEN_S, meanwhile: Callable[[], None] = lambda: None) -> tuple[Looked, ...]:
    """The stacks of all processes, each with whether it stood elsewhere the second time; `meanwhile` is done between the looks."""
    end = time.monotonic() + ALL_S + between
    first = _all(found, lambda process: _dump(process, spy, FIRST_S))
    begin, before = time.monotonic(), [switches(looked.process.pid) for looked in first]
    meanwhile()
    if any(looked.stacks.threads for looked in first):
        time.sleep(max(0.0, begin + between - time.monotonic()))
    most, after = WAKES * max(1.0, (time.monotonic() - begin) / BETWEEN_S), [switches(looked.process.pid) for looked in first]
    second = _all(first, lambda looked: _dump(looked.process, spy, end - time.monotonic()) if looked.stacks.threads else looked)
    woken = [was is not None and is_ is not None and is_ - was > most for was, is_ in zip(before, after, strict=True)]
    return tuple(_together(a, b, moved) for a, b, moved in zip(first, second, woken, strict=True))


def _all(found: Sequence[T], looked: Callable[[T], Looked]) -> list[Looked]:
    """All at the same time; no thread is left behind, for what is done between the looks may fork."""
    with ThreadPoolExecutor(max_workers=max(1, min(AT_ONCE, len(found)))) as pool:
        return list(pool.map(looked, found))


def _together(a: Looked, b: Looked, woken: bool) -> Looked:
    if not b.stacks.threads:
        return b if b.stacks.state == "gone" else a
    return b._replace(stacks=b.stacks._replace(moved=woken or _places(a.stacks) != _places(b.stacks)))


def _places(one: Stacks) -> tuple[object, ...]:
    """Where the main thread stands."""
    return next((thread.frames for thread in one.threads if thread.name == "MainThread"), one.threads[0].frames)


def _dump(process: Process, spy: str, within: float) -> Looked:
    now = one(process.pid)
    state = now.state
    nothing = Stacks(process.pid, process.rank, process.command, (), "py-spy", state=state)
    if state in ("gone", "Z", "X", "T", "t"):
        return Looked(process, nothing)  # a stopped process cannot be looked at without waking it
    try:
        ran = subprocess.run(  # noqa: S603 - py-spy and a number
            [spy, "dump", "--json", "--pid", str(process.pid)], capture_output=True, timeout=max(1.0, within), check=False, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return Looked(process, nothing, "py-spy did not answer in time")
    except OSError as error:
        return Looked(process, nothing, error.strerror or str(error))
    read = stacks.read(ran.stdout.decode("utf-8", "replace"))
    if not read:
        if one(process.pid).state == "gone":
            return Looked(process, nothing._replace(state="gone"))
        lines = ran.stderr.decode("utf-8", "replace").strip().splitlines()
        return Looked(process, nothing, next((line for line in lines if line.strip()), f"py-spy ended with {ran.returncode}")[:200])
    return Looked(process, read[0]._replace(pid=process.pid, rank=process.rank, command=process.command, state=state))
