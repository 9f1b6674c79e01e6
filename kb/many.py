"""Work on many files of knowledge at once: a user's folder may hold thousands, and machines have several cores.

What comes out is what one process would make, in the same order. Where processes cannot be forked, or should not be (other threads run: a
copy of this process would have what they hold, without them), this process does the work; so it does what a worker has died with.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

FROM = 400  # fewer are read before workers are made
AT_ONCE = 32  # what a worker takes at once: small enough that none waits long for another, and that an answer fits into a pipe
MOST = 8  # workers
_HEAD = struct.Struct("<II")  # of an answer: which share of the work, and how many bytes follow
_TICKET = struct.Struct("<I")
_TICKETS = 4096 // _TICKET.size  # so many fit into any pipe, before anybody reads

One = TypeVar("One")
Made = TypeVar("Made")


def each(things: Sequence[One], work: Callable[[One], Made]) -> Iterator[Made]:
    """What is made of each, in their order."""
    workers = _workers(len(things))
    if workers < 2:
        yield from map(work, things)
        return
    size = max(AT_ONCE, -(-len(things) // _TICKETS))
    shares = [things[begin : begin + size] for begin in range(0, len(things), size)]
    done: dict[int, list[Made]] = {}
    told = 0
    for number, made in _shared(shares, work, workers):
        done[number] = made
        while told in done:
            yield from done.pop(told)
            told += 1
    for number in range(told, len(shares)):
        yield from done.pop(number) if number in done else map(work, shares[number])


def _workers(count: int) -> int:
    threads = sys.modules.get("threading")
    if count < FROM or not hasattr(os, "fork") or (threads is not None and threads.active_count() > 1):
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST)


def _shared(shares: Sequence[Sequence[One]], work: Callable[[One], Made], count: int) -> Iterator[tuple[int, list[Made]]]:
    """Shares as they are done. Workers draw their tickets from one pipe, so that a slow one keeps nobody waiting."""
    workers: dict[int, int] = {}  # the pipe of its answers -> its process
    try:
        tickets, out = os.pipe()
    except OSError:  # no room for another pipe: this process does it all
        return
    try:
        os.write(out, b"".join(map(_TICKET.pack, range(len(shares)))))
        os.close(out)
        for _ in range(count):
            try:
                answers, pid = _fork(shares, work, tickets, list(workers))
            except OSError:  # no process is to be had
                break
            workers[answers] = pid
        while workers:
            for answers in select.select(list(workers), [], [])[0]:
                answer: tuple[int, list[Made]] | None = _answer(answers)
                if answer is None:
                    os.close(answers)
                    os.waitpid(workers.pop(answers), 0)
                else:
                    yield answer
    finally:
        os.close(tickets)
        for answers, pid in workers.items():
            os.close(answers)
            _end(pid)


def _fork(shares: Sequence[Sequence[One]], work: Callable[[One], Made], tickets: int, others: list[int]) -> tuple[int, int]:
    """(the pipe of its answers, its process)"""
    answers, out = os.pipe()
    try:
        pid = os.fork()
    except OSError:
        os.close(answers)
        os.close(out)
        raise
    if pid:
        os.close(out)
        return answers, pid
    try:  # the child: never returns to the caller
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and ends its workers
        for handle in (answers, *others):
            os.close(handle)
        while ticket := os.read(tickets, _TICKET.size):
            number = _TICKET.unpack(ticket)[0]
            data = pickle.dumps([work(one) for one in shares[number]], protocol=5)
            view = memoryview(_HEAD.pack(number, len(data)) + data)
            while view:
                view = view[os.write(out, view) :]
    except BaseException:  # noqa: BLE001, S110 - the parent sees the closed pipe, does that share itself, and meets what was raised
        pass
    finally:
        os._exit(0)


def _answer(handle: int) -> tuple[int, list[Any]] | None:
    head = read_whole(handle, _HEAD.size)
    if head is None:
        return None
    number, size = _HEAD.unpack(head)
    data = read_whole(handle, size)
    if data is None:
        return None
    made: list[Any] = pickle.loads(data)  # noqa: S301 - written by our own child, over a pipe nobody else has
    return number, made


def read_whole(handle: int, size: int) -> bytes | None:
    """So many bytes of a pipe; None when it is closed before."""
    pieces = bytearray()
    while len(pieces) < size:
        piece = os.read(handle, min(size - len(pieces), 1 << 20))
        if not piece:
            return None
        pieces += piece
    return bytes(pieces)


def _end(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)  # it holds nothing, and may have a handler of its parent's for others
        os.waitpid(pid, 0)
    except (ProcessLookupError, ChildProcessError):
        pass
