"""Which files are followed: those under the given paths, and every one that appears there later."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Container, Iterator, Sequence
from functools import partial
from typing import BinaryIO, cast

from doctor.base import limits
from doctor.read import discover
from doctor.read.source import Skipped, Source, hints
from doctor.scan.harvest import Harvest
from doctor.scan.scanner import Scanner
from doctor.watch.growing_log import Tail, together

MAX_FILES = 20_000
MAX_GONE = 1000  # files that are gone, by which one that comes back under another name is known again
Identity = tuple[int, int]


class Follower:
    """Files by their identity, so that a renamed log is not read twice and a new one of the same name is read.

    `piped`: files into which something is being written, each with the source it is to be told as.
    Archives are read once, when they are there at the beginning: one that appears later is a log that was read already.
    """

    def __init__(self, paths: Sequence[str], new_only: bool = False, piped: Sequence[tuple[str, Source]] = ()) -> None:
        self.paths = tuple(paths)
        self.skipped: list[Skipped] = []
        self.appeared: list[str] = []  # names of files that came since the last look
        self.restarted: list[str] = []
        self._new_only = new_only
        self._tails: dict[Identity, Tail] = {}
        self._once: list[Harvest] = []
        self._unread: set[Identity] = set()
        self._first = True
        self._ours = _own_output()
        self._piped = [Tail(source, path) for path, source in piped]

    @property
    def tails(self) -> list[Tail]:
        return [*self._tails.values(), *self._piped]

    @property
    def sources(self) -> list[Source]:
        return [tail.source for tail in self.tails]

    @property
    def harvests(self) -> list[Harvest]:
        return [*self._once, *(harvest for tail in self.tails for harvest in tail.harvests)]

    def look(self, scanner: Scanner) -> bool:
        """Finds new files, reads what is new everywhere; whether anything was."""
        self.appeared, self.restarted = [], []
        changed = False
        present: dict[Identity, list[str]] = {}
        for path, identity in self._files():
            present.setdefault(identity, []).append(path)
        for identity, paths in present.items():
            tail = self._tails.get(identity)
            if tail is not None:
                if tail.path not in paths:
                    tail.rename(_plain(paths[0], paths[0]), paths[0])
                    changed = True
            elif identity not in self._unread:
                changed |= self._welcome(paths[0], identity, scanner)
        for tail in self.tails:
            restarts = tail.restarts
            changed |= tail.look(scanner)
            if tail.restarts != restarts:
                self.restarted.append(tail.source.name)
        self._forget(present)
        self._first = False
        return changed

    def _forget(self, present: Container[Identity]) -> None:
        """Logs rotate for weeks: of those that went first, what was found is kept, and they are not looked for any more."""
        gone = [identity for identity in self._tails if identity not in present]
        if len(gone) > MAX_GONE:
            self._once = [together([*self._once, *(h for one in gone[: MAX_GONE // 2] for h in self._tails.pop(one).harvests)])]

    def _welcome(self, path: str, identity: Identity, scanner: Scanner) -> bool:
        found = discover.discover([path])
        self.skipped += found.skipped
        plain = [s for s in found.sources if s.seekable or s.size == 0]
        if not plain:
            self._unread.add(identity)
            if self._first and not self._new_only:
                self._once += [scanner.scan(source) for source in found.sources]
                return bool(found.sources)
            return False
        begin = plain[0].size or 0 if self._first and self._new_only else 0
        self._tails[identity] = Tail(_plain(path, path), path, begin, identity)
        self.appeared.append(path)
        return False

    def _files(self) -> Iterator[tuple[str, Identity]]:
        count, most = 0, limits.limit(limits.FILES, MAX_FILES)
        for top in self.paths:
            for path in _under(top):
                try:
                    state = os.lstat(path) if path != top else os.stat(path)
                except OSError:
                    continue
                if stat.S_ISREG(state.st_mode) and (state.st_dev, state.st_ino) not in self._ours:
                    count += 1
                    if count > most:
                        self._tell_full(top, most)
                        return
                    yield path, (state.st_dev, state.st_ino)


    def _tell_full(self, top: str, most: int) -> None:
        """Once, not at every look."""
        told = Skipped(top, f"more than {most} files: the rest is not followed ({limits.FILES} moves that)")
        if told not in self.skipped:
            self.skipped.append(told)


def _under(top: str) -> Iterator[str]:
    if not os.path.isdir(top):
        yield top
        return
    for folder, dirs, files in os.walk(top):
        dirs.sort()
        for name in sorted(files):
            yield os.path.join(folder, name)


def _plain(path: str, name: str) -> Source:
    return Source(name, partial(_opened, path), None, hints(name), seekable=True)


def _opened(path: str) -> BinaryIO:
    """A file that is still one: what took its place, under its very number, may be a pipe, for which nobody waits."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise FileNotFoundError(errno.ENOENT, "it is no file any more", path)
    return cast(BinaryIO, open(handle, "rb", buffering=0))


def _own_output() -> frozenset[Identity]:
    """The files that this program itself writes into: what it says about a log must not become a log."""
    found = set()
    for handle in (1, 2):
        try:
            state = os.fstat(handle)
        except OSError:
            continue
        if stat.S_ISREG(state.st_mode):
            found.add((state.st_dev, state.st_ino))
    return frozenset(found)
