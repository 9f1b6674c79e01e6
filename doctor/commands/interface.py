"""Opening the terminal interface: where it can be drawn, on what, and with which first screen."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from doctor.base import exits, interrupts
from doctor.base.errors import UsageError
from doctor.commands import common
from doctor.read import discover
from doctor.scan.select import EVERYTHING, Select

if TYPE_CHECKING:
    from doctor.pace.verdict import Pace
    from doctor.scan.harvest import Harvest
    from doctor.tui.shell.frame import Frame
    from doctor.tui.shell.session import Session
    from kb.knowledge import Knowledge


def interface_options(made: common.Parser) -> None:
    """What the terminal can do: the same for every command that may open the interface."""
    made.add_argument("--mouse", action="store_true", help="use the mouse although this is an SSH session")
    made.add_argument(
        "--low-bandwidth", action="store_true", help="few bytes: the terminal's own colours, no animation"
    )
    common.redact_words_option(made)


def check_terminal(instead: list[str], environ: Mapping[str, str] = os.environ) -> None:
    """Refuses where no interface can be drawn, and names the command that gives the same as text."""
    import shlex

    command = shlex.join(["npu-doctor", *instead])
    if not sys.stdout.isatty():
        raise UsageError("standard output is no terminal: the interface needs one", f"as text: {command}")
    if environ.get("TERM", "") in ("", "dumb"):
        raise UsageError(
            f"this terminal (TERM={environ.get('TERM', '')}) cannot draw the interface", f"as text: {command}"
        )
    if not sys.stderr.isatty():
        raise UsageError("standard error is no terminal: the interface is drawn there", f"as text: {command}")
    if not sys.stdin.isatty():
        try:
            os.close(os.open("/dev/tty", os.O_RDWR))
        except OSError as error:
            raise UsageError(
                f"no terminal to take keys from (/dev/tty: {error.strerror})", f"as text: {command}"
            ) from error


def check_paths(paths: tuple[str, ...]) -> None:
    """A path that is not there is a slip of the keyboard: told before the screen is taken, with the nearest name."""
    for path in paths:
        if path == "-" or os.path.lexists(path):
            continue
        near = discover.nearest_path(path)
        help_ = f"did you mean '{near}'?" if near else "npu-doctor browse without a path shows the knowledge"
        raise UsageError(f"there is no file or folder '{path}'", help_)


def mouse_wanted(args: argparse.Namespace, environ: Mapping[str, str] = os.environ) -> bool:
    """Over SSH the terminal keeps its mouse, because selecting text is what people do with it there."""
    if getattr(args, "no_mouse", False):
        return False
    return bool(getattr(args, "mouse", False)) or not (environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"))


def open_logs(args: argparse.Namespace, select: Select) -> int:
    """`scan --tui`: the interface on what scan would read."""
    check_terminal(["scan", *args.paths])
    return open_tui(args, tuple(args.paths) or tuple(discover.usual_places()), select)


def open_tui(args: argparse.Namespace, paths: tuple[str, ...], select: Select = EVERYTHING) -> int:
    """Runs the interface until the user leaves it."""
    from doctor.tui.diagnosis.diagnosis_screen import DiagnosisScreen
    from doctor.tui.knowledge.browse_screen import BrowseScreen

    check_paths(paths)
    session = _session(args, paths, select)
    code = getattr(args, "entry", "").upper()
    if code and session.known.entry(code) is None:
        raise UsageError(f"there is no entry '{args.entry}'", "npu-doctor kb search WORDS finds entries")
    if "-" in paths:
        return _open_pipe(args, session)
    return _run(args, session, DiagnosisScreen() if paths else BrowseScreen(code, offer=not code))


def open_harvests(args: argparse.Namespace, paths: Sequence[str], harvests: Callable[[], Sequence[Harvest]]) -> int:
    """The interface on what many nodes have found."""
    from doctor.tui.diagnosis.diagnosis_screen import DiagnosisScreen
    from doctor.tui.shell.session import Session

    session = Session(paths, common.language(args), EVERYTHING, args.kb, own_words=args.redact_words, harvests=harvests)
    return _run(args, session, DiagnosisScreen())


def open_watch(args: argparse.Namespace, paths: tuple[str, ...]) -> int:
    """The interface on growing logs."""
    from doctor.tui.diagnosis.watch_screen import WatchScreen
    from doctor.watch.live_diagnosis import Live

    check_terminal(["watch", "-f", "text", *paths])
    session = _session(args, paths)
    return _run(args, session, WatchScreen(lambda: Live(paths, session.known, new_only=args.new), args.interval))


def open_env(args: argparse.Namespace, look: Callable[[Knowledge], dict[str, Any]], instead: list[str]) -> int:
    """The interface on a machine."""
    from doctor.tui.env.environment_screen import EnvironmentScreen

    check_terminal(instead)
    return _run(args, _session(args, ()), EnvironmentScreen(look, tuple(instead)))


def open_pace(args: argparse.Namespace, look: Callable[[Knowledge], Pace]) -> int:
    """The interface on the pace of a run."""
    from doctor.tui.pace.pace_screen import PaceScreen

    check_terminal(["pace", *args.paths])
    check_paths(tuple(args.paths))
    return _run(args, _session(args, tuple(args.paths)), PaceScreen(look, ("pace", *args.paths)))


def _open_pipe(args: argparse.Namespace, session: Session) -> int:
    from doctor.read.piped import take_stdin
    from doctor.tui.diagnosis.watch_screen import WatchScreen
    from doctor.watch.live_diagnosis import Live

    others = tuple(p for p in session.paths if p != "-")
    pipe = take_stdin()
    try:
        screen = WatchScreen(
            lambda: Live(others, session.known, session.select, piped=((pipe.path, pipe.source()),)),
            0.5,
            lambda: pipe.open,
        )
        return _run(args, session, screen)
    finally:
        pipe.close()


def _session(args: argparse.Namespace, paths: tuple[str, ...], select: Select = EVERYTHING) -> Session:
    from doctor.tui.shell.session import Session

    return Session(paths, common.language(args), select, args.kb, own_words=args.redact_words)


def _run(args: argparse.Namespace, session: Session, first: Frame) -> int:
    from doctor.tui.app import DoctorApp

    interrupts.leave()
    app = DoctorApp(session, bool(getattr(args, "low_bandwidth", False)), first)
    app.run(mouse=mouse_wanted(args))
    return app.return_code or exits.CLEAN
