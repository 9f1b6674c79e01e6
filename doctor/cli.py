"""The command line: which command, then that command's own module. Nothing heavy is imported before it is needed."""

from __future__ import annotations

import sys
from importlib import import_module

from doctor.base import lang, limits
from doctor.base.words import word
from doctor.version import __version__

# name -> module. The order is the order of the help.
COMMANDS: dict[str, str] = {
    "scan": "doctor.commands.scan",
    "merge": "doctor.commands.merge",
    "explain": "doctor.commands.explain",
    "repro": "doctor.commands.repro",
    "issue": "doctor.commands.issue",
    "run": "doctor.commands.run",
    "env": "doctor.commands.env",
    "kb": "doctor.commands.kb",
    "ops": "doctor.commands.ops",
    "precision": "doctor.commands.precision",
    "browse": "doctor.commands.browse",
    "watch": "doctor.commands.watch",
    "demo": "doctor.commands.demo",
    "schema": "doctor.commands.schema",
}  # fmt: skip


def help_text(language: str) -> str:
    width = max(map(len, COMMANDS)) + 2
    rows = [f"  {name:{width}}{word(f'cli.command:{name}', language)}" for name in COMMANDS]
    usage, about, head, more, piped, codes = (
        word(f"cli.{name}", language) for name in ("usage", "about", "commands", "options", "piped", "exits")
    )
    return "\n".join([usage, "", about, "", head, *rows, "", more, piped, codes, ""])


def main(argv: list[str]) -> int:
    """Runs one command and returns its exit code."""
    from doctor.render.layout import prepare

    prepare(sys.stdout)
    prepare(sys.stderr)
    if argv and argv[0] in ("-h", "--help", "help"):
        asked = next(
            (
                a.partition("=")[2] or argv[i + 1]
                for i, a in enumerate(argv)
                if a.startswith("--lang") and ("=" in a or i + 1 < len(argv))
            ),
            None,
        )
        sys.stdout.write(help_text(lang.choose(asked)))
        return 0
    if argv and argv[0] in ("-V", "--version"):
        sys.stdout.write(f"npu-doctor {__version__}\n")
        return 0
    if argv and argv[0] in COMMANDS:
        return _run(argv[0], argv[1:])
    if not argv or argv[0].startswith("-"):
        piped = not sys.stdin.isatty()
        if piped or argv:
            return _run("scan", argv if "-" in argv else [*argv, "-"] if piped else argv)
        if "browse" in COMMANDS:
            return _run("browse", [])
        sys.stdout.write(help_text(lang.choose()))
        return 0
    return _unknown(argv[0])


def _run(name: str, rest: list[str]) -> int:
    limits.check()
    module = import_module(COMMANDS[name])
    code: int = module.main(rest)
    return code


def _unknown(written: str) -> int:
    import difflib
    from pathlib import Path

    from doctor.base.errors import UsageError

    near = difflib.get_close_matches(written, COMMANDS, n=1)
    if near:
        raise UsageError(f"there is no command '{written}'", f"did you mean 'npu-doctor {near[0]}'?")
    if Path(written).exists():
        raise UsageError(f"there is no command '{written}'", f"to diagnose that path: npu-doctor scan {written}")
    raise UsageError(
        f"there is no command '{written}'", f"commands: {', '.join(COMMANDS)}; for a code: npu-doctor explain {written}"
    )
