"""`npu-doctor demo`: the bundled logs of an 8-rank job, a traceback and an npu-smi table, diagnosed for real."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import kb
from doctor.commands import scan


def demo_folder() -> Path:
    return Path(kb.__file__).parent / "demo"


def main(argv: list[str]) -> int:
    if argv and argv[0] in ("-h", "--help"):
        sys.stdout.write(
            "usage: npu-doctor demo [scan options]\n\nScans the bundled demo logs; takes the options of npu-doctor scan.\n"
        )
        return 0
    folder = os.path.relpath(demo_folder())
    if folder.startswith(".."):
        folder = str(demo_folder())
    sys.stderr.write(f"npu-doctor: npu-doctor scan {folder}\n")
    return scan.main([*argv, folder])
