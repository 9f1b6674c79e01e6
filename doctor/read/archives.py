"""Logs inside .gz, .bz2, .xz, .zst, .tar, .tar.gz and the like, .tgz and .zip, streamed: never unpacked to disk, bounded in depth, number and size.

What a file or a member is, its first bytes tell, not its name. An archive in an archive is read like a folder in a
folder, as far down as MAX_DEPTH; a zip can only be read from a file of its own, because its table stands at its end.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

from doctor.base import limits
from doctor.read import dumps, zips
from doctor.read.content import ENDINGS, HEAD, LONGEST_BESIDE, STARTS, archive, may_add, no_log, not_text, tells_starts
from doctor.read.inflate import ArchiveError, Inflated, Meter, Slice, beginning, buffered
from doctor.read.machines import MissingError
from doctor.read.plain import plain, written
from doctor.read.source import Skipped, Source, hints
from doctor.read.tar import Content, Member, Tar

MAX_MEMBERS = 50_000  # of one archive, with those of the archives in it
MAX_DEPTH = 3  # a .gz in a .tar.gz in a .zip; deeper ones are named
USUAL_RATIO = 6  # how many times a log grows when it is unpacked
Opener = Callable[[], tuple[BinaryIO, Meter]]


def members(name: str, head: bytes, everything: bool = False) -> tuple[list[Source], list[Skipped]]:
    """The logs in an archive, in the archive's order; `everything`: what looks like no log as well."""
    found = _Found(everything)
    kind = archive(head)
    try:
        if kind == "zip":
            _zip(name, found)
        elif kind == "tar":
            _flat_tar(name, found)
        else:
            _inside(name, kind, lambda: _whole(name), found, 1, os.path.getsize(name))
    except OSError as error:
        found.skipped.append(Skipped(name, f"cannot be read: {error.strerror or error}"))
    if not found.sources and not found.skipped:
        found.skipped.append(Skipped(name, "an archive without any file in it"))
    return found.sources, found.skipped


class _Found:
    def __init__(self, everything: bool) -> None:
        self.sources: list[Source] = []
        self.skipped: list[Skipped] = []
        self.seen = 0
        self._everything = everything

    def refuses(self, shown: str, head: bytes, whole: bool) -> bool:
        """Is that no log? Then it is named."""
        why = not_text(head) if self._everything else no_log(shown, head, whole)
        if why:
            self.skipped.append(Skipped(shown, STARTS if tells_starts(why, head) else why))
        return bool(why)

    def beside(self, head: bytes, size: int | None) -> str:
        """As what a file that was refused last is read all the same: a script that starts something, settings, or nothing."""
        why = self.skipped[-1].reason
        return dumps.STARTED if why == STARTS else dumps.BESIDE if may_add(why, head) and size is not None and size <= LONGEST_BESIDE else ""

    def full(self, name: str) -> bool:
        """Counts one more member; says so when there are too many."""
        self.seen += 1
        most = limits.limit(limits.MEMBERS, MAX_MEMBERS)
        if self.seen == most + 1:
            why = f"more than {most} members: the rest was not read ({limits.MEMBERS} moves that)"
            self.skipped.append(Skipped(name, why))
        return self.seen > most


def _whole(name: str) -> tuple[BinaryIO, Meter]:
    """A file as the stream that others are in; what is taken from it is counted."""
    meter = Meter()
    file = open(name, "rb", buffering=0)
    return buffered(Slice(cast(BinaryIO, file), 0, os.fstat(file.fileno()).st_size, meter)), meter


def _inflated(opener: Opener, kind: str) -> tuple[BinaryIO, Meter]:
    stream, meter = opener()
    return buffered(Inflated(stream, meter, kind)), meter


def _member(
    shown: str, size: int | None, opener: Opener, head: bytes, found: _Found, depth: int, chained: bool
) -> None:
    """A file in an archive: a log, an archive again, or something that is named."""
    kind = archive(head)
    if kind == "zip":
        found.skipped.append(Skipped(shown, "a zip inside an archive: unpack the outer one first"))
    elif kind:
        if depth > (most := limits.limit(limits.DEPTH, MAX_DEPTH)):
            why = f"archives nested deeper than {most}: not looked into ({limits.DEPTH} moves that)"
            found.skipped.append(Skipped(shown, why))
        elif kind == "tar":
            _tar(shown, opener, found, depth)
        else:
            _inside(shown, kind, opener, found, depth, size)
    elif dump := dumps.kind(shown, head):
        found.sources.append(Source(shown, lambda: opener()[0], size, hints(shown), chained=chained, dump=dump))
    elif not found.refuses(shown, head, len(head) == size):
        found.sources.append(_source(shown, opener, size, head, chained))
    elif dump := found.beside(head, size):
        found.sources.append(Source(shown, lambda: opener()[0], size, hints(shown), chained=chained, dump=dump))


def _source(name: str, opener: Opener, size: int | None, head: bytes, chained: bool = False) -> Source:
    how = written(head, bytes)
    return Source(name, lambda: plain(opener()[0], how), size, hints(name), chained=chained)


