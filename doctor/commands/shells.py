"""What shells and manual pages say of the command line: read from the parsers, written in each one's own form."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

from doctor.base.words import word
from doctor.base.words.told import told
from doctor.commands.table import COMMANDS
from doctor.version import __version__
from parsers.named import NamedTuple


class Option(NamedTuple):
    """An option: how it is written, what it does, what may follow it."""

    flags: tuple[str, ...]
    help: str
    value: str  # what stands for its value in the help; empty when none follows
    choices: tuple[str, ...]

    @property
    def file(self) -> bool:
        return self.value in ("FILE", "DIR", "PATH")


class Command(NamedTuple):
    """A command: what it does, its options, what else it takes, and commands beneath it."""

    name: str
    help: str
    about: str
    options: tuple[Option, ...]
    words: tuple[str, ...]  # values that its argument may have
    files: bool
    beneath: tuple[Command, ...]


def commands(language: str) -> tuple[Command, ...]:
    """All commands, as their parsers know them."""
    return tuple(
        _command(name, word(f"cli.command:{name}", language), import_module(module).arguments(), language)
        for name, module in COMMANDS.items()
    )


def _command(name: str, help_: str, parser: argparse.ArgumentParser, language: str) -> Command:
    options: list[Option] = []
    words: tuple[str, ...] = ()
    files = False
    beneath: tuple[Command, ...] = ()
    for action in parser._actions:
        choices = tuple(map(str, action.choices)) if action.choices is not None else ()
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            beneath = tuple(_command(n, told(helps.get(n, ""), language), p, language) for n, p in action.choices.items())
        elif action.option_strings:
            value = "" if action.nargs == 0 else str(action.metavar or action.dest.upper())
            options.append(Option(tuple(action.option_strings), told(action.help or "", language), value, choices))
        else:
            words += choices
            files = files or str(action.metavar or "").startswith(("PATH", "FILE", "CSV"))
    return Command(name, help_, told(parser.description or "", language), tuple(options), words, files, beneath)


def data(command: Command) -> dict[str, Any]:
    """A command as plain data, for programs that call this one."""
    return {
        "name": command.name, "help": command.help, "about": command.about,
        "options": [{**option._asdict(), "flags": list(option.flags), "choices": list(option.choices)} for option in command.options],
        "words": list(command.words), "files": command.files, "commands": [data(one) for one in command.beneath],
    }  # fmt: skip


def _flags(command: Command) -> str:
    return " ".join(flag for option in command.options for flag in option.flags)


def _all(found: Iterable[Command], before: str = "") -> Iterator[tuple[str, Command]]:
    """Commands and those beneath them, with the words that lead there."""
    for command in found:
        path = f"{before} {command.name}".strip()
        yield path, command
        yield from _all(command.beneath, path)


def bash(found: tuple[Command, ...], _: str) -> str:
    """One function: options and values by the words before the cursor, files otherwise."""
    cases, values = [], []
    for path, command in _all(found):
        words = " ".join([*(c.name for c in command.beneath), *command.words])
        cases.append(f'    "{path}") opts="{_flags(command)}" words="{words}" ;;')
        values += [f'    "{path} {flag}") words="{" ".join(o.choices)}"; opts="" ;;' for o in command.options if o.choices for flag in o.flags]
    names = " ".join(c.name for c in found)
    table = "\n".join(cases)
    chosen = "\n".join(values)
    return f"""# npu-doctor completion bash
_npu_doctor() {{
  local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}" path="" opts="" words="" i w
  for ((i = 1; i < COMP_CWORD; i++)); do
    w="${{COMP_WORDS[i]}}"
    case "$w" in -*) ;; *) if [ -z "$path" ]; then path="$w"; elif [ "$path" = kb ]; then path="kb $w"; break; else break; fi ;; esac
  done
  if [ -z "$path" ]; then
    COMPREPLY=($(compgen -W "{names} version help --lang --help --version" -- "$cur") $(compgen -f -- "$cur"))
    return
  fi
  case "$path" in
{table}
  esac
  case "$path $prev" in
{chosen}
  esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$opts" -- "$cur")) ;;
    *) if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$cur")); else COMPREPLY=($(compgen -f -- "$cur")); fi ;;
  esac
}}
complete -o filenames -F _npu_doctor npu-doctor
"""


def _zsh_text(text: str) -> str:
    return re.sub(r"([\[\]:'\\])", r"\\\1", text.split("\n")[0]).replace("\\'", "'\\''")


def _zsh_options(command: Command) -> Iterator[str]:
    for option in command.options:
        for flag in option.flags:
            value = ""
            if option.choices:
                value = f":value:({' '.join(option.choices)})"
            elif option.value:
                value = f":{_zsh_text(option.value)}:{'_files' if option.file else ' '}"
            yield f"      '{flag}[{_zsh_text(option.help)}]{value}'"
    if command.words:
        yield f"      '*: :({' '.join(command.words)})'"
    elif command.beneath:
        yield f"      '1: :({' '.join(c.name for c in command.beneath)})' '*: :_files'"
    else:
        yield "      '*: :_files'"


def zsh(found: tuple[Command, ...], _: str) -> str:
    """Commands with what they do, then each one's options."""
    names = "\n".join(f"    '{c.name}:{_zsh_text(c.help)}'" for c in found)
    cases = "\n".join(f"    {c.name}) _arguments -s \\\n" + " \\\n".join(_zsh_options(c)) + " ;;" for c in found)
    return f"""#compdef npu-doctor
_npu_doctor() {{
  local -a commands
  commands=(
{names}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    _files
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{cases}
    *) _files ;;
  esac
}}
if [ "$funcstack[1]" = "_npu_doctor" ]; then _npu_doctor "$@"; else compdef _npu_doctor npu-doctor; fi
"""


