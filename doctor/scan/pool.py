"""Forked workers that inherit the plan and the automaton, take one range at a time, and send harvests back.

Of many small files a worker takes several at once, and sends one harvest of them. A dead worker is noticed by its closed
pipe: its range is given to another one, once; then it is named as not read. What it read of several is read one by one.
"""

from __future__ import annotations

import os
import pickle
import selectors
import struct
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from doctor.base import interrupts
from doctor.base.notation import clean
from doctor.read.source import Skipped
from doctor.scan.gathering import Together
from doctor.scan.harvest import Harvest
from doctor.scan.ranges import Kept, Range, Reader, scan_here, scan_one
from kb.many import read_whole
from parsers.named import NamedTuple

if TYPE_CHECKING:
    from doctor.scan.progress import Progress

TRIES = 2
SMALL = 256 << 10  # bytes of a file of which a worker takes several
SEVERAL = 64  # of them
ROUNDS = 16  # a worker is to have so many of such orders at least: the last one to end is not waited for
_ORDER = struct.Struct("<ii")
_HEAD = struct.Struct("<q")


class _Order(NamedTuple):
    """Some ranges, one after the other: the number of the first, and how many."""

    first: int
    many: int
    size: int

    @property
    def numbers(self) -> range:
        return range(self.first, self.first + self.many)


class _Worker(NamedTuple):
    pid: int
    ask: int  # the next order is written here; closed: go home
    answer: int


def run_pool(ranges: Sequence[Range], scanner: Reader, count: int, done: Kept, progress: Progress, meanwhile: Callable[[], None] | None = None) -> None:
    """Gives `done` the harvest of every range, of several under the number of the first. On an interrupt the workers are ended, and `done` has what was read.

    `meanwhile`: what this process does while the workers read.
    """
    pool = _Pool(ranges, scanner, count, done, progress)
    try:
        pool.run(count, meanwhile)
    finally:
        pool.end()


class _Pool:
    """The workers, what each of them reads, and what waits to be read."""

    def __init__(self, ranges: Sequence[Range], scanner: Reader, count: int, done: Kept, progress: Progress) -> None:
        self._ranges, self._scanner, self._done, self._progress = ranges, scanner, done, progress
        # The largest first; members of a compressed archive in their order, or each would be searched from its beginning.
        self._waiting = deque(order for _, order in sorted(_orders(ranges, count), key=lambda row: row[0]))
        self._tries = bytearray(len(ranges))
        self._busy: dict[int, tuple[_Worker, _Order]] = {}  # answer pipe -> worker and what it reads
        self._watch = selectors.DefaultSelector()
        self._alarm = interrupts.alarm()
        if self._alarm >= 0:
            self._watch.register(self._alarm, selectors.EVENT_READ)

    def run(self, count: int, meanwhile: Callable[[], None] | None) -> None:
        while len(self._busy) < count and self._waiting and self._employ():
            pass
        if meanwhile is not None:
            meanwhile()
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
        order = self._waiting.popleft()
        try:
            worker = _fork(self._ranges, self._scanner, [pipe for w, _ in self._busy.values() for pipe in (w.ask, w.answer)])
        except OSError:
            self._waiting.appendleft(order)
            return False
        self._watch.register(worker.answer, selectors.EVENT_READ)
        self._give(worker, order)
        return True

    def _give(self, worker: _Worker, order: _Order) -> None:
        if order.many == 1:
            self._tries[order.first] += 1
        self._busy[worker.answer] = (worker, order)
        try:
            os.write(worker.ask, _ORDER.pack(order.first, order.many))
        except BrokenPipeError:
            pass  # its answer pipe is closed as well, and tells

    def _answered(self, worker: _Worker, order: _Order) -> None:
        """A worker is done with what it was given, or it died with it."""
        harvest = _receive(worker.answer)
        if harvest is None:
            self._failed(order, self._dismiss(worker))
            if self._waiting:
                self._employ()
            return
        self._done[order.first] = harvest
        self._progress.add(order.size or harvest.size, order.many if order.many > 1 else self._ranges[order.first].start == 0)
        if self._waiting:
            self._give(worker, self._waiting.popleft())
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

    def _failed(self, order: _Order, how: str) -> None:
        """Its worker died: another one reads it, unless that was the second one."""
        name = self._ranges[order.first].source.name
        if order.many == 1 and self._tries[order.first] >= TRIES:
            self._done[order.first] = Harvest(skipped=(Skipped(name, f"two worker processes died while reading it ({how})"),))
            return
        self._waiting.extendleft(reversed([_Order(n, 1, self._ranges[n].size) for n in order.numbers]))
        self._progress.end()
        what = f"{clean(name)}: it is read again" if order.many == 1 else f"one of {order.many} files from {clean(name)} on: they are read again, one by one"
        sys.stderr.write(f"npu-doctor: a worker process died ({how}) while reading {what}\n")

    def _read_the_rest(self) -> None:
        """What is left when no process was to be had is read by this one, except what has killed a worker already."""
        for number in (n for order in self._waiting for n in order.numbers):
            if self._tries[number]:
                reason = "a worker process died while reading it, and no other one could be started"
                self._done[number] = Harvest(skipped=(Skipped(self._ranges[number].source.name, reason),))
            else:
                scan_here([(number, self._ranges[number])], self._scanner, self._done, self._progress)


def _orders(ranges: Sequence[Range], workers: int) -> Iterator[tuple[int, _Order]]:
    """What is given to a worker at once, each with what it is sorted by."""
    most = min(SEVERAL, len(ranges) // (ROUNDS * workers))
    first = count = size = 0
    for number, part in enumerate(ranges):
        chained = part.source.chained
        small = most > 1 and part.start == 0 and part.end is None and part.source.size is not None and part.size <= SMALL and not chained
        if count and (not small or count >= most):
            yield -size, _Order(first, count, size)
            count = size = 0
        if small:
            first, count, size = first if count else number, count + 1, size + part.size
        else:
            yield 0 if chained else -(part.size or part.source.likely), _Order(number, 1, part.size)
    if count:
        yield -size, _Order(first, count, size)


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
        order = os.read(ask, _ORDER.size)
        if len(order) < _ORDER.size:
            return
        first, count = _ORDER.unpack(order)
        data = pickle.dumps(_read_several(ranges, first, count, scanner) if count > 1 else scan_one(ranges[first], scanner), protocol=5)
        view = memoryview(_HEAD.pack(len(data)) + data)
        while view:
            view = view[os.write(answer, view) :]


def _read_several(ranges: Sequence[Range], first: int, count: int, scanner: Reader) -> Harvest:
    together = Together()
    for number in range(first, first + count):
        together.add(scan_one(ranges[number], scanner))
    return together.result()


def _receive(handle: int) -> Harvest | None:
    head = read_whole(handle, _HEAD.size)
    if head is None:
        return None
    data = read_whole(handle, _HEAD.unpack(head)[0])
    if data is None:
        return None
    harvest: Harvest = pickle.loads(data)  # noqa: S301 - written by our own child, over a pipe nobody else has
    return harvest


def _end(worker: _Worker) -> None:
    import signal

    for handle in (worker.ask, worker.answer):
        os.close(handle)
    try:
        os.kill(worker.pid, signal.SIGTERM)
        os.waitpid(worker.pid, 0)
    except (ProcessLookupError, ChildProcessError):
        pass
