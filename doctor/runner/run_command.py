"""`npu-doctor run -- CMD`: runs a command unchanged; when it fails, diagnoses what it printed and the logs it wrote."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from doctor import record
from doctor.base import lang
from doctor.base.errors import UsageError
from doctor.base.words import word
from doctor.read import discover
from doctor.read.source import Source
from doctor.runner.child import NOT_EXECUTABLE, NOT_FOUND, Child
from doctor.runner.kept_output import Tail
from doctor.runner.written_plogs import Tree

Diagnose = Callable[[Source, Sequence[str]], object]  # what the command printed, and the logs that it wrote
LastOperator = Callable[[Path, str], str]  # a folder of records and a language to what the last operator did

LEVELS = {"debug": "0", "info": "1", "warning": "2", "error": "3"}
INTERRUPTED = 130
PREFIX = "npu-doctor-run-"  # of folders in the place for temporary files
KEPT = 8  # of them, where only the output was kept
TIMED_OUT = 124  # as timeout(1) ends


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--log-level", choices=tuple(LEVELS), help="CANN's log level for this command (ASCEND_GLOBAL_LOG_LEVEL)"
    )
    parser.add_argument(
        "--blocking",
        action="store_true",
        help="wait for every operator, so that the stack names the right one (ASCEND_LAUNCH_BLOCKING=1; slow)",
    )
    parser.add_argument(
        "--record-ops", action="store_true", help="record the last operators of every Python process of the command"
    )
    parser.add_argument("--save", metavar="DIR", help="keep the output, the logs and the record there")
    parser.add_argument("--always", action="store_true", help="diagnose a command that succeeds as well")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- CMD ...", help="the command and its arguments")


def run(args: argparse.Namespace, diagnose: Diagnose, last_operator: LastOperator) -> int:
    """The exit code of the command, whatever the diagnosis says."""
    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not command:
        raise UsageError("there is no command to run", "npu-doctor run -- python train.py")
    language = lang.choose(getattr(args, "lang", None))
    folder = _folder(args)
    changes = environment(args, folder)
    if changes:
        _say("run.sets", language, what=" ".join(f"{name}={value}" for name, value in changes.items()))
    full = {**os.environ, **changes}
    tail, tree = Tail(), Tree(full)
    try:
        code = Child(command, full, tail, tree.look).run()
    except OSError as problem:
        _say("run.missing", language, what=command[0], why=problem.strerror or str(problem))
        _tidy(folder, args.save)
        return NOT_FOUND if isinstance(problem, FileNotFoundError) else NOT_EXECUTABLE
    sys.stdout.flush()
    if code in (0, INTERRUPTED) and not args.always:  # a person who pressed Ctrl-C knows why it ended
        _tidy(folder, args.save)
        return code
    _report(code, tail, tree, folder, args.save, language, diagnose, last_operator)
    return code


def environment(args: argparse.Namespace, folder: Path | None) -> dict[str, str]:
    """The variables that the options ask for; none without options."""
    changes: dict[str, str] = {}
    if args.log_level:
        changes["ASCEND_GLOBAL_LOG_LEVEL"] = LEVELS[args.log_level]
    if args.blocking:
        changes["ASCEND_LAUNCH_BLOCKING"] = "1"
    if args.record_ops:
        inject = str(Path(__file__).parent / "inject")
        before = os.environ.get("PYTHONPATH")
        changes["PYTHONPATH"] = f"{inject}{os.pathsep}{before}" if before else inject
        changes["NPU_DOCTOR_RECORDER"] = str(Path(record.__file__).resolve())
        changes["NPU_DOCTOR_RECORD"] = str(folder)
    return changes


def _report(
    code: int, tail: Tail, tree: Tree, folder: Path | None, save: str | None, language: str, diagnose: Diagnose, last_operator: LastOperator
) -> None:
    """The diagnosis after the program's own output, on standard error's side of it."""
    output = _with_end(tail.content(), code)
    name = _keep(output, folder, bool(save))  # the diagnosis cites it
    logs = tree.found()
    _say("run.failed", language, code=code, files=len(logs.paths))
    if logs.paths and not logs.sure:
        _say("run.by_time", language)
    try:
        diagnose(discover.given_bytes(output, name), (*logs.paths, *_stacks(folder)))
    except Exception as problem:  # noqa: BLE001 - the command's exit code is owed whatever happens to the diagnosis
        _say("run.broken", language, why=f"{type(problem).__name__}: {problem}")
    sys.stdout.flush()
    if not save and name != "<output>":
        _say("run.kept", language, path=name)
    if folder is None:
        return
    records = sorted(p for p in folder.glob("ops-*") if p.suffix in (".json", ".ring"))
    if save:
        _save(logs.paths, folder, language)
    if records:
        if told := last_operator(folder, language):
            sys.stderr.write(f"npu-doctor: {told}\n")
        _say("run.record", language, path=records[0] if len(records) == 1 else folder)


def _with_end(output: bytes, code: int) -> bytes:
    """The output, and behind it how the command ended where it could not say so itself: by a signal, or by its time limit."""
    if code != TIMED_OUT and not 128 < code < 128 + signal.NSIG:
        return output
    try:
        how = "time limit" if code == TIMED_OUT else signal.Signals(code - 128).name
    except ValueError:
        return output
    gap = b"" if not output or output.endswith(b"\n") else b"\n"
    return output + gap + f"npu-doctor run: the command ended with exit code {code} ({how})\n".encode()


def _stacks(folder: Path | None) -> list[str]:
    """What Python printed of its stack when it crashed, where the recorder was there to keep it."""
    return sorted(str(path) for path in folder.glob("ops-*.stack") if path.stat().st_size) if folder is not None else []


def _keep(output: bytes, folder: Path | None, asked: bool) -> str:
    """What the command printed, beside its logs; on a full disk it is diagnosed from memory all the same, which is told
    to who asked for a copy."""
    path = Path("output.txt")
    try:
        if folder is None:
            folder = Path(tempfile.mkdtemp(prefix=PREFIX))
            _forget(folder.parent)
        path = folder / "output.txt"
        path.write_bytes(output)
    except OSError as problem:
        if asked:
            sys.stderr.write(f"npu-doctor: cannot write {path}: {problem.strerror}\n")
        return "<output>"
    return str(path)


def _forget(place: Path) -> None:
    """Outputs of earlier runs beyond the last few: they were never asked for, and a job that restarts all night leaves many."""
    mine: list[tuple[float, str]] = []
    with suppress(OSError), os.scandir(place) as found:
        for one in found:
            if one.name.startswith(PREFIX) and one.is_dir(follow_symlinks=False):
                state = one.stat(follow_symlinks=False)
                mine += [(state.st_mtime, one.path)] if state.st_uid == os.getuid() else []
    for _, path in sorted(mine, reverse=True)[KEPT:]:
        with suppress(OSError):  # gone by now
            if os.listdir(path) == ["output.txt"]:
                shutil.rmtree(path)


def _save(paths: Sequence[str], folder: Path, language: str) -> None:
    """Copies of the logs; the first that cannot be written ends it, and is told."""
    try:
        for path in paths:
            target = folder / "logs" / Path(path).parent.name / Path(path).name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    except OSError as problem:
        sys.stderr.write(f"npu-doctor: cannot save the logs in {folder}: {problem.strerror}\n")
        return
    _say("run.saved", language, path=folder)


def _folder(args: argparse.Namespace) -> Path | None:
    """Where files of this run go; nowhere when nothing asks for any."""
    save: str | None = args.save
    if not save and not args.record_ops:
        return None
    if not save:
        try:
            return Path(tempfile.mkdtemp(prefix=PREFIX))
        except OSError as problem:
            raise UsageError(
                f"there is no place for the record of operators: {problem.strerror}", "name one with --save DIR"
            ) from problem
    path = Path(save).expanduser().resolve()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise UsageError(
            f"cannot write to {save}: {problem.strerror}", "choose another place with --save DIR"
        ) from problem
    return path


def _tidy(folder: Path | None, save: str | None) -> None:
    if folder is not None and not save:
        shutil.rmtree(folder, ignore_errors=True)


def _say(name: str, language: str, **values: object) -> None:
    sys.stderr.write(f"npu-doctor: {word(name, language, **values)}\n")
    sys.stderr.flush()
