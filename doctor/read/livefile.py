"""A log that may be written, rotated, truncated or removed while it is read: read as it was when it was found.

Reading ends where the file ended then, so that no writer can keep a scan from ending; what changed since is told.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from functools import partial
from typing import Any, BinaryIO

from doctor.base import interrupts
from parsers.named import NamedTuple


class Was(NamedTuple):
    """A file when it was found: little, for trees have hundreds of thousands."""

    device: int
    inode: int
    size: int


def was(state: os.stat_result) -> Was:
    return Was(state.st_dev, state.st_ino, state.st_size)


class LiveFile(io.FileIO):
    """The bytes of a file up to the size that it had; `changed` tells what happened to it meanwhile."""

    def __init__(self, path: str, found: Was) -> None:
        super().__init__(_where(path, found), "rb", opener=partial(_only, found))
        self._end = found.size
        self._short = False

    def read(self, size: int | None = -1, /) -> bytes:
        left = max(0, self._end - self.tell())
        data = super().read(left if size is None or size < 0 else min(size, left)) or b""
        self._short |= not data and left > 0 and size != 0
        return data

    def readinto(self, buffer: Any, /) -> int:
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def readall(self) -> bytes:
        return self.read()

    def changed(self) -> str:
        """Why what was read is not the whole file; empty when it is, or when the end was not reached."""
        now = os.fstat(self.fileno()).st_size
        if self._short:
            return f"it had {self._end} bytes and shrank to {now} while it was read: it was truncated or begun anew"
        if now > self._end and self.tell() >= self._end:
            return f"it grew while it was read: only its first {self._end} bytes were (npu-doctor watch follows a log)"
        return ""


class PipeFile(io.FileIO):
    """A named pipe, or standard input by its number: what waits for a writer waits for Ctrl-C as well."""

    def __init__(self, place: str | int) -> None:
        super().__init__(place, "rb", closefd=isinstance(place, str), opener=_at_once if isinstance(place, str) else None)

    def read(self, size: int | None = -1, /) -> bytes:
        while True:
            interrupts.ready(self.fileno())
            data = super().read(-1 if size is None else size)
            if data is not None:  # else another reader was faster
                return data


def unchanged(path: str, found: Was, open_: Callable[[], BinaryIO]) -> BinaryIO:
    """Opens what stands in a file, as long as it is the file that was found: a link that took its place may lead anywhere."""
    stream = open_()
    if _identity(path) != (found.device, found.inode):
        stream.close()
        raise _replaced(path)
    return stream


def _only(found: Was, path: str, flags: int) -> int:
    """Opens the file that was found, none that took its place a moment ago."""
    handle = os.open(path, flags | os.O_NONBLOCK)
    state = os.fstat(handle)
    if (state.st_dev, state.st_ino) != (found.device, found.inode):
        os.close(handle)
        raise _replaced(path)
    return handle


def _replaced(path: str) -> FileNotFoundError:
    return FileNotFoundError(None, "it was removed or replaced while the scan ran", path)


def _at_once(path: str, flags: int) -> int:
    """Opening a pipe for reading would wait for a writer."""
    return os.open(path, flags | os.O_NONBLOCK)


def _where(path: str, found: Was) -> str:
    """The name under which the file that was found stands now: a rotated one has another, and its old name is another file's."""
    identity = (found.device, found.inode)
    if _identity(path) == identity:
        return path
    try:
        with os.scandir(os.path.dirname(path) or ".") as rows:
            for row in rows:
                if row.inode() == found.inode and row.is_file(follow_symlinks=False) and _identity(row.path) == identity:
                    return row.path
    except OSError:
        pass
    raise _replaced(path)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        state = os.stat(path)
    except OSError:
        return None
    return state.st_dev, state.st_ino
