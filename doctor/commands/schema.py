"""`npu-doctor schema`: the JSON Schemas that this program keeps."""

from __future__ import annotations

import sys
from pathlib import Path

from doctor import answer
from doctor.commands import common


def arguments() -> common.Parser:
    made = common.parser("schema", "Print a JSON Schema: of the report (scan -f json) or of a knowledge entry.")
    made.add_argument("what", nargs="?", choices=("report", "entry"), default="report")
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    if args.what == "entry":
        import json

        from kb.schema import entry_schema

        sys.stdout.write(json.dumps(entry_schema(), indent=1) + "\n")
        return 0
    sys.stdout.write((Path(answer.__file__).parent / "report.schema.json").read_text())
    return 0
