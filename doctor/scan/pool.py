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
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from doctor.base import interrupts
from doctor.base.notation import clean
from doctor.read.source import Skipped
from doctor.scan.harvest import Harvest
from doctor.scan.ranges import Range, Reader, scan_here, scan_one

if TYPE_CHECKING:
    from doctor.scan.progress import Progress

TRIES = 2
_HEAD = struct.Struct("<iq")


class _Worker(NamedTuple):
    pid: int
    ask: int  # the number of the next range is written here; closed: go home
    answer: int


def run_pool(ranges: Sequence[Range], scanner: Reader, count: int, done: dict[int, Harvest], progress: Progress) -> None:
    """Fills `done` with the harvest of every range. On an interrupt the workers are ended and `done` has what was read."""
    pool = _Pool(ranges, scanner, done, progress)
    try:
        pool.run(count)
    finally:
        pool.end()


class _Pool:
    """The workers, what each of them reads, and what waits to be read."""

    def __init__(self, ranges: Sequence[Range], scanner: Reader, done: dict[int, Harvest], progress: Progress) -> None:
        self._ranges, self._scanner, self._done, self._progress = ranges, scanner, done, progress
        # The largest first; members of a compressed archive in their order, or each would be searched from its beginning.
        self._waiting = deque(sorted(range(len(ranges)), key=lambda n: 0 if ranges[n].source.chained else -ranges[n].size))
        self._tries = [0] * len(ranges)
        self._busy: dict[int, tuple[_Worker, int]] = {}  # answer pipe -> worker and the number of its range
        self._watch = selectors.DefaultSelector()
        self._alarm = interrupts.alarm()
        if self._alarm >= 0:
            self._watch.register(self._alarm, selectors.EVENT_READ)

    def run(self, count: int) -> None:
        while len(self._busy) < count and self._waiting and self._employ():
            pass
        while self._busy:
            for key, _ in self._watch.select():
                if key.fd == self._alarm:
                    interrupts.check()
                else:
                    self._answered(*self._busy[key.fd])
        self._read_the_rest()

    def end(self) -> None:
        for worker, _ in list(self._busy.values()):
            _end(worker)
        self._watch.close()

    def _employ(self) -> bool:
        """One more worker; no when the machine has no process left to give."""
        number = self._waiting.popleft()
        try:
            worker = _fork(self._ranges, self._scanner, [pipe for w, _ in self._busy.values() for pipe in (w.ask, w.answer)])
        except OSError:
            self._waiting.appendleft(number)
            return False
        self._watch.register(worker.answer, selectors.EVENT_READ)
        self._order(worker, number)
        return True

    def _order(self, worker: _Worker, number: int) -> None:
        self._tries[number] += 1
        self._busy[worker.answer] = (worker, number)
        _give(worker, number)

    def _answered(self, worker: _Worker, number: int) -> None:
        """A worker is done with its range, or it died with it."""
        harvest = _receive(worker.answer)
        if harvest is None:
            self._failed(number, self._dismiss(worker))
            if self._waiting:
                self._employ()
            return
        self._done[number] = harvest
        self._progress.add(self._ranges[number].size or harvest.size, self._ranges[number].start == 0)
        if self._waiting:
            self._order(worker, self._waiting.popleft())
        else:
            self._dismiss(worker)

    def _dismiss(self, worker: _Worker) -> str:
        """Sends a worker home; how it ended."""
        self._watch.unregister(worker.answer)
        del self._busy[worker.answer]
        os.close(worker.ask)
        os.close(worker.answer)
        code = os.waitstatus_to_exitcode(os.waitpid(worker.pid, 0)[1])
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def _failed(self, number: int, how: str) -> None:
        """Its worker died: another one reads it, unless that was the second one."""
        name = self._ranges[number].source.name
        if self._tries[number] >= TRIES:
            self._done[number] = Harvest(skipped=(Skipped(name, f"two worker processes died while reading it ({how})"),))
            return
        self._waiting.appendleft(number)
        self._progress.end()
        sys.stderr.write(f"npu-doctor: a worker process died ({how}) while reading {clean(name)}: it is read again\n")

    def _read_the_rest(self) -> None:
        """What is left when no process was to be had is read by this one, except what has killed a worker already."""
        for number in self._waiting:
            if self._tries[number]:
                reason = "a worker process died while reading it, and no other one could be started"
                self._done[number] = Harvest(skipped=(Skipped(self._ranges[number].source.name, reason),))
            else:
                scan_here({number: self._ranges[number]}, self._scanner, self._done, self._progress)


def _fork(ranges: Sequence[Range], scanner: Reader, others: list[int]) -> _Worker:
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
        _work(ranges, scanner, ask_read, answer_write)
        code = 0
    except BaseException:  # noqa: BLE001, S110 - the parent sees the closed pipe
        pass
    finally:
        os._exit(code)


def _work(ranges: Sequence[Range], scanner: Reader, ask: int, answer: int) -> None:
    while True:
        order = os.read(ask, 4)
        if len(order) < 4:
            return
        number = struct.unpack("<i", order)[0]
        data = pickle.dumps(scan_one(ranges[number], scanner), protocol=5)
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
