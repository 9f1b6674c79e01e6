"""How the program was called, so that what it proposes next can be pasted."""

from __future__ import annotations

import shlex
from typing import NamedTuple


class Call(NamedTuple):
    """What was read, as the user wrote it; nothing when it came through a pipe or from several nodes."""

    paths: tuple[str, ...] = ()

    def with_paths(self, command: str, *options: str) -> str:
        """`npu-doctor COMMAND PATH... OPTIONS`; empty without a path."""
        return shlex.join(["npu-doctor", command, *self.paths, *options]) if self.paths else ""


PIPED = Call()
