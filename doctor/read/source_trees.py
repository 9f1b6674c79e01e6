"""Checkouts and installed packages among the logs: what stands in them was written by people, or belongs to tests.

Of such a tree, what is named like a log is read, and text that a program printed; the rest is told in one line for each tree.
"""

from __future__ import annotations

import os

from doctor.read.content import HEAD, printed
from doctor.read.source import Skipped
from parsers.lazy import lazy

# Folders that hold no log of anybody's, wherever they stand.
_NEVER = frozenset((".git", ".hg", ".svn", "node_modules", "__pycache__", "site-packages", "dist-packages", ".venv", ".tox", ".mypy_cache"))
# What stands at the top of a checkout.
_SIGNS = frozenset((".git", ".hg", ".svn"))
_PARTS = frozenset(("pyproject.toml", "setup.py", "setup.cfg", "CMakeLists.txt", "configure.ac", "go.mod", "Cargo.toml", "package.json", "pom.xml", "build.gradle", "PKG-INFO"))
_CODE = lazy(r"\.(?:py|c|cc|cpp|h|hpp|go|rs|java|js|ts)$")
# Folders of a checkout whose logs are made up, or somebody else's.
_MADE_UP = lazy(r"(?:^|/)(?:tests?|testdata|fixtures|examples?|docs?|third_party|vendor)/")
_LOG_NAME = lazy(r"(?:\.(?:log|out|err|stdout|stderr)(?:\.\w{1,10}){0,2}|(?:^|/)(?:plog|device)-\d+_\d+[^/]*|(?:^|/)nohup[^/]*)$")
_TEXT_NAME = lazy(r"(?:\.txt|(?:^|/)[^./]+)$")


class SourceTrees:
    """The source trees beneath one path, as a walk from above comes by them."""

    def __init__(self, top: str) -> None:
        self._top = top
        self._tree = ""  # the one in which the walk is; a walk comes through a tree in one go
        self._counts: dict[str, int] = {}
        self._unread: list[Skipped] = []

    def enter(self, folder: str, dirs: list[str], files: list[str]) -> list[str]:
        """The folders that are walked into; notes whether this one is the top of a tree."""
        if not (self._tree and _beneath(folder, self._tree)):
            self._tree = folder if _is_tree(dirs, files) else ""
        never = _NEVER if os.path.basename(folder) != ".cache" else {*_NEVER, "npu-doctor"}  # where this program keeps things
        self._unread += (Skipped(os.path.join(folder, name), "a folder of code or of a tool, no logs (--all-files reads it)") for name in dirs if name in never)
        return [name for name in dirs if name not in never]

    def is_part(self, path: str) -> bool:
        """Is that a file of a tree, and no log that came to lie in it?"""
        if not self._tree or not _beneath(path, self._tree):
            return False
        inside = path[len(self._tree) :].lstrip("/")
        if not _MADE_UP.search(inside) and (_LOG_NAME.search(inside) or (_TEXT_NAME.search(inside) and _printed(path))):
            return False
        self._counts[self._tree] = self._counts.get(self._tree, 0) + 1
        return True

    def left_out(self) -> list[Skipped]:
        """What was not read, in one row for each tree."""
        rows = [Skipped(tree, f"{count} files of a source tree, no logs (name them, or --all-files, to have them read)") for tree, count in self._counts.items()]
        return [*self._unread, *rows]


def _is_tree(dirs: list[str], files: list[str]) -> bool:
    if not _SIGNS.isdisjoint(dirs) or ".git" in files:
        return True
    return not _PARTS.isdisjoint(files) and (len(_PARTS.intersection(files)) > 1 or any(map(_CODE.search, files)) or bool(dirs))


def _beneath(path: str, tree: str) -> bool:
    return path == tree or path.startswith(tree.rstrip("/") + "/")


def _printed(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return printed(file.read(HEAD))
    except OSError:
        return True  # told by whoever reads it
