"""How far a process that stands has come in CANN, by its native frames: the vendor's table for processes that hang.

No frame of CANN: the program never gave it a task. A frame that compiles: an operator is being built. `...SendTask...`: the task does
not get to the device. `...Synchronize...`: the device does not end it. Threads of CANN's own that wait all their life say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum

from doctor.hang.doing import is_helper, main_thread
from parsers.stacks import Frame, Stacks, Thread


class Stage(str, Enum):
    """Where a process stands that hangs; `UNTOLD` where its native frames were not printed."""

    UNTOLD = ""
    UNREACHED = "unreached"
    COMPILE = "compile"
    DELIVERY = "delivery"
    EXECUTION = "execution"
    INSIDE = "inside"
    """In CANN, but in none of the places that the table knows."""


_NATIVE = re.compile(r"\.so\b")
_LIBRARY = re.compile(r"/Ascend/|lib(?:ascend|acl|runtime|ge_|graph|hccl|hcom|opapi|nnopbase|fe\b|te_|aicore|tsd|drv|cann)\w*\.so")
_CALL = re.compile(r"\b(?:acl(?:rt|op|nn|mdl|dump|init)\w*|rt[A-Z]\w+|Hccl\w+|cce::|ge::|hccl::|fe::|nnopbase::)")
_ASKS = re.compile(r"torch_npu|libmindspore|\bacl(?:rt|op|nn|mdl)\w*")
_STAGES = (
    (Stage.COMPILE, re.compile(r"te_fusion|TbeOpCompile|CompileOp|WaitAllFinished|aclopCompile|GeGenerator|BuildSingleOp|\bccec\b|tbe/")),
    (Stage.DELIVERY, re.compile(r"SendTask|SubmitTask")),
    (Stage.EXECUTION, re.compile(r"Synchronize")),
)


def stage(stacks: Stacks) -> Stage:
    """Of the threads that the program itself runs in, the furthest that one has come."""
    native = stacks.origin in ("gdb", "asys") or any(_NATIVE.search(frame.file) for thread in stacks.threads for frame in thread.frames)
    if not native or not stacks.threads:
        return Stage.UNTOLD
    frames = [frame for thread in _own(stacks) for frame in thread.frames]
    if not any(map(_of_cann, frames)):
        return Stage.UNREACHED
    for told, pattern in _STAGES:
        if any(pattern.search(f"{frame.file} {frame.name}") for frame in frames):
            return told
    return Stage.INSIDE


def _of_cann(frame: Frame) -> bool:
    return bool(_LIBRARY.search(frame.file) or _CALL.search(frame.name))


def _own(stacks: Stacks) -> Iterable[Thread]:
    """The main thread, and those through which a framework gives CANN its work."""
    main = main_thread(stacks)
    yield main
    for thread in stacks.threads:
        if thread is not main and any(_ASKS.search(f"{frame.file} {frame.name}") for frame in thread.frames) and not is_helper(thread):
            yield thread
