"""`npu-doctor scan`: from paths or standard input to the diagnosis."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from doctor.base import exits
from doctor.base.errors import UsageError
from doctor.commands import common, ignoring, reading, reporting
from doctor.judge.ignored import without
from kb.knowledge import Knowledge

if TYPE_CHECKING:
    from doctor.judge.diagnosis import Diagnosis


def arguments() -> common.Parser:
    made = common.parser(
        "scan",
        "Diagnose logs. Paths may be files, folders, .gz, .xz, .bz2, .zst, .tar.gz, .zip, or - for standard input; without a path the usual log places are read.",
    )
    made.add_argument("paths", nargs="*", metavar="PATH")
    reporting.output_options(made)
    made.add_argument(
        "--since",
        metavar="TIME",
        help="only lines at or after this time (2026-03-01, '2026-03-01 12:30', '30 min ago')",
    )
    made.add_argument("--until", metavar="TIME", help="only lines up to this time")
    made.add_argument(
        "--level", metavar="LEVEL", help="only lines of this level or above (debug, info, warning, error)"
    )
    made.add_argument("--pid", type=int, help="only lines of this process")
    made.add_argument("--rank", type=int, help="only lines of this rank")
    made.add_argument("--device", type=int, help="only lines of this device")
    made.add_argument(
        "-j", "--jobs", type=int, metavar="N", help="worker processes (default: by the size of the input)"
    )
    made.add_argument("--with-env", action="store_true", help="look at the machine as well (npu-doctor env): its faults, and where it differs from the logs")
    made.add_argument("--root", metavar="PATH", default="", help="with --with-env: the tree of the machine that wrote the logs, a folder or an archive")
    made.add_argument(
        "--all-files", action="store_true", help="read what looks like no log as well: scripts, build files, configurations, source trees"
    )
    made.add_argument(
        "--ignore", metavar="CODE|FILE", action="append", default=[],
        help="leave out what you know already: an entry's code, or a file of codes, one a line (repeatable); it is told as left out",
    )  # fmt: skip
    made.add_argument(
        "--baseline", metavar="FILE|nodes", default="",
        help="also tell what these logs say that healthy runs do not: a file of npu-doctor diff --learn, or 'nodes' to compare the nodes with each other",
    )  # fmt: skip
    made.add_argument("--tui", action="store_true", help="open the terminal interface on these logs")
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    if args.root and not args.with_env:
        raise UsageError("--root names the machine of the logs, which only --with-env looks at", f"npu-doctor scan LOGS --with-env --root {args.root}")
    if args.tui:
        from doctor.commands import interface

        return interface.open_logs(args, reading.select(args))
    reporting.targets(args)  # a suffix that is no format is told before anything is read
    known = common.knowledge(args)
    ignored = ignoring.codes(args.ignore, known)
    if args.baseline:
        return _with_baseline(args, known, ignored)
    diagnosis = without(reading.diagnose(args, known), ignored)
    if args.with_env:
        return _with_env(args, diagnosis, known)
    reporting.emit(args, diagnosis, known, reading.call(args.paths))
    return reporting.exit_code(args, diagnosis)


def _with_baseline(args: argparse.Namespace, known: Knowledge, ignored: frozenset[str]) -> int:
    """The diagnosis, and what is unlike the healthy runs of a file, or unlike the other nodes: the logs are read a second time."""
    from doctor.answer.redact import vocabulary
    from doctor.baseline import beside, kept
    from doctor.baseline.listen import listen
    from doctor.baseline.shapes import Shapes

    if args.with_env:
        raise UsageError("--baseline and --with-env do not go together", "scan twice")
    shapes = Shapes()
    usual = None if args.baseline == beside.NODES else kept.unpacked(common.read_bytes(args.baseline, kept.MAX_FILE), args.baseline, shapes)
    looked = reading.look_again(args, known)
    try:
        diagnosis = without(looked.diagnosis, ignored)
        run = listen(looked.sources, shapes, lambda: vocabulary(known))
        told = beside.of_nodes(run, shapes, known) if usual is None else beside.compared(run, usual, beside.facts(diagnosis.situation), shapes, known)
    finally:
        looked.close()
    reporting.emit(args, diagnosis, known, reading.call(args.paths), lambda made: {**made, "baseline": told})
    code = reporting.exit_code(args, diagnosis)
    return exits.FINDINGS if code == exits.CLEAN and told["verdict"] == "differs" and not args.exit_zero and args.fail_on != "never" else code


def _with_env(args: argparse.Namespace, diagnosis: Diagnosis, known: Knowledge) -> int:
    """The diagnosis with the machine beside it: advice is chosen by both, the findings of both are told."""
    from doctor.env import beside_logs, private, verdict
    from doctor.env.look_at import Asked, machine

    looked = machine(Asked(args.root or "/"), known)
    differing = beside_logs.apart(diagnosis.situation, diagnosis.harvest, looked)
    looked = beside_logs.with_differences(looked, differing)
    found = verdict.results(looked, known.checks())
    diagnosis = diagnosis._replace(situation=beside_logs.informed(diagnosis.situation, looked))
    seen: list[reporting.Json] = []

    def beside(made: reporting.Json) -> reporting.Json:
        seen.append(beside_logs.put_beside(made, looked, differing, found))
        return private.redacted(seen[0], known, args.redact_words)[0] if args.redact or args.redact_map or args.redact_words else seen[0]

    reporting.emit(args, diagnosis, known, reading.call(args.paths), beside)
    code = reporting.exit_code(args, diagnosis)
    loud = {f["severity"] for f in seen[0]["findings"] if f["id"].startswith("CHK")} & set(reporting.FAIL_ON[args.fail_on])
    return exits.FINDINGS if code == exits.CLEAN and loud and not args.exit_zero else code
