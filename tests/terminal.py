"""The real program in a terminal of its own: a pty as wide and high as asked, and what stands on the screen when it has ended."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests_support import HANG_S

from tests import starts

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = (sys.executable, "-m", "doctor")  # of this checkout
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\]8;[^\x1b]*\x1b\\)")


class Screen(NamedTuple):
    """What a call drew: everything in its order, and its exit code."""

    raw: str
    code: int

    @property
    def text(self) -> str:
        """Without colours and links; a line that was drawn over is as it was last."""
        rows = _ESCAPES.sub("", self.raw.replace("\x1b[K", "")).replace("\r\n", "\n").split("\n")
        return "\n".join(row.split("\r")[-1] for row in rows)

    @property
    def rows(self) -> list[str]:
        return self.text.rstrip("\n").split("\n")


def terminal(*args: str, size: tuple[int, int] = (80, 24), keys: bytes = b"", piped: bytes | None = None, cwd: Path = ROOT, program: Sequence[str] = PROGRAM, **env: str) -> Screen:
    """`npu-doctor ARGS` with all streams on a terminal; `piped`: what standard input brings instead; `keys`: what is typed; `program`: one that is installed."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    full = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR", "PAGER", "TMUX", "CI")}
    full |= {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "NO_PAGER": "1", **({"PYTHONPATH": str(ROOT)} if program is PROGRAM else {}), **env}
    full = {k: v for k, v in full.items() if v != "-"}
    stdin, typed = os.pipe() if piped is not None else (os.dup(theirs), -1)
    child = _started(program, args, (stdin, theirs, theirs), cwd, full)
    for end in (stdin, theirs):
        os.close(end)
    if piped is not None:
        with open(typed, "wb") as stream:
            stream.write(piped)
    if keys:
        os.write(ours, keys)
    raw = _all(ours, child)
    code = child.wait()
    os.close(ours)
    return Screen(raw.decode("utf-8", "replace"), code)


def _started(program: Sequence[str], args: Sequence[str], ends: tuple[int, int, int], cwd: Path, environment: dict[str, str]) -> starts.OnTerminal | subprocess.Popen[bytes]:
    """A copy, where it would be the same; whose program this checkout's is, its folder tells."""
    alone = {name: value for name, value in environment.items() if name != "PYTHONPATH"}
    if program is PROGRAM and starts.fits_on_terminal(cwd, alone):
        return starts.OnTerminal(args, ends, cwd, alone)
    stdin, stdout, stderr = ends
    return subprocess.Popen([*program, *args], stdin=stdin, stdout=stdout, stderr=stderr, cwd=cwd, env=environment, start_new_session=True)


def _all(handle: int, child: starts.OnTerminal | subprocess.Popen[bytes]) -> bytes:
    """What the terminal shows until the program has gone."""
    made, end = b"", time.monotonic() + HANG_S
    while time.monotonic() < end:
        if select.select([handle], [], [], 0.1)[0]:
            try:
                piece = os.read(handle, 65536)
            except OSError:  # nobody holds the other end any more
                return made
            if not piece:
                return made
            made += piece
        elif child.poll() is not None:
            return made
    raise AssertionError(f"the program never ended; so far:\n{made.decode('utf-8', 'replace')}")
