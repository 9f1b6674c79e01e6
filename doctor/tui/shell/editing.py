"""Handing the terminal to an editor, a pager or a command of the shell, and taking it back."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterable

from textual.app import SuspendNotSupported

from doctor.base.words import word
from doctor.read.source import Source
from doctor.tui.shell import editor_command
from doctor.tui.shell.host import Host
from doctor.tui.shell.line import shown


def open_in_editor(app: Host, source: Source | None, line: int) -> None:
    """Opens a source's file at a line; tells why when that cannot be."""
    if source is None or not source.seekable or not os.path.isfile(source.name):
        app.tell("no-file", severity="warning")
        return
    argv = editor_command.command(source.name, line)
    try:
        with app.suspend():
            subprocess.run(argv, check=False)  # noqa: S603 - the reader's own editor, without a shell
    except SuspendNotSupported:
        app.tell("no-suspend", severity="warning", place=shown(f"{source.name}:{line}"))
    except OSError as error:
        app.tell("editor-failed", severity="error", name=shown(argv[0]), why=error.strerror or str(error))
    app.refresh()


def pipe_to_shell(app: Host, command: str, pieces: Iterable[bytes], place: str) -> None:
    """Gives the bytes to a command as its standard input; what it printed stays in sight until Enter."""
    try:
        with app.suspend():
            code = _piped(command, pieces)
            sys.stdout.write(f"\n{word('pipe-over', app.language, code=code)}")
            sys.stdout.flush()
            with contextlib.suppress(OSError), open("/dev/tty", encoding="utf-8", errors="replace") as keys:
                keys.readline()
    except SuspendNotSupported:
        app.tell("no-suspend", severity="warning", place=shown(place))
    app.refresh()


def _piped(command: str, pieces: Iterable[bytes]) -> int:
    """Runs it; Ctrl-C ends the command alone, and one that has read enough is no fault."""
    before = signal.signal(signal.SIGINT, lambda *_: None)  # not ignored: the command would inherit that
    try:
        with subprocess.Popen(["/bin/sh", "-c", command], stdin=subprocess.PIPE) as child:  # noqa: S603 - what the reader typed
            if child.stdin is not None:
                with contextlib.suppress(BrokenPipeError):
                    for piece in pieces:
                        child.stdin.write(piece)
                with contextlib.suppress(BrokenPipeError):
                    child.stdin.close()
            return child.wait()
    finally:
        signal.signal(signal.SIGINT, before)
