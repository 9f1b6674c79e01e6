"""What a process does, by its stacks: the innermost frame that says so decides."""

from __future__ import annotations

import re
import sys
from enum import Enum

from parsers.named import NamedTuple
from parsers.stacks import Frame, Stacks, Thread


class Activity(str, Enum):
    """What the main thread of a rank is about."""

    COLLECTIVE = "collective"
    """It waits in a call that others must make as well."""
    STORE = "store"
    """It waits while a group is made, or for a key of the store."""
    SYNCHRONIZE = "synchronize"
    """It waits for its own device."""
    INPUT = "input"
    COMPILE = "compile"
    CHECKPOINT = "checkpoint"
    EVALUATION = "evaluation"
    LOCK = "lock"
    CODE = "code"
    """It stands in the program itself."""


WAITING = frozenset({Activity.COLLECTIVE, Activity.STORE})

# File and function of a frame, joined by a blank; the first pattern that fits a frame names it.
_FORMS: tuple[tuple[Activity, re.Pattern[str]], ...] = tuple(
    (activity, re.compile(pattern))
    for activity, pattern in (
        (Activity.STORE, r"torch/distributed/(?:rendezvous|elastic/.*)\.py |_store_based_barrier|c10d::(?:TCP|File|Prefix)Store::|init_process_group$|_new_process_group_helper|new_group$"),
        (Activity.COLLECTIVE, r"torch/distributed/(?:distributed_c10d|nn/functional|_functional_collectives)\.py |torch_npu/distributed/.*\.py |mindspore/(?:communication|ops/.*/comm_ops)"
                              r"|c10d::(?:Work|ProcessGroup\w+)|gloo::|HcclAll|HcclBroadcast|HcclReduce|HcclSend|HcclRecv|HcclBarrier|deepspeed/comm/"),
        (Activity.SYNCHRONIZE, r"torch_npu/npu/(?:utils|streams|__init__)\.py \w*synchronize|torch/cuda/.*synchronize|aclrtSynchronize|rtStreamSynchronize|rtEventSynchronize|aclrtSynchronizeEvent"),
        (Activity.COMPILE, r"torch/_(?:inductor|dynamo|functorch)/|torch_npu/_inductor|torchair/|triton/(?:compiler|runtime/jit)|te_fusion|tbe/|aclopCompile|GeGenerator|mindspore/common/api\.py compile|_compile_and_run"),
        (Activity.CHECKPOINT, r"torch/(?:serialization\.py (?:save|load|_save|_load|_legacy)|distributed/checkpoint/)|safetensors/|(?:save|load|write|restore)_?(?:dist_|sharded_|model_|training_|optimizer_)?(?:checkpoint|ckpt|state_dict|pretrained)s?\b|mindspore/train/serialization"),
        (Activity.INPUT, r"torch/utils/data/|datasets/(?:arrow_dataset|iterable_dataset|load)\.py|webdataset/|mindspore/dataset/|tf/data|(?:DataLoader|Dataset|Sampler)\w*\.(?:__next__|__getitem__|__iter__)"
                         r"|\b(?:load|read|fetch|get|next|prefetch|make)_?(?:next_)?(?:batch|sample|shard|data)(?:es|s)?\b"),
        (Activity.EVALUATION, r"\b_?(?:evaluate|evaluation|validate|validation|eval|run_eval|eval_step|evaluation_loop|test_epoch|eval_epoch|predict)(?:_\w+)?$"),
        (Activity.LOCK, r"(?:threading|multiprocessing/(?:synchronize|managers|connection)|queue|filelock\S*|fasteners\S*|portalocker\S*)\.py (?:\S*\.)?(?:acquire|wait|wait_for|__enter__|join|_wait_for_tstate_lock|get|put)"
                        r"|pthread_mutex_lock|__lll_lock_wait|futex_wait|pthread_cond_wait|(?:acquire|hold|take)_?lock|flock"),
    )
)  # fmt: skip
_TRANSPARENT = re.compile(r"(?:contextlib|functools|c10d_logger|_contextlib|threading)\.py (?!.*(?:acquire|wait|__enter__|join))")
_LIBRARY = re.compile(r"site-packages|dist-packages|/lib/python3|<frozen|^<string>|\.so\b|/torch/|/torch_npu/|multiprocessing/|^threading\.py|runpy\.py")
# py-spy prints files as seen from where they are imported: `queue.py`, `torch/serialization.py`.
_SHORT = re.compile(r"^(\w+)(?:\.py$|/)")
_PACKAGES = frozenset({"torch", "torch_npu", "transformers", "accelerate", "deepspeed", "datasets", "safetensors", "numpy", "vllm", "vllm_ascend", "sglang", "ray", "mindspore"})


