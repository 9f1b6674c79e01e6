"""What is longer than the terminal goes through the user's pager, opened at the top; what is not, straight to it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from doctor.base.output import inert
from doctor.render.layout import rows_of

BENEATH = 2  # rows: what was read, and the prompt


def show(text: str) -> None:
    """Writes to standard output, through a pager where that is a terminal which the text does not fit on."""
    text = inert(text)
    command = pager(os.environ) if too_long(text) else None
    if command is None:
        sys.stdout.write(text)
        return
    import subprocess

    env = {"LESS": "FRX", "LESSCHARSET": "utf-8", "LV": "-c", **os.environ}
    sys.stdout.flush()
    try:
        with subprocess.Popen(  # noqa: S603 - the reader's own pager, without a shell
            command, stdin=subprocess.PIPE, env=env, text=True, encoding="utf-8", errors="replace"
        ) as child:
            try:
                child.communicate(text)
            except KeyboardInterrupt:  # of the pager, which ends by its own keys
                child.wait()
    except OSError:
        sys.stdout.write(text)


def too_long(text: str) -> bool:
    """Would the headline scroll away? Only a terminal has a top."""
    if not sys.stdout.isatty() or not sys.stdin.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        return False
    try:
        size = os.get_terminal_size(sys.stdout.fileno())
        return rows_of(text, size.columns or 80) > size.lines - BENEATH
    except OSError:
        return False


def pager(env: Mapping[str, str]) -> list[str] | None:
    """NO_PAGER and an empty PAGER are none; else what PAGER names, else less."""
    if "NO_PAGER" in env or env.get("PAGER") == "" or env.get("PAGER") == "cat":
        return None
    import shlex
    import shutil

    command = shlex.split(env.get("NPU_DOCTOR_PAGER") or env.get("PAGER") or "less")
    return command if command and shutil.which(command[0]) else None
