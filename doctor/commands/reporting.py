"""How commands that diagnose answer: formats, places, pseudonyms, and the exit code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from doctor.base import exits, interrupts, notation
from doctor.base.errors import UsageError
from doctor.base.words import word
from doctor.commands import common
from doctor.render.call import PIPED, Call
from doctor.scan.harvest import this_machine
from kb.knowledge import Knowledge
from parsers.traceback_forms import EXCEPTION, FRAME

if TYPE_CHECKING:
    from doctor.findings.evaluate import Finding
    from doctor.judge.diagnosis import Diagnosis

Json = dict[str, Any]
FORMATS = ("text", "json", "jsonl", "md", "html", "csv", "sarif", "junit", "github", "gitlab", "trace")
_RENDERERS = {
    "md": "markdown:render", "html": "html:render", "csv": "table:render", "sarif": "sarif:render", "junit": "annotations:junit", "github": "annotations:github",
    "gitlab": "annotations:gitlab", "trace": "trace:render",
}  # fmt: skip
_LEFT_BEHIND = ("worker-death", "peer-lost")  # what others say of a process that is gone
FAIL_ON = {
    "info": ("info", "warning", "error", "fatal"),
    "warning": ("warning", "error", "fatal"),
    "error": ("error", "fatal"),
    "fatal": ("fatal",),
    "never": (),
}


def output_options(made: common.Parser) -> None:
    """How to answer: the same for every command that diagnoses logs."""
    answer_options(made)
    made.add_argument("--timeline", action="store_true", help="show what happened when in a job of several ranks")


def answer_options(made: common.Parser, formats: tuple[str, ...] = FORMATS) -> None:
    """How to answer, whatever was looked at."""
    made.add_argument(
        "-f", "--format", choices=formats, help="format of the report (default: by the suffix of -o, else text)"
    )
    made.add_argument(
        "-o", "--output", metavar="FILE", action="append",
        help="write the report to a file; repeatable, each in the format of its suffix: -o report.md -o report.html",
    )  # fmt: skip
    made.add_argument(
        "--fix-script", metavar="FILE",
        help="write the fixes as a script for bash to read first: it runs nothing by itself, what is dangerous stands in it as a comment",
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
    made.add_argument("--all", action="store_true", help="show everything, as -vv: all evidence, all roots, all clusters")
    made.add_argument(
        "-v", "--verbose", action="count", default=0,
        help="show what the one screen leaves out: all fixes, symptoms and by which rule they were folded; -vv shows everything",
    )
    made.add_argument("-q", "--quiet", action="store_true", help="one line a root cause, nothing else")
    made.add_argument("--no-pager", action="store_true", help="never show a long report in a pager (NO_PAGER does the same)")
    made.add_argument(
        "--redact", action="store_true", help="replace addresses, hosts, users, tokens and serial numbers by pseudonyms"
    )
    made.add_argument(
        "--redact-map", metavar="FILE", help="with --redact: write into a file of yours alone which pseudonym stands for what"
    )
    common.redact_words_option(made)
    made.add_argument("--color", choices=("auto", "always", "never"), default="auto")


def _as_it_is(made: Json) -> Json:
    return made


def emit(
    args: argparse.Namespace, diagnosis: Diagnosis, known: Knowledge, call: Call = PIPED, beside: Callable[[Json], Json] = _as_it_is,
    machine: str | None = None,
) -> None:
    """The report in the asked form on stdout or into a file, with what is put beside it; the narration on stderr.

    `machine`: the mark of the machine that was read, where that is not this one.
    """
    from doctor.answer.report import report  # what answers is loaded when there is something to answer
    from doctor.render.compose import files

    made = beside(report(diagnosis, known))
    if args.fix_script:
        _fix_script(made, args.fix_script, common.language(args))
    places = targets(args)
    mergeable = any(form == "jsonl" for _, form in places)
    harvest = diagnosis.harvest._replace(machine=this_machine() if machine is None else machine).json() if mergeable else {}
    if args.redact or args.redact_map or args.redact_words:
        made, harvest = redacted(args, diagnosis, known, made, harvest, mergeable)
    stats = made["stats"]
    scanned = word("scanned", common.language(args)).format(
        files=files(stats["files"], common.language(args)), size=notation.size(stats["bytes"]), seconds=f"{stats['seconds']:.2f}",
        entries=made["knowledge"]["entries"], codes=made["knowledge"]["codes"],
    )  # fmt: skip
    deliver(args, made, harvest, places, call, scanned)


def deliver(args: argparse.Namespace, made: Json, harvest: Json, places: list[tuple[str | None, str]], call: Call, looked: str) -> None:
    """A report to where it goes, each in its form; what was looked at goes to stderr."""
    language = common.language(args)
    for target, form in places:
        told = render(made, harvest, form, language, args, target, call)
        if target in (None, "-") and form == "text" and not args.no_pager:
            from doctor.render import pager

            pager.show(told)
        else:
            common.write(told, target, form=form)
            if target not in (None, "-"):
                sys.stderr.write(f"npu-doctor: {word('cli.wrote', language, path=target)}: {_verdict(made, language)}\n")
    if (args.output or places[0][1] == "text") and not args.quiet:
        sys.stderr.write(f"{looked}\n")


def _fix_script(made: Json, target: str, language: str) -> None:
    """The fixes as a script; nothing is written where there are none."""
    from doctor.render import fix_script

    found = fix_script.script(made, language)
    if not found.steps and not found.by_hand:
        sys.stderr.write(f"npu-doctor: {word('script.none', language, path=target)}\n")
        return
    common.write(found.text, target)
    sys.stderr.write(f"npu-doctor: {word('script.wrote', language, path=target, n=found.steps, hands=found.by_hand)}\n")


def _verdict(made: Json, language: str) -> str:
    """The verdict in a few words: what a file that was written says."""
    from doctor.render import parts

    found = parts.roots(made)
    if made["verdict"] != "findings" or not found or made["decisive"] is not None:
        return word("inconclusive" if made["decisive"] is not None else made["verdict"], language)
    more = f" (+{len(found) - 1})" if len(found) > 1 else ""
    return f"{word(found[0]['severity'], language)} {found[0]['id']} {found[0]['title'][language]}{more}"


def targets(args: argparse.Namespace, formats: tuple[str, ...] = FORMATS) -> list[tuple[str | None, str]]:
    """Where the report goes, and in which form: -f decides for one place, of several each by its suffix."""
    if args.fix_script and (args.redact or args.redact_map or args.redact_words):
        raise UsageError("--fix-script is for the machine of the logs, where pseudonyms name nothing", "write it without --redact, and do not pass it on")
    places: list[str | None] = args.output or [None]
    if len(places) == 1:
        return [(places[0], common.format_of(args.format, places[0], formats))]
    return [(place, common.format_of(None, place, formats, args.format or "text")) for place in places]


def redacted(
    args: argparse.Namespace, diagnosis: Diagnosis, known: Knowledge, made: Json, harvest: Json, mergeable: bool
) -> tuple[Json, Json]:
    """Both with pseudonyms. Which stands for what goes nowhere but into the file that --redact-map names."""
    from doctor.answer.redact import redactor

    using = redactor(diagnosis, known, tagged=mergeable, own=args.redact_words)
    made, harvest = using.report([made, harvest])
    made["redacted"] = using.told
    if args.redact_map:
        common.write(using.map_text(), args.redact_map, private=True)
    return made, harvest


def render(made: Json, harvest: Json, form: str, language: str, args: argparse.Namespace, target: str | None, call: Call = PIPED) -> str:
    """The report in one form, and what is unlike a baseline behind it where one was named."""
    drawn = _drawn(made, harvest, form, language, args, target, call)
    if "baseline" not in made or getattr(args, "quiet", False):
        return drawn
    from doctor.baseline import told

    return told.behind(drawn, made["baseline"], form, language, common.style(args, target))


def _drawn(made: Json, harvest: Json, form: str, language: str, args: argparse.Namespace, target: str | None, call: Call) -> str:
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
    screen = target in (None, "-")
    style = common.style(args, target)
    if getattr(args, "quiet", False):
        from doctor.render import compact

        return compact.quiet(made, language)
    if args.all or args.verbose or not screen:  # who keeps a file keeps the whole of it
        from doctor.render import text

        return text.render(made, language, style, args.all or args.verbose > 1, args.timeline, bool(args.verbose))
    from doctor.render import compact

    return compact.render(made, language, style, call, args.timeline)


def exit_code(args: argparse.Namespace, diagnosis: Diagnosis) -> int:
    if interrupts.heard():
        return exits.INTERRUPTED
    if args.exit_zero:
        return exits.CLEAN
    roots = [r.finding.entry for r in diagnosis.roots]
    severities = {entry.severity for entry in roots}
    ended = any(_ended(r.finding) for r in diagnosis.roots)
    # What ended a program is no success, whoever is to blame for it.
    loud = severities.intersection(FAIL_ON[args.fail_on]) or (ended and args.fail_on in ("error", "warning", "info"))
    if loud and diagnosis.decisive is None and diagnosis.verdict == "findings":
        return exits.FINDINGS
    known = severities.intersection(("error", "fatal"))
    if diagnosis.verdict == "inconclusive" or diagnosis.decisive is not None or (_open(diagnosis) and not known):
        return exits.INCONCLUSIVE
    if any(entry.role == "symptom" and entry.kind in _LEFT_BEHIND and "stopped" not in entry.traits for entry in roots):
        return exits.INCONCLUSIVE  # a process died, and nothing that was read tells of what
    return exits.CLEAN


def _open(diagnosis: Diagnosis) -> bool:
    """Is there an error beside roots that are none: a line that nobody knows, or one that was folded beneath them?"""
    harmless = {r.finding.entry.code for r in diagnosis.related if r.finding.entry.role == "noise"}
    return len(diagnosis.unexplained) > len(diagnosis.survived) or any(
        r.finding.entry.severity in ("error", "fatal") and not harmless.intersection((r.finding.entry.code, r.explained_by))
        for r in diagnosis.related
    )


def _ended(finding: Finding) -> bool:
    """Does a warning tell why a program ended: by its kind, as a refused installation, or because it rests on an exception or on its frames?"""
    entry = finding.entry
    if entry.severity != "warning" or entry.role not in ("cause", "ambiguous"):
        return False
    return "ends_job" in entry.traits or (entry.domain, entry.kind) == ("install", "toolchain") or any(
        h.place.kind == "traceback" and (EXCEPTION.match(h.place.text) or FRAME.match(h.place.text)) for h in finding.hits
    )
