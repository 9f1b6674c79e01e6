"""Handing the terminal to an editor or pager, and taking it back."""

from __future__ import annotations

import os
import subprocess

from textual.app import SuspendNotSupported

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
