"""Runs a command with its output passed through and remembered, its terminal kept, and signals handed on.

Where our output is a terminal, the command gets a pseudo-terminal of the same size with output processing off, so that
it behaves as on the terminal and not a byte is changed on the way. Standard input is inherited. The command stays in our
process group: keys like Ctrl-C reach it from the terminal itself, and only signals that were sent to us are handed on.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import selectors
import signal
import struct
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from doctor.runner.kept_output import Tail

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
OWN_IGNORED = (signal.SIGPIPE, signal.SIGXFSZ)  # by Python for itself; what we were started with is inherited
FROM_TERMINAL = 0x80  # si_code SI_KERNEL: the terminal sent it to the whole group, the command has it already
CHUNK = 1 << 16
TICK = 0.25
PATIENCE = 2.0  # seconds of silence after the command's end: what it left behind may hold its output open for ever

NOT_FOUND, NOT_EXECUTABLE = 127, 126


class Child:
    """One command from its start to its exit code."""

    def __init__(
        self, argv: Sequence[str], environment: Mapping[str, str], tail: Tail, tick: Callable[[int], None]
    ) -> None:
        self.argv, self.environment, self.tail, self.tick = list(argv), dict(environment), tail, tick
        self.pid = 0
        self._ends: dict[int, int] = {}  # our end -> where it goes
        self._terminals: dict[int, int] = {}  # our end of a pseudo-terminal -> the real terminal

    def run(self) -> int:
        """The exit code as a shell gives it: 128 + the number of the signal that ended the command."""
        theirs = self._open()
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, (*FORWARDED, signal.SIGWINCH))
        try:
            actions = [(os.POSIX_SPAWN_DUP2, end, number) for number, end in theirs.items()]
            try:
                self.pid = os.posix_spawnp(
                    self.argv[0],
                    self.argv,
                    self.environment,
                    file_actions=actions,
                    setsigmask=mask,
                    setsigdef=OWN_IGNORED,
                )
            finally:
                for end in set(theirs.values()):
                    os.close(end)
            threading.Thread(target=self._hand_on, daemon=True).start()
            status = self._pump()
        finally:
            for end in list(self._ends):
                self._shut(end)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)

    def _open(self) -> dict[int, int]:
        """The ends that the command writes to. Where both streams go to one place they stay one, which keeps their order."""
        theirs: dict[int, int] = {}
        places: dict[tuple[int, int], int] = {}
        for number in (1, 2):
            try:
                state = os.fstat(number)
            except OSError:
                continue  # closed: the command finds it closed as well
            place = (state.st_dev, state.st_ino)
            if place in places:
                theirs[number] = places[place]
                continue
            if os.isatty(number):
                mine, end = os.openpty()
                _copy_terminal(number, end)
                self._terminals[mine] = number
            else:
                mine, end = os.pipe()
            self._ends[mine] = number
            theirs[number] = places[place] = end
        return theirs

    def _hand_on(self) -> None:
        """In a thread of its own: waits for signals, which are blocked everywhere else."""
        while True:
            told = signal.sigwaitinfo((*FORWARDED, signal.SIGWINCH))
            if told.si_signo == signal.SIGWINCH:
                for mine, real in list(self._terminals.items()):
                    _copy_size(real, mine)
            elif told.si_code != FROM_TERMINAL or told.si_signo not in (signal.SIGINT, signal.SIGQUIT):
                with contextlib.suppress(OSError):
                    os.kill(self.pid, told.si_signo)

    def _pump(self) -> int:
        """Moves bytes until the command has ended and its output is closed, or silent for a while after its end."""
        status: int | None = None
        ended = 0.0
        with selectors.DefaultSelector() as selector:
            for end in self._ends:
                selector.register(end, selectors.EVENT_READ)
            while True:
                ready = selector.select(TICK) if self._ends else []
                if not self._ends and status is None:
                    _, status = os.waitpid(self.pid, 0)
                for key, _ in ready:
                    if not self._move(key.fd):
                        selector.unregister(key.fd)
                        self._shut(key.fd)
                if status is None:
                    self.tick(self.pid)
                    done, code = os.waitpid(self.pid, os.WNOHANG)
                    if done:
                        status, ended = code, time.monotonic()
                elif ready:
                    ended = time.monotonic()
                if status is not None and (not self._ends or time.monotonic() - ended > PATIENCE):
                    return status

    def _move(self, end: int) -> bool:
        """One chunk; False at the end of the stream, or when nobody reads what we write."""
        try:
            data = os.read(end, CHUNK)
        except OSError as problem:
            if problem.errno == errno.EIO:  # every holder of the pseudo-terminal has closed it
                return False
            raise
        if not data:
            return False
        self.tail.add(data)
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._ends[end], view) :]
        except BrokenPipeError:
            return False
        return True

    def _shut(self, end: int) -> None:
        self._ends.pop(end, None)
        self._terminals.pop(end, None)
        os.close(end)


def _copy_terminal(real: int, end: int) -> None:
    """Size and settings of the real terminal, but no processing of output: the real one does that."""
    settings = termios.tcgetattr(end)
    settings[1] &= ~termios.OPOST
    settings[3] &= ~(termios.ECHO | termios.ECHONL)
    termios.tcsetattr(end, termios.TCSANOW, settings)
    _copy_size(real, end)


def _copy_size(real: int, end: int) -> None:
    with contextlib.suppress(OSError):
        fcntl.ioctl(end, termios.TIOCSWINSZ, fcntl.ioctl(real, termios.TIOCGWINSZ, struct.pack("HHHH", 0, 0, 0, 0)))
