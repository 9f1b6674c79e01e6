"""`npu-doctor bundle`: a small archive of the evidence to pass on. Redacted unless told otherwise."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from doctor.answer.redact import redactor
from doctor.answer.report import report
from doctor.base import exits, interrupts, notation, output
from doctor.base.errors import UsageError
from doctor.base.words import word
from doctor.commands import common, reading
from doctor.render.compose import files
from kb.knowledge import Knowledge

Json = dict[str, Any]
USUAL, LARGEST = 5.0, 200.0  # MiB


def arguments() -> common.Parser:
    made = common.parser(
        "bundle",
        "Write a small archive to pass on: the lines around the evidence, beginnings and ends of the logs, the report, the machine, and a list "
        "of what is in it. It scans to the same diagnosis. Addresses, hosts, users, tokens and serial numbers are replaced by pseudonyms.",
    )
    made.add_argument("paths", nargs="*", metavar="PATH", help="logs as for npu-doctor scan, or - for standard input")
    made.add_argument("-o", "--output", metavar="FILE", required=True, help="the archive, such as case.tar.gz")
    made.add_argument("--limit", type=float, default=USUAL, metavar="MIB", help=f"how large it may be (default: {USUAL:g})")
    made.add_argument("--no-env", action="store_true", help="leave the machine out")
    reading.options_to_pass_on(made)
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    common.check_redaction(args)
    if not args.output.endswith((".tar.gz", ".tgz")):
        raise UsageError(f"'{args.output}' names no .tar.gz", "npu-doctor bundle LOGS -o case.tar.gz")
    if not 0.01 <= args.limit <= LARGEST:
        raise UsageError(f"--limit {args.limit:g} is no size", f"give 0.01 to {LARGEST:g} MiB")
    known = common.knowledge(args)
    looked = reading.look_to_pass_on(args, known)
    diagnosis, sources = looked.diagnosis, looked.sources
    if not diagnosis.harvest.files:
        raise UsageError("nothing was read: there is no evidence to put together", "npu-doctor bundle LOGS -o case.tar.gz", exits.INCONCLUSIVE)
    from doctor.bundle.evidence_bundle import TooLargeError, bundle

    using = None if args.no_redact else redactor(diagnosis, known, own=args.redact_words)

    def hide(value: Json) -> Json:
        if using is None:
            return value
        made: Json = using.report(value)
        made["report"]["redacted"] = using.told
        return made

    try:
        made = bundle(diagnosis, report(diagnosis, known), _machine(args, known), sources, known, hide, int(args.limit * (1 << 20)))
    except TooLargeError as error:
        raise UsageError(f"the evidence alone has {notation.size(error.size)}", f"--limit {error.size / (1 << 20) + 0.1:.1f}, or fewer logs") from error
    looked.close()
    _write(args, made.data)
    if using is not None and args.redact_map:
        common.write(using.map_text(), args.redact_map, private=True)
    _narrate(args, made.contents, len(made.data), made.same)
    return exits.INTERRUPTED if interrupts.heard() else exits.CLEAN


def _write(args: argparse.Namespace, data: bytes) -> None:
    try:
        output.put(Path(args.output), data)
    except OSError as error:
        raise UsageError(f"cannot write {args.output}: {error.strerror}", "choose another place with -o FILE") from error


def _machine(args: argparse.Namespace, known: Knowledge) -> Json | None:
    """This machine, when there is anything of Ascend on it."""
    if args.no_env:
        return None
    from doctor.env import private, verdict
    from doctor.env import report as reports
    from doctor.env.look_at import Asked, machine

    looked = machine(Asked(), known)
    if not reports.is_ascend(looked):
        return None
    made = reports.report(looked, known, verdict.results(looked, known.checks()))
    return made if args.no_redact else private.redacted(made, known, args.redact_words)[0]


def _narrate(args: argparse.Namespace, contents: Json, size: int, same: bool) -> None:
    """What is in it, for whoever has to read it before it is sent."""
    language = common.language(args)
    sys.stdout.write("".join(word("bundle.file", language, name=one["file"], size=notation.size(one["bytes"])) + "\n" for one in contents["files"]))
    told = word("bundle.wrote", language, path=args.output, files=files(len(contents["files"]), language), size=notation.size(size))
    sys.stderr.write(f"npu-doctor: {told}\n")
    sys.stderr.write(f"npu-doctor: {word('bundle.same' if same else 'bundle.other', language)}\n")
    sys.stderr.write(f"npu-doctor: {word('brief.plain' if args.no_redact else 'bundle.read', language)}\n")
