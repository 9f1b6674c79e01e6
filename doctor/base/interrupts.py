"""Ctrl-C, heard however it falls: one is always enough.

Python notes a signal and acts on it at its next instruction. Left at that, one that comes just before a system call
blocks waits until the call returns, and what is raised inside a callback of the interpreter is dropped. So whatever may
wait long, waits for the interrupt as well (`ready`, `pause`), and whatever takes long asks for it (`check`).

From `keep` on there is something to tell: the first Ctrl-C is then only noted, so that reading ends where everything read
so far is whole, and the answer is drawn from it; a second one ends everything at once.

Signals belong to the process, hence the state of this module. Programs that only use the library have their own handlers:
nothing here touches them unless `listen` was called.
"""

from __future__ import annotations

import os
import select
import signal
import time
from types import FrameType


class _State:
    count = 0  # how often
    open = False  # noted, and nobody has acted on it yet
    kept = False
    wake = alarm = -1  # the two ends of the pipe into which the interpreter itself writes at a signal


_state = _State()


def listen() -> None:
    """From here on, until `leave`. Where the caller ignores or handles interrupts, nothing changes."""
    global _state
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    try:
        signal.signal(signal.SIGINT, _note)
    except ValueError:  # only a main thread can
        return
    _state = _State()
    _state.wake, _state.alarm = os.pipe()
    os.set_blocking(_state.wake, False)
    os.set_blocking(_state.alarm, False)
    signal.set_wakeup_fd(_state.alarm, warn_on_full_buffer=False)


def leave() -> None:
    """Interrupts are somebody else's again: of the terminal interface, or of whoever called."""
    global _state
    if signal.getsignal(signal.SIGINT) is not _note:
        return
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gone, _state = _state, _State()
    os.close(gone.wake)
    os.close(gone.alarm)


def leave_to_parent() -> None:
    """In a forked worker: the parent has heard it, too, and ends its workers."""
    if signal.getsignal(signal.SIGINT) is _note:
        leave()
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def keep() -> None:
    """There is something to tell from here on."""
    _state.kept = True
    check()


def heard() -> bool:
    """Whether there was one at all."""
    return _state.count > 0


def check() -> None:
    """Raises where one was noted; `acted` ends that."""
    if _state.wake >= 0:
        _drain()
    if _state.open:
        raise KeyboardInterrupt


def acted() -> None:
    """Reading was ended for it: what follows is not, unless there is another one."""
    _state.open = False


def alarm() -> int:
    """Becomes readable at an interrupt, for those who wait for several things; -1 when nobody listens."""
    return _state.wake


def ready(handle: int) -> None:
    """Waits until something can be read there, or the end of it, or raises at an interrupt."""
    while True:
        check()
        if handle in _wait((handle,), None):
            return


def pause(seconds: float) -> None:
    """Waits that long, or raises at an interrupt."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        check()
        _wait((), left)
    check()


def _wait(handles: tuple[int, ...], seconds: float | None) -> list[int]:
    poll = select.poll()
    for handle in (*handles, *((_state.wake,) if _state.wake >= 0 else ())):
        poll.register(handle, select.POLLIN)
    return [handle for handle, _ in poll.poll(None if seconds is None else 1000 * seconds)]


def _drain() -> None:
    try:
        while os.read(_state.wake, 512):
            pass
    except BlockingIOError:
        pass


def _note(_number: int, _frame: FrameType | None) -> None:
    _state.count += 1
    _state.open = True
    if not _state.kept or _state.count > 1:
        raise KeyboardInterrupt
