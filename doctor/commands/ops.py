"""`npu-doctor ops`: the operators of a run, which were compiled again and why, from INFO logs or a profiler's table."""

from __future__ import annotations

import argparse
import re
import sys

from doctor.base import exits, output
from doctor.base.errors import UsageError
from doctor.base.words import word
from doctor.commands import common
from doctor.commands.reading import find
from doctor.ops import compile_log, compile_table, profiler

FORMATS = ("text", "json", "csv")


def arguments() -> common.Parser:
    made = common.parser(
        "ops",
        "Operators that CANN compiled, from logs at INFO level: shapes, types, formats, attributes, counts, conversions, and\n"
        "which were compiled again after the first step, with the input that changed. To get such a log, run a few steps with\n"
        "ASCEND_GLOBAL_LOG_LEVEL=1 (and ASCEND_SLOG_PRINT_TO_STDOUT=1 to have the training's progress lines in between).",
    )
    made.add_argument("paths", nargs="*", metavar="PATH", help="files, folders, archives, or - for standard input")
    made.add_argument("--profiler", metavar="FILE", help="read a torch profiler's printed tables instead (- for stdin)")
    made.add_argument("--step", metavar="REGEX", help="a line that matches ends a step; its first group is the number")
    made.add_argument("-f", "--format", choices=FORMATS, help="default: by the suffix of -o, else text")
    made.add_argument("-o", "--output", metavar="FILE")
    made.add_argument("--all", action="store_true", help="list every operator in text too")
    made.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    if args.profiler:
        if args.paths:
            raise UsageError("--profiler takes the place of PATH", "npu-doctor ops --profiler profiler.log")
        return _table(args)
    if args.step:
        _check(args.step)
    sources, skipped = find(args.paths)
    output.spare([args.output], (source.name for source in sources))
    summary, unread = compile_log.collect(sources, args.step)
    skipped = (*skipped, *unread)
    language = common.language(args)
    if not summary.calls:
        for one in skipped[:5]:
            sys.stderr.write(word("ops.skipped", language, path=one.path, why=one.reason) + "\n")
        sys.stderr.write(
            "npu-doctor: no operator descriptions (aclOp = OpType: ...) were found\n"
            " = help: they are printed at INFO level: ASCEND_GLOBAL_LOG_LEVEL=1 for a few steps, then npu-doctor ops ~/ascend/log\n"
        )
        return exits.INCONCLUSIVE
    form = common.format_of(args.format, args.output, FORMATS)
    if form == "json":
        made = compile_table.as_json(compile_table.data(summary, skipped))
    elif form == "csv":
        made = compile_table.as_csv(summary)
    else:
        made = compile_table.text(summary, skipped, language, common.style(args, args.output), args.all)
    common.write(made, args.output, form=form)
    return exits.FINDINGS if summary.again else exits.CLEAN


def _check(pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise UsageError(
            f"--step: '{pattern}' is no regular expression: {error}", r"--step 'iteration +(\d+)'"
        ) from None


def _table(args: argparse.Namespace) -> int:
    output.spare([args.output], [args.profiler])
    table = profiler.parse(common.lines(args.profiler, "give the file that holds the printed table"))
    if not table.operators:
        raise UsageError(
            f"{args.profiler} holds no profiler table (a header line that begins with Name)",
            "print(prof.key_averages(group_by_input_shape=True).table(sort_by='self_cpu_time_total')) writes one",
        )
    form = common.format_of(args.format, args.output, FORMATS)
    if form == "json":
        made = compile_table.as_json(compile_table.table_data(table))
    elif form == "csv":
        made = compile_table.table_csv(table)
    else:
        made = compile_table.table_text(table, common.language(args), common.style(args, args.output), args.all)
    common.write(made, args.output, form=form)
    return exits.FINDINGS if table.dynamic else exits.CLEAN
