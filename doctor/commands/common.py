"""What several commands share: the parser's habits, languages, loading knowledge, writing out."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from doctor.base import lang
from doctor.base.errors import UsageError
from doctor.base.notation import clean
from doctor.base.output import write as write
from doctor.base.words import word
from doctor.base.words.told import told
from kb.knowledge import Knowledge, load

if TYPE_CHECKING:
    from doctor.render.layout import Style


class Parser(argparse.ArgumentParser):
    """argparse whose errors are ours: what is wrong and where the help is, exit code 2; help in the reader's language."""

    language = "en"

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self.language = lang.choose(lang.asked(args or ()))
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, self._meant(message) or f"{self.prog} --help")

    def _meant(self, message: str) -> str:
        """The option that is spelt like one that does not exist."""
        import difflib

        unknown = message.removeprefix("unrecognized arguments: ").split()[:1] if "unrecognized" in message else []
        options = [o for action in self._actions for o in action.option_strings if o.startswith("--")]
        near = difflib.get_close_matches(unknown[0].partition("=")[0], options, n=1, cutoff=0.7) if unknown else []
        return f"did you mean {near[0]}?" if near else ""

    def format_help(self) -> str:
        """argparse's help, its texts in the language of the call."""
        made = self._get_formatter()
        made.add_usage(self.usage, self._actions, self._mutually_exclusive_groups, told("usage: ", self.language))
        made.add_text(_filled(told(self.description or "", self.language), made._width))
        for group in self._action_groups:
            made.start_section(told(group.title or "", self.language))
            made.add_arguments([self._spoken(action) for action in group._group_actions])
            made.end_section()
        return made.format_help()

    def _spoken(self, action: argparse.Action) -> argparse.Action:
        if isinstance(action, argparse._SubParsersAction):
            for choice in action._choices_actions:
                choice.help = told(choice.help or "", self.language)
        if action.help and action.help != argparse.SUPPRESS:
            action.help = told(action.help, self.language)
        return action


def _filled(text: str, width: int) -> str:
    """Paragraphs as wide as the terminal, Chinese ones as well; what is set in, as examples are, stays as it is written."""
    from doctor.render.layout import wrap

    lines: list[str] = []
    for line in text.split("\n"):
        if lines and line.strip() and lines[-1].strip() and not line.startswith(" ") and not lines[-1].startswith(" "):
            lines[-1] += f" {line}" if lines[-1][-1].isascii() else line
        else:
            lines.append(line)
    return "\n".join(piece for line in lines for piece in ([line] if line.startswith(" ") else wrap(line, width)))


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


def redaction_options(made: Parser) -> None:
    """The same for every command that redacts unless it is told otherwise."""
    made.add_argument(
        "--no-redact", action="store_true", help="leave addresses, names and tokens as they stand in the logs"
    )
    made.add_argument(
        "--redact-map", metavar="FILE", help="write into a file of yours alone which pseudonym stands for what"
    )
    redact_words_option(made)


def check_redaction(args: argparse.Namespace) -> None:
    """Refuses options that say the opposite of each other."""
    if args.no_redact and args.redact_map:
        raise UsageError("--redact-map tells the pseudonyms, and --no-redact makes none", "leave one of them out")
    if args.no_redact and args.redact_words:
        raise UsageError("--redact-words tells what to redact, and --no-redact redacts nothing", "leave one of them out")


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


def read_bytes(name: str, most: int) -> bytes:
    """A file that somebody names, whole, when it is not larger than that."""
    try:
        with Path(name).open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise UsageError(f"cannot read '{name}': {error.strerror}", "name a file that you may read") from error
    if len(data) > most:
        raise UsageError(f"'{name}' is larger than {most} bytes", "split it")
    return data


def lines(name: str, help_text: str) -> Iterator[str]:
    """Of a text file that somebody names; `-` is standard input."""
    try:
        with sys.stdin.buffer if name == "-" else open(name, "rb") as stream:
            yield from io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}", help_text) from None


def style(args: argparse.Namespace, target: str | None) -> Style:
    """How a text looks there: as the terminal can show it, and plain in a file."""
    from doctor.render import layout

    return layout.Style() if target and target != "-" else layout.style_of(sys.stdout, args.color)


def language(args: argparse.Namespace) -> str:
    return lang.choose(args.lang)


def format_of(asked: str | None, target: str | None, known: Sequence[str], default: str = "text") -> str:
    """-f, else the suffix of -o, else text."""
    if asked:
        return asked
    suffix = Path(target).suffix.lstrip(".").lower() if target and not target.startswith("/dev/") else ""
    form = _SUFFIXES.get(suffix, suffix)
    if form and form not in known:
        raise UsageError(f"'{target}' names no format of a report", f"suffixes: {', '.join(known)}; or name the format with -f")
    return form or default


_SUFFIXES = {"markdown": "md", "txt": "text", "log": "text", "htm": "html", "xml": "junit"}
