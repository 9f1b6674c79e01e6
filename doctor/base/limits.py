"""Bounds that somebody may have a reason to move: environment variables, each with the constant that holds without it.

A bound that is reached says which variable moves it. BOUNDS.md beside this file names them all.
"""

from __future__ import annotations

import os

FILES = "NPU_DOCTOR_MAX_FILES"
MEMBERS = "NPU_DOCTOR_MAX_MEMBERS"
DEPTH = "NPU_DOCTOR_MAX_DEPTH"
RATIO = "NPU_DOCTOR_MAX_RATIO"
UNPACKED = "NPU_DOCTOR_MAX_UNPACKED"
FINDINGS = "NPU_DOCTOR_MAX_FINDINGS"
UNEXPLAINED = "NPU_DOCTOR_MAX_UNEXPLAINED"
EVIDENCE = "NPU_DOCTOR_MAX_EVIDENCE"
SKIPPED = "NPU_DOCTOR_MAX_SKIPPED"
ALL = (FILES, MEMBERS, DEPTH, RATIO, UNPACKED, FINDINGS, UNEXPLAINED, EVIDENCE, SKIPPED)
_DIGITS = 15


def limit(variable: str, default: int) -> int:
    """What the user has set, else the default."""
    written = os.environ.get(variable, "").strip()
    if not written:
        return default
    if not (written.isascii() and written.isdigit() and len(written) <= _DIGITS and int(written)):
        from doctor.base.errors import UsageError

        raise UsageError(f"{variable}={written[:40]} is no bound", "give a whole number from 1, or unset it")
    return int(written)


def check() -> None:
    """A slip is told before anything is read, not as the fault of some file."""
    for variable in ALL:
        limit(variable, 1)
