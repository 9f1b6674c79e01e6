"""`npu-doctor run -- CMD`: the command unchanged, and the diagnosis after it when it fails."""

from __future__ import annotations

from collections.abc import Sequence

from doctor.commands import common, reading, reporting, scan
from doctor.runner import run_command


def arguments() -> common.Parser:
    made = common.parser("run", "Run a command; when it fails, diagnose its output and the logs that it wrote. Its exit code is returned.")
    run_command.add_arguments(made)
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)

    def diagnose(paths: Sequence[str]) -> None:
        asked = scan.arguments().parse_args([*paths, *(["--lang", args.lang] if args.lang else [])])
        asked.kb = args.kb
        known = common.knowledge(asked)
        reporting.emit(asked, reading.diagnose(asked, known), known, reading.call(asked.paths))

    return run_command.run(args, diagnose)
