"""`npu-doctor diff`: what a failing run says that healthy ones do not; `--learn` keeps healthy ones; `--nodes` compares the nodes of one."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from doctor.base import exits, interrupts, output
from doctor.base.errors import UsageError
from doctor.base.words import word
from doctor.baseline import beside, kept
from doctor.baseline.shapes import Shapes
from doctor.baseline.usual import Facts, Usual, usual
from doctor.commands import common, reading
from doctor.read.source import Skipped
from doctor.render import layout, pager
from kb.knowledge import Knowledge

if TYPE_CHECKING:
    from doctor.baseline.run import Run

Json = dict[str, Any]
FORMATS = ("text", "json", "md", "html")


def arguments() -> common.Parser:
    made = common.parser(
        "diff",
        "What does a failing run say that healthy ones never said, what comes more often or later, what has gone silent? Versions, variables and\n"
        "settings that differ come first. GOOD is a healthy run (a folder, file or archive; several make a better baseline), or a file that\n"
        "--learn wrote; BAD, the last one, is the run in question. With --nodes the nodes of one job are each other's baseline.",
    )
    made.add_argument("paths", nargs="+", metavar="PATH", help="healthy runs, and the run in question last")
    how = made.add_mutually_exclusive_group()
    how.add_argument("--learn", action="store_true", help="keep what these runs have in common in the file of -o: shapes of lines, no text of the logs")
    how.add_argument("--nodes", action="store_true", help="what only one node of a job says")
    made.add_argument("-f", "--format", choices=FORMATS, help="default: by the suffix of -o, else text")
    made.add_argument("-o", "--output", metavar="FILE", help="write the answer to a file; with --learn: the baseline")
    made.add_argument("--all", action="store_true", help="show all differences")
    made.add_argument("--no-pager", action="store_true", help="never show a long report in a pager (NO_PAGER does the same)")
    made.add_argument("--redact", action="store_true", help="replace addresses, hosts, users, tokens and serial numbers by pseudonyms")
    made.add_argument("--redact-map", metavar="FILE", help="with --redact: write into a file of yours alone which pseudonym stands for what")
    common.redact_words_option(made)
    made.add_argument("-j", "--jobs", type=int, metavar="N", help="worker processes (default: by the size of the input)")
    made.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    made.set_defaults(since=None, until=None, level=None, pid=None, rank=None, device=None)
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    if "-" in args.paths:
        raise UsageError("diff reads each run from a path, not from standard input", "write it to a file first:  COMMAND > bad.log")
    known = common.knowledge(args)
    if args.learn:
        return _learn(args, known)
    common.format_of(args.format, args.output, FORMATS)
    if args.nodes:
        made = _nodes(args, known)
    elif len(args.paths) < 2:
        raise UsageError("diff compares two runs: a healthy one and the one in question", "npu-doctor diff GOOD BAD, or npu-doctor diff --nodes TREE")
    else:
        made = _runs(args, known)
    _emit(args, known, made)
    if interrupts.heard():
        return exits.INTERRUPTED
    return {"differs": exits.FINDINGS, "inconclusive": exits.INCONCLUSIVE}.get(made["verdict"], exits.CLEAN)


def _runs(args: argparse.Namespace, known: Knowledge) -> Json:
    """The last path against all before it."""
    shapes = Shapes()
    expected = _baseline(args, args.paths[:-1], known, shapes)
    run, facts, skipped = _heard(args, args.paths[-1], known, shapes)
    return beside.compared(run, expected, facts, shapes, known, skipped)


def _nodes(args: argparse.Namespace, known: Knowledge) -> Json:
    shapes = Shapes()
    if len(args.paths) != 1:
        raise UsageError("--nodes compares the nodes beneath one folder", "npu-doctor diff --nodes TREE")
    run, _, skipped = _heard(args, args.paths[0], known, shapes)
    return beside.of_nodes(run, shapes, known, skipped)


def _baseline(args: argparse.Namespace, paths: Sequence[str], known: Knowledge, shapes: Shapes) -> Usual:
    """Healthy runs: a file of them, or logs."""
    files = [path for path in paths if kept.is_baseline(path)]
    if files and len(paths) > 1:
        raise UsageError(f"'{files[0]}' is a baseline, which stands for all healthy runs", f"npu-doctor diff {files[0]} {args.paths[-1]}")
    if files:
        return kept.unpacked(common.read_bytes(files[0], kept.MAX_FILE), files[0], shapes)
    heard = [_heard(args, path, known, shapes) for path in paths]
    return usual([run for run, _, _ in heard], [facts for _, facts, _ in heard])


def _heard(args: argparse.Namespace, path: str, known: Knowledge, shapes: Shapes) -> tuple[Run, Facts, tuple[Skipped, ...]]:
    """A run: its lines, what they tell of the situation, and what was not read."""
    from doctor.answer.redact import vocabulary
    from doctor.baseline.listen import listen

    sources, skipped = reading.find([path])
    output.spare((args.output, args.redact_map), (source.name for source in sources))
    facts = beside.facts(reading.look(args, known, sources, skipped).situation)
    run = listen([source for source in sources if not source.dump], shapes, lambda: vocabulary(known))
    skipped = (*skipped, *(Skipped(source.name, "a dump of a process, and no log") for source in sources if source.dump and not source.only_adds))
    if not run.lines:
        why = skipped[0].reason if skipped else "there is no line in it"
        raise UsageError(f"'{path}': nothing was read: {why}", "name logs: files, folders or archives", code=exits.INCONCLUSIVE)
    return run, facts, skipped


def _learn(args: argparse.Namespace, known: Knowledge) -> int:
    if not args.output:
        raise UsageError("--learn needs a file to write", "npu-doctor diff --learn RUN1 RUN2 -o good.baseline")
    if args.format:
        raise UsageError("a baseline has one format", "leave out -f")
    shapes = Shapes()
    heard = [_heard(args, path, known, shapes) for path in args.paths]
    made = usual([run for run, _, _ in heard], [facts for _, facts, _ in heard])
    if interrupts.heard():  # a baseline of half a run would call the other half new
        return exits.INTERRUPTED
    kept.write(kept.packed(made, shapes), args.output)
    told = word(
        "diff.learnt", common.language(args), runs=made.runs, lines=round(made.lines * made.runs), shapes=len(made.norms), settings=len(made.settings), path=args.output
    )
    sys.stderr.write(f"npu-doctor: {told}\n")
    return exits.CLEAN


def _emit(args: argparse.Namespace, known: Knowledge, made: Json) -> None:
    language, form = common.language(args), common.format_of(args.format, args.output, FORMATS)
    if args.redact or args.redact_map or args.redact_words:
        made, using = beside.redacted(made, known, args.redact_words)
        if args.redact_map:
            common.write(using.map_text(), args.redact_map, private=True)
    if form == "json":
        common.write(json.dumps(made, ensure_ascii=False, indent=1) + "\n", args.output, form=form)
        return
    from doctor.baseline import told

    if form == "md":
        common.write(told.markdown(made, language), args.output, form=form)
    elif form == "html":
        common.write(told.page(made, language), args.output, form=form)
    elif args.output not in (None, "-"):
        common.write(told.text(made, language, layout.Style(), everything=True), args.output)
    else:
        drawn = told.text(made, language, layout.style_of(sys.stdout, args.color), args.all)
        if args.no_pager:
            common.write(drawn, None)
        else:
            pager.show(drawn)
