"""Which files are dumps of a process and no logs: told by their first bytes, else by their name."""

from __future__ import annotations

import re

from parsers.lazy import lazy

FLIGHT = "flight"
MEMORY = "memory"
STACKS = "stacks"  # these stand in texts, which are read as logs as well
STARTED = "started"  # no dump, and no log either: a script that tells how something was started
BESIDE = "beside"  # source code or settings among a few logs: what an entry adds to its fault may stand there
VERDICT = "verdict"  # what `npu-doctor hang` said of live processes, written into a file

_PICKLE = lazy(rb"\x80[\x02-\x05]")
_FLIGHT_WORDS = (b"collective_seq_id", b"profiling_name", b"pg_config", b"pg_status", b"hccl_comm_state", b"nccl_comm_state")
_MEMORY_WORDS = (b"device_traces", b"total_size", b"segment_type", b"segment_pool_id")
# Names under which they are written; a file of such a name that is damaged, or something else, is named as that.
_FLIGHT_NAME = lazy(r"(?:^|[/!_])(?:hccl|nccl|gloo|comm_lib|xccl|fr)_(?:trace|dump)_?(?:rank_?)?\d+(?:\.(?:pkl|pickle))?$")
_MEMORY_NAME = lazy(r"(?:snapshot|memory)[^/!]*\.(?:pkl|pickle)$", re.IGNORECASE)


def kind(name: str, head: bytes) -> str:
    """`flight`, `memory`, or empty for what is no dump."""
    if _PICKLE.match(head):
        if any(word in head for word in _FLIGHT_WORDS):
            return FLIGHT
        if b"segments" in head and any(word in head for word in _MEMORY_WORDS):
            return MEMORY
    return named(name)


def named(name: str) -> str:
    """What a file is by its name alone."""
    if _FLIGHT_NAME.search(name):
        return FLIGHT
    return MEMORY if _MEMORY_NAME.search(name) else ""


# One of these stands near the beginning of every text with stacks: what py-spy, pystack, faulthandler, gdb, asys and torch_npu print.
# Looking for the words of all of them first takes a hundredth of the time, and every small log is asked.
_STACK_WORDS = (b"(most recent call first)", b"Traceback for thread ", b"Python v", b'"os_thread_id"', b"thread <_", b"(LWP ", b"#00 0x", b"[PROCESS]")
_STACKS = lazy(
    rb"\(most recent call first\)|^Traceback for thread \d|(?:^|\]:? )Python v\d[^\n]* \(|\"os_thread_id\"|^thread <_\w+\(|\(LWP \d+\)|^#00 0x|^\[PROCESS\]", re.MULTILINE
)


_SAID = lazy(rb'"type": "hang",\s+"answer": "')
_DIGEST = b'"tool": "npu-doctor memory"'  # a snapshot as `npu-doctor memory -f json` tells it, in little


def in_text(head: bytes) -> str:
    """The dump that may stand in a text which begins so; empty for nearly all."""
    if b'"collective_seq_id"' in head and b'"profiling_name"' in head:
        return FLIGHT
    if _DIGEST in head:
        return MEMORY
    if b'"type": "hang"' in head and _SAID.search(head):
        return VERDICT
    return STACKS if any(word in head for word in _STACK_WORDS) and _STACKS.search(head) else ""
