"""`npu-doctor repro`: a script that shows the fault, from an entry, from logs, or from scratch."""

from __future__ import annotations

from doctor import api
from doctor.commands import common
from doctor.repro import repro_command


def arguments() -> common.Parser:
    made = common.parser("repro", "Write a script that reproduces one fault with one operator; it needs torch alone.")
    repro_command.add_arguments(made)
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    known = common.knowledge(args)
    return repro_command.run(args, lambda what: api.diagnose(what, knowledge=known), known)
