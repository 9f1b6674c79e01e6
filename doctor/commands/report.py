"""`npu-doctor report diff A.json B.json`: two reports of scans, compared."""

from __future__ import annotations

import json

from doctor.base import exits, output
from doctor.baseline import reports
from doctor.commands import common

FORMATS = ("text", "json", "md")


def arguments() -> common.Parser:
    made = common.parser("report", "Compare two reports of npu-doctor scan -f json: what is new, what is gone, what is still there and how it moved.")
    made.add_argument("what", choices=("diff",), metavar="diff", help="compare two reports")
    made.add_argument("before", metavar="BEFORE.json", help="the earlier report")
    made.add_argument("after", metavar="AFTER.json", help="the later one")
    made.add_argument("-f", "--format", choices=FORMATS, help="default: by the suffix of -o, else text")
    made.add_argument("-o", "--output", metavar="FILE")
    made.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    output.spare([args.output], (args.before, args.after))
    before, after = (reports.read(path, common.read_bytes(path, reports.MAX_FILE)) for path in (args.before, args.after))
    found = reports.changes(before, after, (args.before, args.after))
    form = common.format_of(args.format, args.output, FORMATS)
    if form == "json":
        told = json.dumps(reports.as_json(found), ensure_ascii=False, indent=1) + "\n"
    else:
        style = common.style(args, args.output)
        told = reports.text(found, common.language(args), style, form == "md")
    common.write(told, args.output, form=form)
    return exits.FINDINGS if found.differs else exits.CLEAN
