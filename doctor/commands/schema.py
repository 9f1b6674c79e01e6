"""`npu-doctor schema`: the JSON Schemas that this program keeps."""

from __future__ import annotations

import sys
from pathlib import Path

from doctor import answer
from doctor.commands import common
from doctor.version import __version__


def arguments() -> common.Parser:
    made = common.parser("schema", "Print a JSON Schema, of the report (scan -f json) or of a knowledge entry; or all commands and their options as JSON.")
    made.add_argument("what", nargs="?", choices=("report", "entry", "commands"), default="report")
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    import json

    if args.what == "commands":
        from doctor.commands import shells

        told = [shells.data(one) for one in shells.commands(common.language(args))]
        sys.stdout.write(json.dumps({"tool": "npu-doctor", "version": __version__, "commands": told}, ensure_ascii=False, indent=1) + "\n")
        return 0
    if args.what == "entry":

        from kb.schema import entry_schema

        sys.stdout.write(json.dumps(entry_schema(), indent=1) + "\n")
        return 0
    sys.stdout.write((Path(answer.__file__).parent / "report.schema.json").read_text())
    return 0