def _inside(name: str, packed: str, opener: Opener, found: _Found, depth: int, size: int | None) -> None:
    """What a compressed stream of some bytes holds: a tar, a log, or a compressed stream again."""
    shown = name.removesuffix(ENDINGS[packed])

    def inner() -> tuple[BinaryIO, Meter]:
        return _inflated(opener, packed)

    try:
        with inner()[0] as stream:
            head = beginning(stream, HEAD)
    except MissingError as error:
        found.skipped.append(Skipped(name, str(error)))
        return
    except OSError as error:
        found.skipped.append(Skipped(name, f"damaged {packed} data: {error}"))
        return
    kind = archive(head)
    if kind == "tar":
        _tar(name, inner, found, depth)
    elif kind:
        _member(f"{name}!{shown.rpartition('/')[2]}", None, inner, head, found, depth + 1, False)
    elif dump := dumps.kind(shown, head):
        found.sources.append(Source(name, lambda: inner()[0], None, hints(shown), dump=dump))
    elif not found.refuses(shown, head, False):
        found.sources.append(_source(name, inner, None, head)._replace(hints=hints(shown), likely=USUAL_RATIO * (size or 0)))


# --- tar


def _flat_tar(name: str, found: _Found) -> None:
    """A tar that is a file: every member can be opened where it stands."""

    def opener(at: int, size: int) -> Opener:
        def opened() -> tuple[BinaryIO, Meter]:
            meter = Meter()
            return buffered(Slice(cast(BinaryIO, open(name, "rb", buffering=0)), at, size, meter)), meter

        return opened

    with open(name, "rb") as file:
        tar = Tar(file, seekable=True)
        try:
            for _, shown, member in _files(tar, name, found):
                _member(shown, member.size, opener(member.at, member.size), tar.read(HEAD), found, 1, False)
        except OSError as error:
            found.skipped.append(Skipped(name, f"damaged archive, read up to there: {error}"))


def _files(tar: Tar, name: str, found: _Found) -> Iterator[tuple[int, str, Member]]:
    """The members that can be read, with their numbers and what they are called; what cannot is named as skipped."""
    number = -1
    while (member := tar.next()) is not None:
        number += 1
        if member.folder:
            continue
        if found.full(name):
            return
        shown = f"{name}!{member.name}"
        if member.unread:
            found.skipped.append(Skipped(shown, member.unread))
            continue
        yield number, shown, member


def _tar(name: str, opener: Opener, found: _Found, depth: int) -> None:
    """A tar in a stream: its members are opened by walking on from where the last one was read."""
    walk = None
    try:
        walk = _Walk(name, opener)
        for number, shown, member in _files(walk.tar, name, found):
            head = walk.tar.read(HEAD)
            _member(shown, member.size, _later(name, opener, number), head, found, depth + 1, True)
    except OSError as error:
        found.skipped.append(Skipped(name, f"damaged archive, read up to there: {error}"))
    finally:
        if walk is not None:
            walk.tar.close()


class _Walk:
    """A tar that is being read member by member."""

    def __init__(self, name: str, opener: Opener) -> None:
        self.name, self.pid = name, os.getpid()
        stream, self.meter = opener()
        self.tar = Tar(stream, seekable=False)
        self.number = -1  # of the member that was reached
        self.busy = False

    def release(self) -> None:
        self.busy = False


_WALKS: list[_Walk] = []  # those that can go on; the latest last
_MAX_WALKS = 4
_LOCK = threading.Lock()


def _later(name: str, opener: Opener, number: int) -> Opener:
    """Opens a member by its number. Members that are opened in their order cost one pass over the archive, not one each."""

    def opened() -> tuple[BinaryIO, Meter]:
        with _LOCK:
            walk = _idle(name, number)
        if walk is None:
            walk = _Walk(name, opener)
            walk.busy = True
        try:
            while walk.number < number:
                if walk.tar.next() is None:
                    raise ArchiveError("the member is gone")
                walk.number += 1
        except OSError:
            walk.tar.close()
            raise
        with _LOCK:
            _WALKS.append(walk)
            while len(_WALKS) > _MAX_WALKS:
                _forget(_WALKS.pop(0))
        return buffered(Content(walk.tar, walk.release)), walk.meter

    return opened


def _idle(name: str, number: int) -> _Walk | None:
    """The walk over an archive that has not passed a member yet, if nobody else reads from it."""
    inside = f"{name}!"
    for walk in [w for w in _WALKS if w.pid != os.getpid() or (not w.busy and w.name.startswith(inside))]:
        _WALKS.remove(walk)  # a parent's, or one that keeps a member of this archive open
        _forget(walk)
    for walk in _WALKS:
        if walk.name == name and not walk.busy:
            _WALKS.remove(walk)
            if walk.number < number:
                walk.busy = True
                return walk
            _forget(walk)
            return None
    return None


def _forget(walk: _Walk) -> None:
    if not walk.busy and walk.pid == os.getpid():
        walk.tar.close()


# --- zip


def _zip(name: str, found: _Found) -> None:
    for one in zips.entries(name):
        if found.full(name):
            return
        if isinstance(one, Skipped):
            found.skipped.append(one)
            continue
        try:
            with one.opener()[0] as stream:
                head = beginning(stream, HEAD)
        except OSError as error:
            found.skipped.append(Skipped(one.shown, f"damaged: {error}"))
            continue
        _member(one.shown, one.size, one.opener, head, found, 1, False)
