"""Which of the two languages to speak."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

LANGS = ("en", "zh")


def choose(asked: str | None = None, environ: Mapping[str, str] = os.environ) -> str:
    """--lang, then NPU_DOCTOR_LANG, then the locale; English when nothing speaks for Chinese."""
    for value in (
        asked,
        environ.get("NPU_DOCTOR_LANG"),
        environ.get("LC_ALL"),
        environ.get("LC_MESSAGES"),
        environ.get("LANG"),
    ):
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


def asked(argv: Sequence[str]) -> str | None:
    """What --lang says, wherever it stands: what goes wrong before options are read is told in that language, too."""
    for number, arg in enumerate(argv):
        if arg == "--":
            return None
        if arg == "--lang" and number + 1 < len(argv):
            return argv[number + 1]
        if arg.startswith("--lang="):
            return arg.partition("=")[2]
    return None
