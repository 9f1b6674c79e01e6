"""Asking for a path and opening the diagnosis of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from doctor.commands.browse import nearest_path
from doctor.read import discover
from doctor.tui.shell.dialogs import ask
from doctor.tui.shell.line import shown
from doctor.tui.shell.words import word

if TYPE_CHECKING:
    from doctor.tui.app import DoctorApp


def ask_path(app: DoctorApp) -> None:
    """Asks which logs to diagnose; an empty answer means the usual places."""
    ask(
        app,
        word("open-title", app.language),
        "",
        lambda path: open_path(app, path),
        word("demo-hint", app.language),
        empty=True,
    )


def open_path(app: DoctorApp, path: str) -> None:
    from doctor.tui.diagnosis.report_screen import DiagnosisScreen

    paths = [str(Path(path).expanduser())] if path else discover.usual_places()
    if not paths:
        app.tell("no-usual", severity="warning")
        return
    if path and not Path(paths[0]).exists():
        if near := nearest_path(paths[0]):
            app.tell("open-near", severity="error", path=shown(paths[0]), near=shown(near))
        else:
            app.tell("open-missing", severity="error", path=shown(paths[0]))
        return
    app.session.paths = tuple(paths)
    app.push_screen(DiagnosisScreen())
