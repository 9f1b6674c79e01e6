"""How the program was called, so that what it proposes next can be pasted."""

from __future__ import annotations

import shlex

from parsers.named import NamedTuple


class Call(NamedTuple):
    """What was read, as the user wrote it; nothing when it came through a pipe or from several nodes."""

    paths: tuple[str, ...] = ()
    machine: tuple[str, ...] | None = None  # the options that name a machine, where a machine was looked at

    def with_paths(self, command: str, *options: str) -> str:
        """`npu-doctor COMMAND PATH... OPTIONS`; empty without a path."""
        return shlex.join(["npu-doctor", command, *self.paths, *options]) if self.paths else ""

    def browse(self) -> str:
        """The same in the interface; empty where it cannot be named again."""
        if self.machine is not None:
            return shlex.join(["npu-doctor", "env", *self.machine, "--tui"])
        return self.with_paths("browse")


PIPED = Call()
