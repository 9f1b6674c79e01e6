"""Standard input as a log: it is kept in a private file while it comes in, and the keys come from the terminal instead."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
from collections.abc import Callable

from doctor.read.source import Source, hints

PIECE = 64 << 10


class Pipe:
    """Copies a pipe into a file in a thread; `open` until its writer is done."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        # Without a name nothing is left behind, however the program ends; its descriptor can be opened again by number.
        self._file = tempfile.TemporaryFile(prefix="npu-doctor-", buffering=0)
        self.path = f"/proc/self/fd/{self._file.fileno()}"
        if not os.path.exists(self.path):
            self._file = tempfile.NamedTemporaryFile(prefix="npu-doctor-", buffering=0)  # type: ignore[assignment]
            self.path = self._file.name
        self._thread = threading.Thread(target=self.copy, daemon=True)
        self.fault = ""

    def start(self) -> Pipe:
        self._thread.start()
        return self

    @property
    def open(self) -> bool:
        return self._thread.is_alive()

    def copy(self, wait: Callable[[int], None] = lambda _: None) -> None:
        """Until the writer is done, or until `wait` raises: what came before that is kept."""
        try:
            while True:
                wait(self._handle)
                if not (piece := os.read(self._handle, PIECE)):
                    return
                view = memoryview(piece)
                while view:
                    view = view[self._file.write(view) or 0 :]
        except OSError as error:  # a full disk: what came so far is still diagnosed
            self.fault = error.strerror or str(error)

    def source(self) -> Source:
        path = self.path
        return Source("<stdin>", lambda: open(path, "rb", buffering=0), None, hints(""), seekable=True)

    def close(self) -> None:
        """The file is gone with this. The copying thread ends with the process."""
        with contextlib.suppress(OSError):
            self._file.close()


def take_stdin() -> Pipe:
    """Standard input becomes the pipe's; file descriptor 0 becomes the terminal, for keys."""
    handle = os.dup(0)
    terminal = os.open("/dev/tty", os.O_RDWR)
    os.dup2(terminal, 0)
    os.close(terminal)
    return Pipe(handle).start()
