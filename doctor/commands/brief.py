"""`npu-doctor brief`: the diagnosis in so many tokens, for whoever cannot read the logs. Redacted unless told otherwise."""

from __future__ import annotations

import sys

from doctor.answer.quotes import cited
from doctor.answer.redact import redactor
from doctor.answer.report import report
from doctor.base import exits, interrupts
from doctor.base.errors import UsageError
from doctor.base.words import word
from doctor.commands import common, reading
from doctor.commands.reporting import Json
from doctor.render import brief


def arguments() -> common.Parser:
    made = common.parser(
        "brief",
        "The diagnosis in so many tokens, for an assistant that cannot read the logs: verdict, the line that decides with its place, "
        "what to do, what is not known. Addresses, hosts, users, tokens and serial numbers are replaced by pseudonyms.",
    )
    made.add_argument("paths", nargs="*", metavar="PATH", help="logs as for npu-doctor scan, or - for standard input")
    made.add_argument(
        "--budget", type=int, default=brief.USUAL, metavar="TOKENS",
        help=f"how many tokens it may take, by a careful estimate (default: {brief.USUAL})",
    )  # fmt: skip
    made.add_argument("-o", "--output", metavar="FILE", help="write the brief to a file instead of standard output")
    reading.options_to_pass_on(made)
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    if args.budget < brief.SMALLEST:
        raise UsageError(f"--budget {args.budget} is too small", f"give {brief.SMALLEST} tokens or more")
    if args.budget > brief.LARGEST:
        raise UsageError(f"--budget {args.budget} is too large", f"give {brief.LARGEST} tokens or fewer; npu-doctor scan -f md tells everything")
    common.check_redaction(args)
    known = common.knowledge(args)
    looked = reading.look_to_pass_on(args, known)
    diagnosis, sources = looked.diagnosis, looked.sources
    made = cited(report(diagnosis, known), sources)
    looked.close()
    if not args.no_redact:
        using = redactor(diagnosis, known, own=args.redact_words)
        made = using.report(made)
        made["redacted"] = using.told
        if args.redact_map:
            common.write(using.map_text(), args.redact_map, private=True)
    language = common.language(args)
    common.write(brief.render(made, language, args.budget), args.output)
    _narrate(made, language)
    if interrupts.heard():
        return exits.INTERRUPTED
    return exits.CLEAN if made["stats"]["files"] else exits.INCONCLUSIVE


def _narrate(made: Json, language: str) -> None:
    if "redacted" in made:
        counts = ", ".join(f"{n} {kind}" for kind, n in made["redacted"]["values"].items()) or "0"
        sys.stderr.write(f"npu-doctor: {word('brief.redacted', language, counts=counts)}\n")
    else:
        sys.stderr.write(f"npu-doctor: {word('brief.plain', language)}\n")
