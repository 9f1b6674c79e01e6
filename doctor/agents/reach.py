"""Which files a caller may have read: those under the folders that were named at the start, wherever a path leads."""

from __future__ import annotations

import os
from collections.abc import Iterable

LONGEST_PATH = 4096


class RefusedError(Exception):
    """A call that is not carried out: what is wrong with it, and what to do instead."""

    def __init__(self, what: str, help_: str = "") -> None:
        super().__init__(f"{what}\n = help: {help_}" if help_ else what)


class Reach:
    """Folders, as they are behind all links."""

    def __init__(self, folders: Iterable[str]) -> None:
        self.folders = tuple(dict.fromkeys(os.path.realpath(folder) for folder in folders))

    def inside(self, path: str) -> str:
        """The real path of what is meant; relative ones begin at the folders. Whether something is there is not told of other places."""
        if "\0" in path or len(path) > LONGEST_PATH or not path.strip():
            raise RefusedError("this is no path", f"give a path under {self.told()}")
        candidates = [path] if os.path.isabs(path) else [os.path.join(folder, path) for folder in self.folders]
        within = [real for real in map(os.path.realpath, candidates) if self.holds(real)]
        if not within:
            raise RefusedError("this path leads out of the folders that may be read", f"give a path under {self.told()}")
        found = next((real for real in within if os.path.exists(real)), None)
        if found is None:
            raise RefusedError(f"there is no file or folder '{path[:200]}'", f"give a path under {self.told()}")
        return found

    def holds(self, real: str) -> bool:
        """Is it one of the folders, or in one?"""
        return any(real == folder or real.startswith(folder.rstrip("/") + "/") for folder in self.folders)

    def told(self) -> str:
        return ", ".join(self.folders)
