"""`npu-doctor run -- CMD`: the command unchanged, and the diagnosis after it when it fails."""

from __future__ import annotations

from collections.abc import Sequence

from doctor.commands import common, reading, reporting, scan
from doctor.read import discover
from doctor.read.source import Source
from doctor.runner import run_command


def main(argv: list[str]) -> int:
    made = common.parser("run", "Run a command; when it fails, diagnose its output and the logs that it wrote. Its exit code is returned.")
    run_command.add_arguments(made)
    args = made.parse_args(argv)

    def diagnose(output: Source, paths: Sequence[str]) -> None:
        asked = scan.arguments().parse_args(["--lang", args.lang] if args.lang else [])
        asked.kb = args.kb
        known = common.knowledge(asked)
        found = discover.discover(paths)
        reporting.emit(asked, reading.look(asked, known, (output, *found.sources), found.skipped), known)

    return run_command.run(args, diagnose)
