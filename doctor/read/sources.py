"""Sources in little room: trees have hundreds of thousands of files, and most of them tell nothing."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import overload

from doctor.read.livefile import LiveFile, Was
from doctor.read.source import Source, hints


class Sources(Sequence[Source]):
    """Of a log that is a plain file, only what opens it again is kept: the Source is made when it is asked for."""

    def __init__(self, others: Iterable[Source] = ()) -> None:
        self._folders: list[str] = []
        self._names: list[str] = []
        self._folder_of, self._devices, self._inodes, self._sizes = array("L"), array("Q"), array("Q"), array("q")
        self._others: dict[int, Source] = {}
        self.extend(others)

    def add_log(self, path: str, found: Was) -> None:
        """A plain file, which is read as it stands."""
        folder, slash, name = path.rpartition("/")
        self._row(folder + slash, name, found)

    def extend(self, sources: Iterable[Source]) -> None:
        """Members of archives, files in other encodings, dumps, pipes: kept as they are."""
        for source in sources:
            self._others[len(self)] = source
            self._row("", "", Was(0, 0, 0))

    def _row(self, folder: str, name: str, found: Was) -> None:
        if not self._folders or self._folders[-1] != folder:
            self._folders.append(folder)
        self._folder_of.append(len(self._folders) - 1)
        self._names.append(name)
        self._devices.append(found.device)
        self._inodes.append(found.inode)
        self._sizes.append(found.size)

    def __len__(self) -> int:
        return len(self._names)

    @overload
    def __getitem__(self, number: int) -> Source: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[Source, ...]: ...
    def __getitem__(self, number: int | slice) -> Source | tuple[Source, ...]:
        if isinstance(number, slice):
            return tuple(self[n] for n in range(*number.indices(len(self))))
        if number < 0:
            number += len(self)
        if (other := self._others.get(number)) is not None:
            return other
        path = self._folders[self._folder_of[number]] + self._names[number]
        size = self._sizes[number]
        found = Was(self._devices[number], self._inodes[number], size)
        return Source(path, partial(LiveFile, path, found), size, hints(path), seekable=True)

    def __iter__(self) -> Iterator[Source]:
        return map(self.__getitem__, range(len(self)))
