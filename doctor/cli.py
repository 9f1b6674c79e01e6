"""The command line: which command, then that command's own module. Nothing heavy is imported before it is needed."""

from __future__ import annotations

import sys
from importlib import import_module

from doctor.base import lang, limits
from doctor.base.words import word
from doctor.commands.table import COMMANDS, GLOBAL
from doctor.version import __version__


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
    before, command, rest = split(argv)
    if command == "help" and rest and rest[0] in COMMANDS:
        return _run(rest[0], [*before, "--help"])
    if command == "help" or (not command and any(a in ("-h", "--help") for a in before)):
        sys.stdout.write(help_text(lang.choose(lang.asked(argv))))
        return 0
    if not command and any(a in ("-V", "--version") for a in before):
        sys.stdout.write(f"npu-doctor {__version__}\n")
        return 0
    if command in COMMANDS:
        return _run(command, [*before, *rest])
    if command:
        return _bare(before, command, rest)
    piped = not sys.stdin.isatty()
    if piped or _other_than_global(before):
        return _run("scan", before if "-" in before else [*before, "-"] if piped else before)
    return _run("browse", before)


def split(argv: list[str]) -> tuple[list[str], str, list[str]]:
    """The options before the command, the command (or the first word that is none), and what follows it.

    >>> split(["--lang", "zh", "explain", "507018"])
    (['--lang', 'zh'], 'explain', ['507018'])
    """
    value = False
    for number, arg in enumerate(argv):
        if value:
            value = False
        elif arg in GLOBAL:
            value = True
        elif not arg.startswith("-"):
            if number and argv[number - 1].startswith("-") and argv[number - 1] not in GLOBAL and arg not in COMMANDS:
                continue  # the value of an option of scan: `npu-doctor -f json < log`
            return argv[:number], arg, argv[number + 1 :]
    return argv, "", []


def _other_than_global(options: list[str]) -> bool:
    return any(a.startswith("-") and a.partition("=")[0] not in ("--lang", "--kb", "--mouse", "--no-mouse", "--low-bandwidth") for a in options)


def _run(name: str, rest: list[str]) -> int:
    from doctor.base.kept_patterns import kept

    limits.check()
    with kept():
        module = import_module(COMMANDS[name])
        code: int = module.main(rest)
    return code


def _bare(before: list[str], written: str, rest: list[str]) -> int:
    """What is no command: a path is diagnosed, what the knowledge knows is explained, a slip of the keyboard is told."""
    import difflib
    import os

    from doctor.base.errors import UsageError

    if os.path.lexists(written):
        return _run("scan", [*before, written, *rest])
    near = difflib.get_close_matches(written, COMMANDS, n=1, cutoff=0.75)
    if near:
        raise UsageError(f"there is no command '{written}'", f"did you mean 'npu-doctor {near[0]}'?")
    if "/" in written or os.path.splitext(written)[1] in _LOGS:
        return _run("scan", [*before, written, *rest])
    from doctor.commands import explain

    if explain.is_known(written):
        return _run("explain", [*before, written, *rest])
    raise UsageError(
        f"there is no command '{written}'", f"commands: {', '.join(COMMANDS)}; for a code: npu-doctor explain {written}"
    )


_LOGS = (".log", ".txt", ".gz", ".tgz", ".tar", ".zip", ".out", ".err", ".jsonl")
