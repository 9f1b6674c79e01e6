"""`npu-doctor completion`: scripts for shells and a manual page, made from the parsers of all commands."""

from __future__ import annotations

import sys

from doctor.commands import common


def arguments() -> common.Parser:
    made = common.parser(
        "completion",
        "Print what a shell needs to complete commands and options, or the manual page: npu-doctor completion bash > ~/.local/share/bash-completion/completions/npu-doctor",
    )
    made.add_argument("shell", choices=("bash", "zsh", "fish", "man"), help="of which shell, or man")
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    from doctor.commands import shells

    sys.stdout.write(shells.SCRIPTS[args.shell](shells.commands(common.language(args)), common.language(args)))
    return 0
