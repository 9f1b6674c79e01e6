"""What several commands share: the parser's habits, languages, loading knowledge, writing out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from doctor.base import lang
from doctor.base.errors import UsageError
from doctor.base.notation import clean
from doctor.base.output import write as write
from doctor.base.words import word
from kb.knowledge import Knowledge, load


class Parser(argparse.ArgumentParser):
    """argparse whose errors are ours: what is wrong and where the help is, exit code 2."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, f"{self.prog} --help")


def parser(name: str, about: str, **more: Any) -> Parser:
    made = Parser(
        prog=f"npu-doctor {name}",
        description=about,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        **more,
    )
    made.add_argument(
        "--lang", choices=("en", "zh"), help="language of the answer (default: NPU_DOCTOR_LANG, then the locale)"
    )
    made.add_argument(
        "--kb", action="append", default=[], metavar="DIR", help="a further folder of knowledge entries (repeatable)"
    )
    return made


def redact_words_option(made: Parser) -> None:
    """The same for every command that redacts: the file is read, or refused, before anything else is done."""
    from doctor.answer.redact_words import own_words

    made.add_argument(
        "--redact-words", metavar="FILE", type=own_words, default=(),
        help="words of your own to redact wherever they stand, one a line (names of projects, customers, models)",
    )  # fmt: skip


def knowledge(args: argparse.Namespace) -> Knowledge:
    """The knowledge in use; faults of users' entries are told on stderr, once, and the rest is used."""
    known = load(tuple(args.kb))
    for folder, how in known.untrusted:
        sys.stderr.write(f"npu-doctor: {word(f'kb.{how}', language(args), folder=clean(str(folder)))}\n")
    for problem in known.problems:
        sys.stderr.write("\n".join(clean(row) for row in str(problem).split("\n")) + "\n")
    if known.problems:
        sys.stderr.write(
            "npu-doctor: these entries were skipped; the others are in use (npu-doctor kb check DIR tells more)\n"
        )
    return known


def language(args: argparse.Namespace) -> str:
    return lang.choose(args.lang)


def format_of(asked: str | None, target: str | None, known: Sequence[str], default: str = "text") -> str:
    """-f, else the suffix of -o, else text."""
    if asked:
        return asked
    suffix = Path(target).suffix.lstrip(".").lower() if target else ""
    suffix = {"markdown": "md", "txt": "text", "htm": "html", "xml": "junit"}.get(suffix, suffix)
    return suffix if suffix in known else default
