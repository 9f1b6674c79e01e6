"""Forked workers that inherit the plan and the automaton, take one range at a time, and send harvests back.

A dead worker is noticed by its closed pipe: its range is given to another one, once; then it is named as not read.
"""

from __future__ import annotations

import os
import pickle
import selectors
import struct
import sys
from collections import deque
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from doctor.base import interrupts
from doctor.base.notation import clean
from doctor.read.source import Skipped
from doctor.scan.harvest import Harvest
from doctor.scan.tasks import Task, run_here, scan_one

if TYPE_CHECKING:
    from doctor.scan.progress import Progress
    from doctor.scan.scanner import Scanner

TRIES = 2
_HEAD = struct.Struct("<iq")


class _Worker(NamedTuple):
    pid: int
    ask: int  # the number of the next task is written here; closed: go home
    answer: int


def run_pool(tasks: Sequence[Task], scanner: Scanner, count: int, done: dict[int, Harvest], progress: Progress) -> None:
    """Fills `done` with the harvest of every task. On an interrupt the workers are ended and `done` has what was read."""
    # The largest first; members of a compressed archive in their order, or each would be searched from its beginning.
    waiting = deque(sorted(range(len(tasks)), key=lambda n: 0 if tasks[n].source.chained else -tasks[n].size))
    tries = [0] * len(tasks)
    busy: dict[int, tuple[_Worker, int]] = {}  # answer pipe -> worker and its task
    watch = selectors.DefaultSelector()
    if (alarm := interrupts.alarm()) >= 0:
        watch.register(alarm, selectors.EVENT_READ)

    def employ() -> bool:
        """One more worker; no when the machine has no process left to give."""
        number = waiting.popleft()
        try:
            worker = _fork(tasks, scanner, [w.ask for w, _ in busy.values()] + [w.answer for w, _ in busy.values()])
        except OSError:
            waiting.appendleft(number)
            return False
        _give(worker, number)
        tries[number] += 1
        busy[worker.answer] = (worker, number)
        watch.register(worker.answer, selectors.EVENT_READ)
        return True

    def dismiss(worker: _Worker) -> str:
        """Sends a worker home; how it ended."""
        watch.unregister(worker.answer)
        del busy[worker.answer]
        os.close(worker.ask)
        os.close(worker.answer)
        code = os.waitstatus_to_exitcode(os.waitpid(worker.pid, 0)[1])
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def failed(number: int, how: str) -> None:
        """Its worker died: another one reads it, unless that was the second one."""
        name = tasks[number].source.name
        if tries[number] >= TRIES:
            done[number] = Harvest(skipped=(Skipped(name, f"two worker processes died while reading it ({how})"),))
            return
        waiting.appendleft(number)
        progress.end()
        sys.stderr.write(f"npu-doctor: a worker process died ({how}) while reading {clean(name)}: it is read again\n")

    try:
        while len(busy) < count and waiting and employ():
            pass
        while busy:
            for key, _ in watch.select():
                if key.fd == alarm:
                    interrupts.check()
                    continue
                worker, number = busy[key.fd]
                harvest = _receive(worker.answer)
                if harvest is None:  # it died with this task
                    failed(number, dismiss(worker))
                    if waiting:
                        employ()
                    continue
                done[number] = harvest
                progress.add(tasks[number].size or harvest.size, tasks[number].start == 0)
                if waiting:
                    following = waiting.popleft()
                    tries[following] += 1
                    busy[key.fd] = (worker, following)
                    _give(worker, following)
                else:
                    dismiss(worker)
        _alone(tasks, scanner, waiting, tries, done, progress)
    finally:
        for worker, _ in list(busy.values()):
            _end(worker)
        watch.close()


def _alone(
    tasks: Sequence[Task],
    scanner: Scanner,
    waiting: Iterable[int],
    tries: Sequence[int],
    done: dict[int, Harvest],
    progress: Progress,
) -> None:
    """What is left when no process was to be had is read by this one, except what has killed a worker already."""
    for number in waiting:
        if tries[number]:
            reason = "a worker process died while reading it, and no other one could be started"
            done[number] = Harvest(skipped=(Skipped(tasks[number].source.name, reason),))
        else:
            run_here({number: tasks[number]}, scanner, done, progress)


def _fork(tasks: Sequence[Task], scanner: Scanner, others: list[int]) -> _Worker:
    pipes: list[int] = []
    try:
        pipes += os.pipe()
        pipes += os.pipe()
        pid = os.fork()
    except OSError:
        for handle in pipes:
            os.close(handle)
        raise
    ask_read, ask_write, answer_read, answer_write = pipes
    if pid:
        os.close(ask_read)
        os.close(answer_write)
        return _Worker(pid, ask_write, answer_read)
    code = 1
    try:  # the child: never returns to the caller
        interrupts.leave_to_parent()
        for handle in (ask_write, answer_read, *others):
            os.close(handle)
        _work(tasks, scanner, ask_read, answer_write)
        code = 0
    except BaseException:  # noqa: BLE001, S110 - the parent sees the closed pipe
        pass
    finally:
        os._exit(code)


def _work(tasks: Sequence[Task], scanner: Scanner, ask: int, answer: int) -> None:
    while True:
        order = os.read(ask, 4)
        if len(order) < 4:
            return
        number = struct.unpack("<i", order)[0]
        data = pickle.dumps(scan_one(tasks[number], scanner), protocol=5)
        view = memoryview(_HEAD.pack(number, len(data)) + data)
        while view:
            view = view[os.write(answer, view) :]


def _give(worker: _Worker, number: int) -> None:
    try:
        os.write(worker.ask, struct.pack("<i", number))
    except BrokenPipeError:
        pass  # its answer pipe is closed as well, and tells


def _receive(handle: int) -> Harvest | None:
    head = _read(handle, _HEAD.size)
    if head is None:
        return None
    data = _read(handle, _HEAD.unpack(head)[1])
    if data is None:
        return None
    harvest: Harvest = pickle.loads(data)  # noqa: S301 - written by our own child, over a pipe nobody else has
    return harvest


def _read(handle: int, size: int) -> bytes | None:
    pieces = bytearray()
    while len(pieces) < size:
        piece = os.read(handle, min(size - len(pieces), 1 << 20))
        if not piece:
            return None
        pieces += piece
    return bytes(pieces)


def _end(worker: _Worker) -> None:
    import signal

    for handle in (worker.ask, worker.answer):
        os.close(handle)
    try:
        os.kill(worker.pid, signal.SIGTERM)
        os.waitpid(worker.pid, 0)
    except (ProcessLookupError, ChildProcessError):
        pass
