"""From paths to Sources: folders are walked, archives are looked into, and whatever is not read is named with its reason.

Nothing is followed out of the given tree, nothing is unpacked to disk, nothing is opened that is no regular file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from doctor.base import limits
from doctor.read.content import DOCUMENTATION, HEAD, SOURCE_CODE, WHOLE, archive, documentation, not_text, source_code
from doctor.read.livefile import LiveFile, PipeFile
from doctor.read.source import Skipped, Source, hints

MAX_FILES = 200_000
STDIN = "<stdin>"


class Found(NamedTuple):
    """Every source under some paths, and everything that is not one."""

    sources: tuple[Source, ...]
    skipped: tuple[Skipped, ...]


def usual_places() -> list[str]:
    """Where this machine's logs usually are: what CANN's own variables say first, then the homes, then the old slog."""
    found = []
    if path := os.environ.get("ASCEND_PROCESS_LOG_PATH"):
        found.append(path)
    if path := os.environ.get("ASCEND_WORK_PATH"):
        found.append(str(Path(path) / "log"))
    home = os.environ.get("HOME")
    if home:
        found.append(str(Path(home) / "ascend" / "log"))
    found += ["/root/ascend/log", "/var/log/npu/slog"]
    live = []
    for path in dict.fromkeys(found):
        try:
            if Path(path).is_dir():
                live.append(path)
        except OSError:
            continue
    return live


def nearest_path(path: str) -> str:
    """What in the same folder has nearly that name; empty when nothing has."""
    import difflib

    folder, name = os.path.split(path)
    try:
        near = difflib.get_close_matches(name, os.listdir(folder or "."), n=1)
    except OSError:
        return ""
    return os.path.join(folder, near[0]) if near else ""


def discover(paths: Iterable[str], max_files: int | None = None) -> Found:
    """The sources under the given paths, in a stable order."""
    most = max_files or limits.limit(limits.FILES, MAX_FILES)
    sources: list[Source] = []
    skipped: list[Skipped] = []
    seen: set[tuple[int, int]] = set()
    for path in paths:
        for name, why in _walk(path, skipped):
            if why:
                skipped.append(Skipped(name, why))
                continue
            if name != path and documentation(name):
                skipped.append(Skipped(name, DOCUMENTATION))
                continue
            if len(sources) >= most:
                skipped.append(Skipped(path, f"more than {most} files: the rest was not read ({limits.FILES} moves that)"))
                return Found(tuple(sources), tuple(skipped))
            try:
                state = os.stat(name)
            except OSError as error:
                skipped.append(Skipped(name, _reason(error)))
                continue
            if (state.st_dev, state.st_ino) in seen:
                continue
            seen.add((state.st_dev, state.st_ino))
            got, faults = _file(name, state)
            sources += got
            skipped += faults
    return Found(tuple(sources), tuple(skipped))


def _walk(top: str, skipped: list[Skipped]) -> Iterator[tuple[str, str]]:
    """(path, "") for every regular file, (path, reason) for what is none."""
    try:
        state = os.stat(top)
    except OSError as error:
        yield top, _reason(error)
        return
    if not stat.S_ISDIR(state.st_mode):
        yield top, "" if stat.S_ISREG(state.st_mode) or stat.S_ISFIFO(state.st_mode) else _nature(state.st_mode)
        return
    root = os.path.realpath(top)
    for folder, dirs, files in os.walk(top, onerror=lambda e: skipped.append(Skipped(str(e.filename), _reason(e)))):
        for name in list(dirs):
            full = os.path.join(folder, name)
            if os.path.islink(full):
                dirs.remove(name)
                inside = _inside(full, root)
                if not inside:
                    yield full, "a link that leads out of the given folder: not followed"
        dirs.sort()
        for name in sorted(files):
            full = os.path.join(folder, name)
            try:
                mode = os.lstat(full).st_mode
            except OSError as error:
                yield full, _reason(error)
                continue
            if stat.S_ISLNK(mode):
                if not _inside(full, root):
                    yield full, "a link that leads out of the given folder: not followed"
            elif stat.S_ISREG(mode):
                yield full, ""
            else:
                yield full, _nature(mode)


def _inside(path: str, root: str) -> bool:
    real = os.path.realpath(path)
    return real == root or real.startswith(root.rstrip("/") + "/")


def _nature(mode: int) -> str:
    for test, name in (
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    ):
        if test(mode):
            return f"{name}: not a file that holds a log"
    return "not a regular file"


def _reason(error: OSError) -> str:
    return {
        "FileNotFoundError": "there is no such file or folder",
        "PermissionError": "no permission to read it",
        "NotADirectoryError": "a part of this path is no folder",
    }.get(type(error).__name__, error.strerror or str(error))


def _file(name: str, state: os.stat_result) -> tuple[list[Source], list[Skipped]]:
    """One regular file: a log, an archive of logs, or nothing readable."""
    pipe = stat.S_ISFIFO(state.st_mode)
    if state.st_size == 0 and not pipe:
        return [Source(name, lambda: open(name, "rb"), 0, hints(name))], []
    try:
        head = b""
        if not pipe:
            with open(name, "rb") as file:
                head = file.read(HEAD)
    except OSError as error:
        return [], [Skipped(name, _reason(error))]
    if archive(head):
        from doctor.read import archives  # most logs stand in files of their own

        return archives.members(name, head)
    if why := not_text(head):
        return [], [Skipped(name, why)]
    if _source_code(name, head, state.st_size):
        return [], [Skipped(name, SOURCE_CODE)]
    if pipe:
        return [Source(name, lambda: PipeFile(name), None, hints(name), once=True)], []
    return [Source(name, lambda: LiveFile(name, state), state.st_size, hints(name), seekable=True)], []


def _source_code(name: str, head: bytes, size: int) -> bool:
    """By name and beginning; a small text without a telling name is read as a whole when it begins like code."""
    if len(head) == size or size > WHOLE:
        return source_code(name, head, len(head) == size)
    if not source_code(name, head, True):
        return False
    try:
        with open(name, "rb") as file:
            return source_code(name, file.read(WHOLE), True)
    except OSError:
        return False


def standard_input(stream: BinaryIO) -> Source:
    """Standard input, read once."""
    try:
        number = stream.fileno()
    except OSError:  # a program gave something that is no file
        return Source(STDIN, lambda: stream, None, hints(""), once=True)
    return Source(STDIN, lambda: PipeFile(number), None, hints(""), once=True)


def given_text(text: str, name: str = "<text>") -> Source:
    """A text handed over by a program."""
    import io

    data = text.encode("utf-8", "surrogateescape")
    return Source(name, lambda: io.BytesIO(data), len(data), hints(name))
