"""Files of knowledge that others wrote: regular ones, inside their folder, of bounded size and number. Nothing else is opened."""

from __future__ import annotations

import os
import stat
from _thread import get_ident
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

MAX_BYTES = 4_000_000  # of a file
MAX_FILES = 20_000  # of a folder
Made = TypeVar("Made")
_pins: dict[int, Mapping[str, str]] = {}  # of a thread that builds from files which somebody trusts as they were: path -> hash


class NotReadError(OSError):
    """A path that is no plain file of knowledge; `strerror` says why."""

    def __init__(self, why: str) -> None:
        super().__init__(None, why)


def pinned(pins: Mapping[str, str] | None, work: Callable[[], Made]) -> Made:
    """Does something that reads files, of which only those are read that have these hashes: whoever exchanges one after it was looked at gains nothing."""
    if pins is None:
        return work()
    _pins[get_ident()] = pins
    try:
        return work()
    finally:
        del _pins[get_ident()]


def digest(data: bytes) -> str:
    import hashlib  # most starts build nothing

    return hashlib.sha256(data).hexdigest()


def read(path: Path) -> bytes:
    """The bytes of a regular file: a pipe is not waited for, a device not read, and what is too large not taken into memory."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:  # without a file object: of thousands of files that takes longer than the reading
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise NotReadError("it is no regular file")
        data = b""
        while len(data) <= MAX_BYTES and (piece := os.read(handle, MAX_BYTES + 1 - len(data))):
            data = data + piece if data else piece
    finally:
        os.close(handle)
    if len(data) > MAX_BYTES:
        raise NotReadError(f"it has more than {MAX_BYTES} bytes; split it")
    pins = _pins.get(get_ident())
    if pins is not None and pins.get(str(path)) != digest(data):
        raise NotReadError("it has changed since it was trusted")
    return data


def yaml_names(folder: str | Path) -> list[str]:
    """The YAML files beneath a folder, in the order of paths; links to folders are not followed. Every start in a checkout asks for them: no `Path` is made."""
    found: list[str] = []
    for place, dirs, names in os.walk(folder):
        dirs.sort()
        found += (f"{place}{os.sep}{name}" for name in names if name.endswith((".yaml", ".yml")))
        if len(found) > MAX_FILES:
            break
    return sorted(found[:MAX_FILES], key=lambda name: name.split(os.sep))


def inside(path: str | Path, root: Path) -> bool:
    """Does a path lead to something in the folder?"""
    real, top = os.path.realpath(path), os.path.realpath(root)
    return real.startswith(top.rstrip(os.sep) + os.sep)


def refused(names: list[str], root: Path) -> Iterator[tuple[str, str]]:
    """What of those is not read, each with its reason."""
    for name in names:
        try:
            mode = os.lstat(name).st_mode
            if stat.S_ISLNK(mode):
                if not inside(name, root):
                    yield name, "a link that leads out of the folder: not followed"
                    continue
                mode = os.stat(name).st_mode
            if not stat.S_ISREG(mode):
                yield name, "not a regular file: not read"
        except OSError as error:
            yield name, error.strerror or str(error)
