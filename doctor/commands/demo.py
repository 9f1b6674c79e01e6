"""`npu-doctor demo`: the bundled logs of an 8-rank job, a traceback and an npu-smi table, diagnosed for real."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import kb
from doctor.commands import common, scan
from kb.in_use import cache_folder
from kb.pack import write_atomically


def demo_logs() -> Path:
    """Where the logs lie: in a checkout among the knowledge; what is installed keeps them in one archive, for small files make a large wheel."""
    here = Path(kb.__file__).parent
    folder, packed = here / "demo", here / "_compiled" / "demo.tar"
    return folder if folder.is_dir() else unpacked(packed, cache_folder()) or packed


def unpacked(packed: Path, cache: Path | None) -> Path | None:
    """The logs as files that stay, to be looked at; None where nothing can be written: an archive is read as well."""
    if cache is None:
        return None
    import tarfile

    with tarfile.open(packed) as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content is not None and not write_atomically(cache / "demo" / member.name, content.read()):
                return None
    return cache / "demo"


def arguments() -> common.Parser:
    made = scan.arguments()
    made.prog = "npu-doctor demo"
    made.description = "Diagnose the bundled logs of a failed job of 8 ranks; takes the options of npu-doctor scan."
    return made


def main(argv: list[str]) -> int:
    if any(a in ("-h", "--help") for a in argv):
        arguments().parse_args(argv)
    logs = demo_logs()
    told = os.path.relpath(logs)
    if told.startswith(".."):
        told = str(logs)
    sys.stderr.write(f"$ npu-doctor scan {told}\n")
    return scan.main([*argv, told])
