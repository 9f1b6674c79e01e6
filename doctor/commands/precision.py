"""`npu-doctor precision`: the first API that deviates in a comparison of ptdbg_ascend or msprobe."""

from __future__ import annotations

import json
import sys

from doctor.base import exits, output
from doctor.base.errors import UsageError
from doctor.base.notation import clean
from doctor.base.words import word
from doctor.commands import common
from doctor.precision import call_stack, comparison_csv, suspect_script, verdict_text
from doctor.precision.comparison import Limits, Verdict


def arguments() -> common.Parser:
    made = common.parser(
        "precision",
        "The first API whose result deviates, in forward and in backward order, from the CSV that ptdbg_ascend or msprobe\n"
        "compare wrote; where it was called, what to run next, and a script that runs it alone.",
    )
    made.add_argument("csv", metavar="CSV", help="compare_result_*.csv, or - for standard input")
    made.add_argument(
        "--cosine", type=float, default=0.99, metavar="X", help="suspect below this cosine and above the error (default: 0.99); below 0.9 in any case"
    )
    made.add_argument(
        "--max-abs-err", type=float, default=0.001, metavar="X", help="... above this error (default: 0.001); above 1 in any case"
    )
    made.add_argument("--stack", metavar="FILE", help="stack.json of msprobe, or the .pkl of ptdbg_ascend")
    made.add_argument(
        "--script", metavar="FILE", help="write a script that runs the first suspect API alone (- prints it)"
    )
    made.add_argument("-f", "--format", choices=("text", "json"), help="default: by the suffix of -o, else text")
    made.add_argument("-o", "--output", metavar="FILE")
    made.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    limits = Limits(args.cosine, args.max_abs_err, min(args.cosine, Limits().low_cosine), max(args.max_abs_err, Limits().high_error))
    language = common.language(args)
    output.spare((args.output, args.script), (args.csv, args.stack or ""))
    verdict = comparison_csv.judge(common.lines(args.csv, "npu-doctor precision compare_result_*.csv"), limits, args.csv)
    if not verdict.judged:
        sys.stderr.write(
            f"npu-doctor: none of the {verdict.rows} rows of {clean(args.csv)} carries a result\n"
            " = help: names did not match or nothing was dumped; see the tool's Err_message column\n"
        )
        return exits.INCONCLUSIVE
    stacks = _stacks(verdict, args.stack)
    if args.script:
        _script(verdict, args.script, language)
        if args.script == "-":
            return exits.FINDINGS
    form = common.format_of(args.format, args.output, ("text", "json"))
    if form == "json":
        made = json.dumps(verdict_text.data(verdict, limits, args.csv, stacks, language), ensure_ascii=False, indent=1) + "\n"
    else:
        style = common.style(args, args.output)
        made = verdict_text.text(verdict, limits, args.csv, stacks, language, style)
    common.write(made, args.output, form=form)
    return exits.FINDINGS if verdict.found else exits.CLEAN


def _stacks(verdict: Verdict, path: str | None) -> dict[str, tuple[str, ...] | None]:
    """Frames of the leading APIs: from the file, else from the CSV's own column."""
    found: dict[str, tuple[str, ...] | None] = {}
    for way in ("forward", "backward"):
        api = verdict.first(way)
        if api is None:
            continue
        own = next((row.stack for row in api.rows if len(row.stack) > 5), "")
        if path:
            found[api.name] = call_stack.find(path, api.name)
        elif own:
            found[api.name] = tuple(part.strip(" ,[]'\"") for part in own.split("\n") if part.strip())
    return found


def _script(verdict: Verdict, target: str, language: str) -> None:
    api = verdict_text.leading(verdict)
    if api is None:
        raise UsageError("no API is suspect, so there is nothing to run alone", "lower --max-abs-err or raise --cosine")
    made = suspect_script.make(api, language)
    if made is None:
        raise UsageError(
            f"no script can be written for {clean(api.name)}: it is a module, no function of torch, or its inputs are not in the CSV",
            "dump at API level (L1) and compare again, or describe it: npu-doctor repro --op NAME --input 'float16[4,8]'",
        )
    common.write(made.text, target)
    for note in made.guessed:
        sys.stderr.write(f"npu-doctor: {word('precision.guessed', language)}: {clean(note.pick(language))}\n")
