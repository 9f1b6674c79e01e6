"""From paths to Sources: folders are walked, archives are looked into, and whatever is not read is named with its reason.

Nothing is followed out of the given tree, nothing is unpacked to disk, nothing is opened that is no regular file.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

from doctor.base import limits
from doctor.read import content, dumps
from doctor.read.content import DOCUMENTATION, HEAD, SOURCE_CODE, WHOLE, archive, documentation, no_log, not_text
from doctor.read.inflate import buffered
from doctor.read.livefile import LiveFile, PipeFile, Was, unchanged, was
from doctor.read.plain import LOOKED_AT, Unknown, plain, written
from doctor.read.source import Skipped, Source, hints
from doctor.read.source_trees import SourceTrees
from doctor.read.sources import Sources
from doctor.read.unread import Unread
from parsers.named import NamedTuple

MAX_FILES = 200_000
MAX_BESIDE = 16  # files of source code and settings among logs: more are a checkout
MAX_STARTED = 64  # scripts that are read for what they start
OF_KERNEL = "files of the kernel (/proc, /sys), no logs: not read"
STDIN = "<stdin>"


class Found(NamedTuple):
    """Every source under some paths, and everything that is not one."""

    sources: Sequence[Source]
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


def discover(paths: Iterable[str], max_files: int | None = None, everything: bool = False) -> Found:
    """The sources under the given paths, in a stable order. A file that is named itself is read whatever it looks like;
    `everything` reads what looks like no log in folders and archives as well.
    """
    looking = _Looking(max_files or limits.limit(limits.FILES, MAX_FILES), everything)
    for path in paths:
        if not looking.under(path):
            break
    looking.settle()
    return Found(looking.sources, looking.skipped.told())


class _Looking:
    """What was found so far."""

    def __init__(self, most: int, everything: bool) -> None:
        self.sources = Sources()
        self.skipped = Unread()
        self._seen: dict[int, set[int]] = {}  # the files of each device
        self._explaining: list[str] = []  # documents, which are read where there is nothing else
        self._started: list[Source] = []  # scripts: beside logs they tell how those came to be
        self._beside: list[Source] = []  # these and settings, as what may add to a fault
        self._most, self._everything = most, everything

    def under(self, path: str) -> bool:
        """Takes in a path; no when there are too many files."""
        tree = SourceTrees(path)
        for name, why in files_under(path, self.skipped, None if self._everything else tree):
            if why:
                self.skipped.append(Skipped(name, why))
                continue
            asked_for = name == path or self._everything
            if not asked_for and tree.is_part(name):
                continue
            if not asked_for and documentation(name):
                if len(self._explaining) <= MAX_BESIDE:
                    self._explaining.append(name)
                else:
                    self.skipped.append(Skipped(name, DOCUMENTATION))
                continue
            if len(self.sources) >= self._most:
                self.skipped.append(Skipped(path, f"more than {self._most} files: the rest was not read ({limits.FILES} moves that)"))
                return False
            self._take(name, asked_for)
        self.skipped.extend(tree.left_out())
        return True

    def settle(self) -> None:
        """Takes the scripts in, where there are logs for them to tell of, and a few documents, where nothing else is: they are what somebody wants to have read."""
        if not len(self.sources) and len(self._explaining) <= MAX_BESIDE:
            for name in self._explaining:
                self._take(name, False)
        else:
            self.skipped.extend(Skipped(name, DOCUMENTATION) for name in self._explaining)
        if len(self.sources):
            few = len(self._beside) <= MAX_BESIDE and len(self.sources) <= MAX_BESIDE
            self.sources.extend((*self._started, *(self._beside if few else ())))

    def _take(self, name: str, asked_for: bool) -> None:
        try:
            state = os.stat(name)
        except OSError as error:
            self.skipped.append(Skipped(name, _reason(error)))
            return
        seen = self._seen.setdefault(state.st_dev, set())
        if state.st_ino in seen:
            return
        seen.add(state.st_ino)
        got, faults = _file(name, state, asked_for, self._everything)
        if isinstance(got, Was):
            self.sources.add_log(name, got)
        else:
            self.sources.extend(source for source in got if not source.only_adds)
            self._beside += [source._replace(dump=dumps.BESIDE) for source in got if source.only_adds][: MAX_BESIDE + 1 - len(self._beside)]
            self._started += [source for source in got if source.dump == dumps.STARTED][: MAX_STARTED - len(self._started)]
        self.skipped.extend(faults)


def files_under(top: str, skipped: Unread, trees: SourceTrees | None) -> Iterator[tuple[str, str]]:
    """(path, "") for every regular file, (path, reason) for what is none."""
    try:
        state = os.stat(top)
    except OSError as error:
        yield top, _reason(error)
        return
    kernel = _kernel_devices()
    if state.st_dev in kernel and (stat.S_ISDIR(state.st_mode) or stat.S_ISREG(state.st_mode)):
        yield top, OF_KERNEL
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
            elif _device(full) in kernel:
                dirs.remove(name)
                yield full, OF_KERNEL
        if trees is not None:
            dirs[:] = trees.enter(folder, dirs, files)
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


def _kernel_devices() -> frozenset[int | None]:
    """The file systems that hold no files but questions to the kernel; a copy of them, in a report, is read."""
    return frozenset(found for path in ("/proc", "/sys") if (found := _device(path)) is not None and found != _device("/"))


def _device(path: str) -> int | None:
    try:
        return os.lstat(path).st_dev
    except OSError:
        return None


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


def _file(name: str, state: os.stat_result, asked_for: bool, everything: bool) -> tuple[list[Source] | Was, list[Skipped]]:
    """One regular file: a log, which stands there as it is read, an archive of logs, or nothing readable."""
    if stat.S_ISFIFO(state.st_mode):
        return [Source(name, lambda: buffered(Unknown(PipeFile(name))), None, hints(name), once=True)], []
    found = was(state)
    if state.st_size == 0:
        return [Source(name, partial(LiveFile, name, found), 0, hints(name), dump=dumps.named(name))], []
    try:
        with open(name, "rb") as file:
            head = file.read(HEAD)
            if archive(head):
                from doctor.read import archives  # most logs stand in files of their own

                got, faults = archives.members(name, head, everything)
                return [source._replace(open=partial(unchanged, name, found, source.open)) for source in got], faults
            if not head.strip(b"\0"):
                head = _behind_nuls(file)
            if dump := dumps.kind(name, head):
                return [Source(name, partial(LiveFile, name, found), state.st_size, hints(name), dump=dump)], []
            how = written(head, lambda: file.read(LOOKED_AT))
    except OSError as error:
        return [], [Skipped(name, _reason(error))]
    if why := not_text(head) or ("" if asked_for else _no_log(name, head, state.st_size)):
        if content.tells_starts(why, head):
            return [Source(name, lambda: open(name, "rb"), state.st_size, hints(name), dump=dumps.STARTED)], [Skipped(name, content.STARTS)]
        added = state.st_size <= content.LONGEST_BESIDE and content.may_add(why, head)
        return [Source(name, lambda: open(name, "rb"), state.st_size, hints(name), dump=dumps.BESIDE)] if added else [], [Skipped(name, why)]
    if how:
        return [Source(name, lambda: plain(LiveFile(name, found), how), state.st_size, hints(name))], []
    return found, []


def _behind_nuls(file: BinaryIO) -> bytes:
    """The first bytes that are none: a log that was copied and emptied while it was written begins with a hole."""
    piece = _data(file)
    while piece and not piece.strip(b"\0"):
        piece = _data(file)
    return piece.lstrip(b"\0")[:HEAD] or b"\0"


def _data(file: BinaryIO) -> bytes:
    """The next bytes: a hole, which takes no room on the disk whatever its size, is passed over."""
    try:
        file.seek(os.lseek(file.fileno(), file.tell(), os.SEEK_DATA))
    except OSError as error:
        if error.errno == errno.ENXIO:  # nothing but a hole up to the end
            return b""
    return file.read(1 << 20)


def _no_log(name: str, head: bytes, size: int) -> str:
    """By name and beginning; a small text without a telling name is read as a whole when it begins like code."""
    if len(head) == size or size > WHOLE:
        return no_log(name, head, len(head) == size)
    why = no_log(name, head, True)
    if why != SOURCE_CODE:
        return why
    try:
        with open(name, "rb") as file:
            return no_log(name, file.read(WHOLE), True)
    except OSError:
        return ""


def standard_input(stream: BinaryIO) -> Source:
    """Standard input, read once."""
    try:
        number = stream.fileno()
    except OSError:  # a program gave something that is no file
        return Source(STDIN, lambda: stream, None, hints(""), once=True)
    return Source(STDIN, lambda: buffered(Unknown(PipeFile(number))), None, hints(""), once=True)


def given_text(text: str, name: str = "<text>") -> Source:
    """A text handed over by a program."""
    return given_bytes(text.encode("utf-8", "surrogateescape"), name)


def given_bytes(data: bytes, name: str) -> Source:
    """The same of bytes."""
    import io

    how = written(data[:LOOKED_AT], bytes)
    return Source(name, lambda: plain(io.BytesIO(data), how), len(data), hints(name))
