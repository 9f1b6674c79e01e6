"""`npu-doctor repro`: a script that shows the fault, from an entry, from logs, or from scratch."""

from __future__ import annotations

from doctor import api
from doctor.commands import common
from doctor.repro import repro_command
from kb.knowledge import Knowledge
from kb.model import Text


def arguments() -> common.Parser:
    made = common.parser("repro", "Write a script that reproduces one fault with one operator; it needs torch alone.")
    repro_command.add_arguments(made)
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    known = common.knowledge(args)
    return repro_command.run(args, lambda what: api.diagnose(what, knowledge=known), known, () if args.list else _machine(known))


def _machine(known: Knowledge) -> tuple[Text, ...]:
    """The machine in one line, for whoever gets the script; nothing where there is nothing of Ascend. npu-smi is not asked: it may hang."""
    from doctor.env import report
    from doctor.env.look_at import Asked, machine

    looked = machine(Asked(commands=False), known)
    told = report.line(looked) if report.is_ascend(looked) else ""
    return (Text(f"written on: {told}", f"生成环境：{told}"),) if told else ()