def _quoted(text: str) -> str:
    return "'" + text.split("\n")[0].replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish(found: tuple[Command, ...], _: str) -> str:
    """A line a command and a line an option."""
    rows = ["# npu-doctor completion fish"]
    rows += [f"complete -c npu-doctor -n __fish_use_subcommand -a {c.name} -d {_quoted(c.help)}" for c in found]
    for path, command in _all(found):
        seen = "; and ".join(f"__fish_seen_subcommand_from {name}" for name in path.split())
        rows += [f"complete -c npu-doctor -n '{seen}' -a {b.name} -d {_quoted(b.help)}" for b in command.beneath]
        rows += [f"complete -c npu-doctor -n '{seen}' -f -a '{' '.join(command.words)}'"] if command.words else []
        for option in command.options:
            flags = " ".join(f"-l {f[2:]}" if f.startswith("--") else f"-s {f[1:]}" for f in option.flags)
            value = f" -x -a '{' '.join(option.choices)}'" if option.choices else " -r" if option.value else ""
            rows.append(f"complete -c npu-doctor -n '{seen}' {flags}{value} -d {_quoted(option.help)}")
    return "\n".join(rows) + "\n"


def _roff(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(f"\\&{row}" if row[:1] in (".", "'") else row for row in text.split("\n"))


_COLUMNS = 66  # of a paragraph of the Chinese page


def _paragraph(text: str, language: str) -> str:
    """groff fills the English page. Chinese lines it may fill for ever (1.22 finds no place to break, and tries again): they come filled."""
    if language == "en":
        return _roff(text)
    from doctor.render.layout import wrap

    return "\n.br\n".join(_roff(row) for row in wrap(text.replace("\n", ""), _COLUMNS))


def man(found: tuple[Command, ...], language: str) -> str:
    """A manual page, section 1."""
    names = {name: word(f"cli.man:{name}", language) for name in ("name", "synopsis", "commands", "exits")}
    rows = [
        f'.TH NPU-DOCTOR 1 "" "npu-doctor {__version__}"', ".ad l", ".nh", f".SH {names['name']}", f"npu\\-doctor \\- {_roff(word('cli.about', language))}",
        f".SH {names['synopsis']}", f".nf\n{_roff(word('cli.usage', language))}\n{_roff(word('cli.piped', language))}\n.fi", f".SH {names['commands']}",
    ]  # fmt: skip
    for path, command in _all(found):
        rows += [f".SS {_roff(path)}", _paragraph(command.about or command.help, language)]
        for option in command.options:
            value = f" {option.value}" if option.value and not option.choices else f" {'|'.join(option.choices)}" if option.choices else ""
            rows += [".TP", f".B {_roff(', '.join(option.flags))}{_roff(value)}".replace("|", "|\\:"), _paragraph(option.help, language) or "\\&"]
    return "\n".join([*rows, f".SH {names['exits']}", _paragraph(word("cli.exits", language), language)]) + "\n"


SCRIPTS: dict[str, Callable[[tuple[Command, ...], str], str]] = {"bash": bash, "zsh": zsh, "fish": fish, "man": man}

Places = tuple[tuple[str, str, str], ...]
"""What prints it, its language, its place beneath a prefix."""
PLACES: Places = (
    ("bash", "en", "share/bash-completion/completions/npu-doctor"),
    ("man", "en", "share/man/man1/npu-doctor.1"),
    ("man", "zh", "share/man/zh_CN/man1/npu-doctor.1"),
)
# In a virtual environment zsh and fish look for nothing: only the packages of a system bring theirs.
OF_A_SYSTEM: Places = (*PLACES, ("zsh", "en", "share/zsh/site-functions/_npu-doctor"), ("fish", "en", "share/fish/vendor_completions.d/npu-doctor.fish"))


def installed(places: Places = PLACES) -> dict[str, str]:
    """What is installed beside the program: a place and its text. Needs the standard library alone, for it is asked while a wheel is built."""
    return {place: SCRIPTS[what](commands(language), language) for what, language, place in places}
