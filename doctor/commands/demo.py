"""`npu-doctor demo`: the bundled logs of an 8-rank job, a traceback and an npu-smi table, diagnosed for real."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import kb
from doctor.commands import common, scan


def demo_folder() -> Path:
    return Path(kb.__file__).parent / "demo"


def arguments() -> common.Parser:
    made = scan.arguments()
    made.prog = "npu-doctor demo"
    made.description = "Diagnose the bundled logs of a failed job of 8 ranks; takes the options of npu-doctor scan."
    return made


def main(argv: list[str]) -> int:
    if any(a in ("-h", "--help") for a in argv):
        arguments().parse_args(argv)
    folder = os.path.relpath(demo_folder())
    if folder.startswith(".."):
        folder = str(demo_folder())
    sys.stderr.write(f"$ npu-doctor scan {folder}\n")
    return scan.main([*argv, folder])
