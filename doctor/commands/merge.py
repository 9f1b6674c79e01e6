"""`npu-doctor merge`: the harvests of many nodes to one diagnosis, as if everything had been scanned at once."""

from __future__ import annotations

from doctor.base import output
from doctor.commands import common, interface, merging, reporting


def arguments() -> common.Parser:
    made = common.parser(
        "merge",
        "Merge what `npu-doctor scan -f jsonl` wrote on several nodes into one diagnosis of the whole job. - is standard input.",
    )
    made.add_argument("paths", nargs="+", metavar="FILE.jsonl")
    merging.options(made)
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    if args.tui:
        interface.check_terminal(["merge", *args.paths])
    reporting.targets(args)
    output.spare((*(args.output or ()), args.redact_map), args.paths)
    return merging.tell(args, args.paths, common.knowledge(args))
