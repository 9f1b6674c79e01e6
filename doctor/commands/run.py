"""`npu-doctor run -- CMD`: the command unchanged, and the diagnosis after it when it fails."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from doctor.base.notation import clean
from doctor.base.words import word
from doctor.commands import common, reading, reporting, scan
from doctor.read import discover
from doctor.read.source import Source
from doctor.render.call import PIPED, Call
from doctor.runner import run_command


def arguments() -> common.Parser:
    made = common.parser("run", "Run a command; when it fails, diagnose its output and the logs that it wrote. Its exit code is returned.")
    run_command.add_arguments(made)
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)

    def diagnose(output: Source, paths: Sequence[str]) -> None:
        asked = scan.arguments().parse_args(["--lang", args.lang] if args.lang else [])
        asked.kb = args.kb
        known = common.knowledge(asked)
        found = discover.discover(paths)
        diagnosis = reading.look(asked, known, (output, *found.sources), found.skipped)
        reporting.emit(asked, diagnosis, known, Call((output.name, *paths)) if os.path.isfile(output.name) else PIPED)

    return run_command.run(args, diagnose, last_operator)


def last_operator(folder: Path, language: str) -> str:
    """What the records of a run tell of its last operator: it raised, it was running, or it had returned."""
    from doctor.repro.gather import evidence

    found = evidence([str(folder)]).operators()
    if not found:
        return ""
    one = found[0]
    how = "returned" if not one.failed else "raised" if one.error else "running"
    return word(f"run.last-{how}", language, op=one.name, error=clean(one.error)[:160])
