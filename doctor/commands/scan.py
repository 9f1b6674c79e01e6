"""`npu-doctor scan`: from paths or standard input to the diagnosis."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from doctor.answer.report import report
from doctor.base import exits, interrupts
from doctor.base.errors import UsageError
from doctor.base.lang import word
from doctor.commands import common
from doctor.judge.diagnosis import Diagnosis, conclude
from doctor.read import discover
from doctor.read.source import Skipped, Source
from doctor.scan import run
from doctor.scan.harvest import this_machine
from doctor.scan.select import Select
from kb.knowledge import Knowledge

FORMATS = ("text", "json", "jsonl", "md", "html", "sarif", "junit", "github")
_RENDERERS = {
    "md": "markdown:render", "html": "html:render", "sarif": "sarif:render", "junit": "annotations:junit", "github": "annotations:github",
}  # fmt: skip
Json = dict[str, Any]
LEVELS = ("debug", "info", "event", "warning", "error", "fatal")
FAIL_ON = {
    "info": ("info", "warning", "error", "fatal"),
    "warning": ("warning", "error", "fatal"),
    "error": ("error", "fatal"),
    "fatal": ("fatal",),
    "never": (),
}


def arguments() -> common.Parser:
    made = common.parser(
        "scan",
        "Diagnose logs. Paths may be files, folders, .gz, .tar.gz, .zip, or - for standard input; without a path the usual log places are read.",
    )
    made.add_argument("paths", nargs="*", metavar="PATH")
    output_options(made)
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
    made.add_argument("--tui", action="store_true", help="open the terminal interface on these logs")
    return made


def output_options(made: common.Parser) -> None:
    """How to answer: the same for every command that diagnoses."""
    made.add_argument(
        "-f", "--format", choices=FORMATS, help="format of the report (default: by the suffix of -o, else text)"
    )
    made.add_argument(
        "-o", "--output", metavar="FILE", action="append",
        help="write the report to a file; repeatable, each in the format of its suffix: -o report.md -o report.html",
    )  # fmt: skip
    made.add_argument(
        "--fail-on",
        choices=tuple(FAIL_ON),
        default="error",
        help="lowest severity that gives exit code 1 (default: error)",
    )
    made.add_argument(
        "--exit-zero", action="store_true", help="exit 0 whatever is found (usage and internal errors excepted)"
    )
    made.add_argument("--all", action="store_true", help="show everything: all evidence, all roots, all clusters")
    made.add_argument(
        "--redact", action="store_true", help="replace addresses, hosts, users, tokens and serial numbers by pseudonyms"
    )
    made.add_argument(
        "--redact-map", metavar="FILE", help="with --redact: write into a file of yours alone which pseudonym stands for what"
    )
    made.add_argument("--timeline", action="store_true", help="show what happened when in a job of several ranks")
    made.add_argument("--color", choices=("auto", "always", "never"), default="auto")


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    if args.tui:
        from doctor.commands import browse

        return browse.open_logs(args, select(args))
    known = common.knowledge(args)
    diagnosis = diagnose(args, known)
    emit(args, diagnosis, known)
    return exit_code(args, diagnosis)


def diagnose(args: argparse.Namespace, known: Knowledge) -> Diagnosis:
    return look(args, known, *find(args.paths))


def look(
    args: argparse.Namespace, known: Knowledge, sources: tuple[Source, ...], skipped: tuple[Skipped, ...]
) -> Diagnosis:
    """Reads the sources and concludes. Ctrl-C ends the reading, and what was read is concluded."""
    begin = time.perf_counter()
    interrupts.keep()
    harvests, interrupted = run.scan_all(sources, known, select(args), args.jobs, common.language(args))
    if interrupted:
        skipped = (*skipped, Skipped("...", "interrupted: what follows was not read"))
        sys.stderr.write(f"npu-doctor: {word('interrupted', common.language(args))}\n")
    return conclude(harvests, known, time.perf_counter() - begin, skipped)


def find(paths: list[str]) -> tuple[tuple[Source, ...], tuple[Skipped, ...]]:
    """The sources that the call names, or those of the usual places."""
    if not paths:
        paths = discover.usual_places()
        if not paths:
            raise UsageError(
                "there are no logs in the usual places (~/ascend/log, $ASCEND_PROCESS_LOG_PATH, $ASCEND_WORK_PATH/log, /var/log/npu/slog)",
                "npu-doctor scan PATH, or pipe:  python train.py 2>&1 | npu-doctor, or try:  npu-doctor demo",
            )
        sys.stderr.write(f"npu-doctor: reading {' '.join(paths)}\n")
    sources: list[Source] = []
    if "-" in paths:
        if sys.stdin.isatty():
            sys.stderr.write("npu-doctor: reading standard input, end with Ctrl-D\n")
        sources.append(discover.standard_input(sys.stdin.buffer))
    found = discover.discover([p for p in paths if p != "-"])
    return (*sources, *found.sources), found.skipped


def select(args: argparse.Namespace) -> Select:
    levels = None
    if args.level:
        if args.level.lower() not in LEVELS:
            raise UsageError(f"'{args.level}' is no level", f"levels: {', '.join(LEVELS)}")
        levels = frozenset(LEVELS[LEVELS.index(args.level.lower()) :])
    return Select(_moment(args.since), _moment(args.until), levels, args.pid, args.rank, args.device)


def _moment(written: str | None) -> str | None:
    """A time as lines carry it. Also '30 min ago', '2h ago'."""
    if not written:
        return None
    import re
    from datetime import datetime, timedelta

    text = written.strip()
    if m := re.fullmatch(r"(\d+)\s*(s|sec|seconds?|m|min|minutes?|h|hours?|d|days?)(?:\s+ago)?", text):
        unit = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}[m[2][0]]
        return (datetime.now() - timedelta(**{unit: int(m[1])})).isoformat(timespec="microseconds")
    try:
        return datetime.fromisoformat(text.replace("/", "-")).replace(tzinfo=None).isoformat(timespec="microseconds")
    except ValueError:
        raise UsageError(f"'{written}' is no time", "write 2026-03-01, '2026-03-01 12:30:00' or '30 min ago'") from None


def emit(args: argparse.Namespace, diagnosis: Diagnosis, known: Knowledge) -> None:
    """The report in the asked form on stdout or into a file; the narration on stderr."""
    made = report(diagnosis, known)
    targets = _targets(args)
    mergeable = any(form == "jsonl" for _, form in targets)
    harvest = diagnosis.harvest._replace(machine=this_machine()).json() if mergeable else {}
    if args.redact or args.redact_map:
        made, harvest = redacted(args, diagnosis, known, made, harvest, mergeable)
    language = common.language(args)
    for target, form in targets:
        common.write(render(made, harvest, form, language, args, target), target)
    if args.output or targets[0][1] == "text":
        from doctor.render.text import size_text

        stats = made["stats"]
        sys.stderr.write(
            word("scanned", language).format(
                files=stats["files"], size=size_text(stats["bytes"]), seconds=f"{stats['seconds']:.2f}",
                entries=made["knowledge"]["entries"], codes=made["knowledge"]["codes"],
            )
            + "\n"
        )  # fmt: skip


def _targets(args: argparse.Namespace) -> list[tuple[str | None, str]]:
    """Where the report goes, and in which form: -f decides for one place, of several each by its suffix."""
    places: list[str | None] = args.output or [None]
    if len(places) == 1:
        return [(places[0], common.format_of(args.format, places[0], FORMATS))]
    return [(place, common.format_of(None, place, FORMATS, args.format or "text")) for place in places]


def redacted(
    args: argparse.Namespace, diagnosis: Diagnosis, known: Knowledge, made: Json, harvest: Json, mergeable: bool
) -> tuple[Json, Json]:
    """Both with pseudonyms. Which stands for what goes nowhere but into the file that --redact-map names."""
    from doctor.answer.redact import redactor

    using = redactor(diagnosis, known, tagged=mergeable)
    made, harvest = using.report([made, harvest])
    made["redacted"] = {"values": using.counts, "names": using.names}
    if args.redact_map:
        common.write(using.map_text(), args.redact_map, private=True)
    return made, harvest


def render(made: Json, harvest: Json, form: str, language: str, args: argparse.Namespace, target: str | None) -> str:
    """The report in one form; what a form needs is loaded when it is asked for."""
    if form == "json":
        import json

        return json.dumps(made, ensure_ascii=False, indent=1) + "\n"
    if form == "jsonl":
        from doctor.render import jsonl

        return jsonl.render(made, harvest)
    if form in _RENDERERS:
        module, _, name = _RENDERERS[form].partition(":")
        made_by: Callable[[Json, str], str] = getattr(import_module(f"doctor.render.{module}"), name)
        return made_by(made, language)
    from doctor.render import layout, text

    style = layout.style_of(sys.stdout, args.color) if target in (None, "-") else layout.Style()
    return text.render(made, language, style, args.all, args.timeline)


def exit_code(args: argparse.Namespace, diagnosis: Diagnosis) -> int:
    if interrupts.heard():
        return exits.INTERRUPTED
    if args.exit_zero:
        return exits.CLEAN
    severities = {r.finding.entry.severity for r in diagnosis.roots}
    if severities.intersection(FAIL_ON[args.fail_on]) and diagnosis.verdict == "findings":
        return exits.FINDINGS
    if diagnosis.verdict == "inconclusive" or (
        diagnosis.unexplained and not severities.intersection(("error", "fatal", "warning"))
    ):
        return exits.INCONCLUSIVE
    return exits.CLEAN
