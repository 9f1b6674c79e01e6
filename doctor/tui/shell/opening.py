"""Asking which logs to diagnose, and what is wrong with a path that was typed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from doctor.base.words import word
from doctor.read import discover
from doctor.tui.shell.dialogs import ask
from doctor.tui.shell.host import Host
from doctor.tui.shell.line import shown


def ask_paths(app: Host, chosen: Callable[[tuple[str, ...]], object]) -> None:
    """Asks for a path and hands it over when there are logs; an empty answer means the usual places."""

    def answered(path: str) -> None:
        if paths := _paths(app, path):
            chosen(paths)

    ask(app, word("open-title", app.language), "", answered, word("demo-hint", app.language), empty=True)


def _paths(app: Host, path: str) -> tuple[str, ...]:
    """What to read; when there is nothing, it is told why."""
    if not path:
        usual = discover.usual_places()
        if not usual:
            app.tell("no-usual", severity="warning")
        return tuple(usual)
    typed = str(Path(path).expanduser())
    if Path(typed).exists():
        return (typed,)
    if near := discover.nearest_path(typed):
        app.tell("open-near", severity="error", path=shown(typed), near=shown(near))
    else:
        app.tell("open-missing", severity="error", path=shown(typed))
    return ()