def _of_library(file: str) -> bool:
    """Is a frame's file of Python or of a framework, and not of the program?"""
    short = _SHORT.match(file)
    return bool(_LIBRARY.search(file)) or (short is not None and (short[1] in _PACKAGES or short[1] in sys.stdlib_module_names))


class Doing(NamedTuple):
    """One process, as far as its stacks tell."""

    rank: int | None
    pid: int | None
    activity: Activity
    call: str
    """The function that waits or works: `all_reduce`."""
    line: str
    """The innermost frame of the program itself: `train.py:41 step`."""
    active: bool | None
    stacks: Stacks


def doing(stacks: Stacks) -> Doing:
    """What the main thread is about; another thread speaks for it where that one only waits for it."""
    if not stacks.threads:
        return Doing(stacks.rank, stacks.pid, Activity.CODE, "", "", None, stacks)
    main = main_thread(stacks)
    activity, call = _activity(main)
    line = _own_line(main)
    if activity in (Activity.LOCK, Activity.CODE) and main.active is not True:
        for thread in stacks.threads:
            other, other_call = _activity(thread)
            if thread is not main and other in (Activity.COLLECTIVE, Activity.SYNCHRONIZE) and not is_helper(thread):
                return Doing(stacks.rank, stacks.pid, other, other_call, line or _own_line(thread), main.active, stacks)
    return Doing(stacks.rank, stacks.pid, activity, call, line, main.active, stacks)


def main_thread(stacks: Stacks) -> Thread:
    """The thread that runs the program: gdb and faulthandler print it last."""
    named = next((t for t in stacks.threads if t.name in ("MainThread", "_MainThread")), None)
    if named is not None:
        return named
    if stacks.origin in ("faulthandler", "gdb", "asys", "pystack"):
        return stacks.threads[-1] if stacks.origin in ("faulthandler", "gdb") else stacks.threads[0]
    return stacks.threads[0]


def is_helper(thread: Thread) -> bool:
    """A watchdog or a heartbeat waits all its life."""
    return re.search(r"watchdog|heartbeat|monitor|pin_memory|QueueFeeder", thread.name, re.IGNORECASE) is not None


def _activity(thread: Thread) -> tuple[Activity, str]:
    for frame in thread.frames:
        written = f"{frame.file} {frame.name}"
        if _TRANSPARENT.search(written) or frame.name == "<module>":  # of a library: it is being imported
            continue
        for activity, pattern in _FORMS:
            if pattern.search(written):
                return activity, _call(thread, frame, activity)
        if not _of_library(frame.file):  # what called the program's own innermost line says what that line is for
            return _purpose(thread, frame)
    return Activity.CODE, thread.frames[0].name


def _purpose(thread: Thread, own: Frame) -> tuple[Activity, str]:
    """The program's own line says nothing by its name: its callers in the program may, as `save_checkpoint` does."""
    at = thread.frames.index(own)
    for frame in thread.frames[at + 1 :]:
        written = f"{frame.file} {frame.name}"
        for activity, pattern in _FORMS:
            if activity in (Activity.COMPILE, Activity.CHECKPOINT, Activity.INPUT, Activity.EVALUATION) and pattern.search(written):
                return activity, frame.name
    return Activity.CODE, own.name


def _call(thread: Thread, frame: Frame, activity: Activity) -> str:
    """The name by which the program called it: the outermost frame of the library."""
    name = frame.name
    if activity not in WAITING:
        return name
    for outer in thread.frames[thread.frames.index(frame) + 1 :]:
        written = f"{outer.file} {outer.name}"
        if not any(form == activity and pattern.search(written) for form, pattern in _FORMS):
            if _TRANSPARENT.search(written):
                continue
            break
        name = outer.name
    return name.rpartition(".")[2]


def _own_line(thread: Thread) -> str:
    own = next((frame for frame in thread.frames if frame.line and not _of_library(frame.file)), None)
    return (own or thread.frames[0]).told
