"""`npu-doctor pace`: who is slow, since when, what comes again and again; with two paths: what makes one run slower than the other."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from doctor.base import exits, interrupts, output
from doctor.base.notation import clean
from doctor.base.words import word
from doctor.commands import common
from doctor.commands.reading import find
from doctor.pace import report, text
from doctor.pace.look import look
from doctor.pace.reading import lane_of
from doctor.pace.verdict import Pace
from doctor.pace.wordings import Wording, wordings
from doctor.read.source import Source, hints

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMATS = ("text", "json", "html")


def arguments() -> common.Parser:
    made = common.parser(
        "pace",
        "Why is it slow: steps, data, communication and pauses out of the logs of a training, tokens a second out of those of a service.\n"
        "Names ranks and nodes that are slow, the steps at which the pace changes, what comes back regularly, and what happened near it.",
        epilog="npu-doctor pace RUN/              one run, of one file or of many ranks\n"
        "npu-doctor pace GOOD/ BAD/        where the difference between two runs comes from",
    )
    made.add_argument("paths", nargs="*", metavar="PATH", help="files, folders, archives, or - for standard input; two of them are compared")
    made.add_argument("--together", action="store_true", help="two paths are one run")
    made.add_argument("--line", metavar="REGEX", help="a line of a step that is not known: groups step, total_s or total_ms, data_s, compute_s, comm_s ...")
    made.add_argument("--wordings", action="store_true", help="list the lines that are known, and nothing else")
    made.add_argument("-f", "--format", choices=FORMATS, help="default: by the suffix of -o, else text")
    made.add_argument("-o", "--output", metavar="FILE")
    made.add_argument("--all", action="store_true", help="show every rank in text too")
    made.add_argument("--tui", action="store_true", help="open the terminal interface on it")
    made.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    made.set_defaults(redact_words=())
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    known = wordings(common.knowledge(args).pace(), args.line)
    if args.wordings:
        return _wordings(known, args)
    if args.tui:
        return _open(args, known)
    parts = _runs(args.paths, args.together)
    found = [find(part) for part in parts]
    output.spare([args.output], (source.name for sources, _ in found for source in sources))
    interrupts.keep()
    made = [look(sources, skipped, known) for sources, skipped in found]
    return _compare(args, made) if len(made) == 2 else _one(args, made[0])


def _runs(paths: list[str], together: bool) -> list[list[str]]:
    """Two paths are two runs, unless they are files of different ranks."""
    if len(paths) != 2 or together or "-" in paths:
        return [paths]
    if all(map(os.path.isfile, paths)):
        ranks = {lane_of(Source(path, lambda: None, None, hints(path))).rank for path in paths}  # type: ignore[arg-type,return-value]
        if len(ranks) == 2 and -1 not in ranks:
            return [paths]
    return [[path] for path in paths]


def _one(args: argparse.Namespace, pace: Pace) -> int:
    language = common.language(args)
    if pace.verdict == "none":
        return _nothing(pace, language)
    form = common.format_of(args.format, args.output, FORMATS)
    if form == "json":
        made = report.as_json(report.data(pace))
    elif form == "html":
        from doctor.pace import page

        made = page.render(pace, language)
    else:
        made = text.text(pace, language, common.style(args, args.output), args.all)
    common.write(made, args.output, form=form)
    return {"even": exits.CLEAN, "uneven": exits.FINDINGS}.get(pace.verdict, exits.INCONCLUSIVE)


def _compare(args: argparse.Namespace, both: list[Pace]) -> int:
    from doctor.pace.compare import compare

    language, names = common.language(args), (args.paths[0], args.paths[1])
    for pace, name in zip(both, names, strict=True):
        if pace.verdict == "none":
            sys.stderr.write(f"npu-doctor: {clean(name)}: ")
            return _nothing(pace, language, "")
    made = compare(both[0], both[1])
    form = common.format_of(args.format, args.output, FORMATS)
    if form == "json":
        told = report.as_json(report.comparison(made))
    elif form == "html":
        from doctor.pace import page

        told = page.comparison(made, names, language)
    else:
        told = text.comparison(made, names, language, common.style(args, args.output))
    common.write(told, args.output, form=form)
    return {"slower": exits.FINDINGS, "none": exits.INCONCLUSIVE}.get(made.verdict, exits.CLEAN)


def _nothing(pace: Pace, language: str, head: str = "npu-doctor: ") -> int:
    """No step was found: that is no even run."""
    for one in pace.run.skipped[:5]:
        sys.stderr.write(word("pace.skipped", language, path=clean(one.path), why=clean(one.reason)) + "\n")
    sys.stderr.write(f"{head}{word('pace.none', language)}\n = help: {word('pace.none-help', language)}\n")
    return exits.INCONCLUSIVE


def _wordings(known: Sequence[Wording], args: argparse.Namespace) -> int:
    width = max(len(one.form.id) for one in known)
    common.write("".join(f"{one.form.about:9}{one.form.id:{width}}  {one.form.near.strip()}\n" for one in known), args.output)
    return exits.CLEAN


def _open(args: argparse.Namespace, known: Sequence[Wording]) -> int:
    from doctor.commands.interface import open_pace

    sources, skipped = find(args.paths)
    return open_pace(args, lambda _: look(sources, skipped, known, lambda: None))
