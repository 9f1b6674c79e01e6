"""The files of a machine: of this one, of a folder that holds the tree of one, of an archive. Read within bounds, never written."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from pathlib import PurePosixPath

from doctor.read.source import Skipped

MAX_TEXT = 256 << 10  # bytes of a file that is read: version files have a few hundred
MAX_LINKS = 40
MAX_NAMES = 20_000  # of one folder

_OF_PROCESS = re.compile(r"/proc/(?:\d+|self)/root/?")
FILE, FOLDER, LINK, NODE, NOTHING = "file", "folder", "link", "node", ""


class Tree:
    """Paths of the machine, as it calls them. Links are followed inside of the tree, and never out of it."""

    live = False
    name = "/"

    def __init__(self) -> None:
        self._notes: dict[str, str] = {}
        self._texts: dict[str, str | None] = {}

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What stood there and could not be read."""
        return tuple(Skipped(path, why) for path, why in sorted(self._notes.items()))

    def note(self, path: str, why: str) -> None:
        self._notes.setdefault(path, why)

    def _kind(self, path: str) -> str:
        raise NotImplementedError

    def _target(self, path: str) -> str:
        raise NotImplementedError

    def _read(self, path: str) -> bytes:
        raise NotImplementedError

    def _names(self, path: str) -> list[str]:
        raise NotImplementedError

    def resolve(self, path: str) -> str:
        """Where a path leads; empty when it leads nowhere or in a circle."""
        waiting = [part for part in path.split("/") if part not in ("", ".")][::-1]
        done: list[str] = []
        links = 0
        while waiting:
            part = waiting.pop()
            if part == "..":
                done = done[:-1]
                continue
            here = "/" + "/".join((*done, part))
            kind = self._kind(here)
            if kind == NOTHING:
                return ""
            if kind != LINK:
                done.append(part)
                continue
            links += 1
            if links > MAX_LINKS:
                return ""
            target = self._target(here)
            if target.startswith("/"):
                done = []
            waiting += [p for p in target.split("/") if p not in ("", ".")][::-1]
        return "/" + "/".join(done)

    def kind(self, path: str) -> str:
        """What is there, links followed."""
        real = self.resolve(path)
        return self._kind(real) if real else NOTHING

    def is_link(self, path: str) -> bool:
        """Is the last part of a path a link, wherever it leads?"""
        folder = self.resolve(str(PurePosixPath(path).parent))
        return bool(folder) and self._kind(f"{folder.rstrip('/')}/{PurePosixPath(path).name}") == LINK

    def target(self, path: str) -> str:
        """Where a link points, as it is written."""
        folder = self.resolve(str(PurePosixPath(path).parent))
        return self._target(f"{folder.rstrip('/')}/{PurePosixPath(path).name}")

    def names(self, path: str) -> tuple[str, ...]:
        """The names in a folder, sorted; none when it is not there or cannot be read."""
        real = self.resolve(path)
        if not real or self._kind(real) != FOLDER:
            return ()
        try:
            return tuple(sorted(self._names(real)[:MAX_NAMES]))
        except OSError as error:
            self.note(path, f"cannot be listed: {error.strerror or error}")
            return ()

    def text(self, path: str) -> str | None:
        """A small text file; None when there is none, or none that can be read, which is noted."""
        if path not in self._texts:
            self._texts[path] = self._text(path)
        return self._texts[path]

    def _text(self, path: str) -> str | None:
        real = self.resolve(path)
        if not real:
            if self.is_link(path):
                self.note(path, f"a link that leads nowhere: {self.target(path)}")
            return None
        if self._kind(real) != FILE:
            return None
        try:
            data = self._read(real)
        except OSError as error:
            self.note(path, f"cannot be read: {error.strerror or error}")
            return None
        if len(data) > MAX_TEXT:
            self.note(path, f"larger than {MAX_TEXT >> 10} KiB: no such file is")
            return None
        if b"\0" in data and not real.endswith("/environ"):
            self.note(path, "binary data where a text should stand")
            return None
        return data.decode("utf-8", "replace")


class Folder(Tree):
    """A folder as a machine's tree; `/` is this machine."""

    def __init__(self, root: str) -> None:
        super().__init__()
        self.name = root
        # The root of a process in a container is another tree, although its link says "/".
        real = root.rstrip("/") if _OF_PROCESS.fullmatch(root) else os.path.realpath(root)
        self.live = real == "/"
        self._root = "" if self.live else real

    def _place(self, path: str) -> str:
        return self._root + path if self._root else path

    def _kind(self, path: str) -> str:
        try:
            mode = os.lstat(self._place(path)).st_mode
        except (OSError, ValueError):
            return NOTHING
        if stat.S_ISLNK(mode):
            return LINK
        return FILE if stat.S_ISREG(mode) else FOLDER if stat.S_ISDIR(mode) else NODE

    def _target(self, path: str) -> str:
        try:
            return os.readlink(self._place(path))
        except OSError:
            return ""

    def _read(self, path: str) -> bytes:
        handle = os.open(self._place(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            return file.read(MAX_TEXT + 1)

    def _names(self, path: str) -> list[str]:
        return os.listdir(self._place(path))


class Members(Tree):
    """A tree that was read from an archive: the texts that matter, and the names of everything else."""

    def __init__(self, name: str, texts: Mapping[str, bytes], kinds: Mapping[str, str], links: Mapping[str, str]) -> None:
        super().__init__()
        self.name = name
        self._data, self._links = texts, links
        self._kinds: dict[str, str] = {"/": FOLDER}
        self._children: dict[str, list[str]] = {}
        for path, kind in kinds.items():
            self._add(path, kind)

    def _add(self, path: str, kind: str) -> None:
        while path not in ("", "/"):
            known = path in self._kinds
            if not known or kind != FOLDER:
                self._kinds[path] = kind
            if known:
                return
            parent, _, name = path.rpartition("/")
            self._children.setdefault(parent or "/", []).append(name)
            path, kind = parent, FOLDER

    def _kind(self, path: str) -> str:
        return self._kinds.get(path, NOTHING)

    def _target(self, path: str) -> str:
        return self._links.get(path, "")

    def _read(self, path: str) -> bytes:
        data = self._data.get(path)
        if data is None:
            raise OSError(0, "its text was not taken from the archive")
        return data

    def _names(self, path: str) -> list[str]:
        return list(self._children.get(path, ()))
