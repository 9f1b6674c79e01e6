"""The fixes of a report as a script for bash, to be read by a person before a step of it is run.

Started without a number it only tells what its steps are. A step looks, or sets variables for what the script starts: when
the script ends, all is as it was. Whatever installs, deletes, stops, resets or cannot be taken back is a comment, and a step
in which a word is still to be filled in refuses.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

from doctor.base import notation
from doctor.base.shell import setting
from doctor.base.words import named, word
from doctor.render import parts
from doctor.render.harmless import looks_only, sets_only, to_fill_in
from parsers.named import NamedTuple

Json = dict[str, Any]


class Script(NamedTuple):
    """The text, how many steps it can run, and how many are for the reader's own hand."""

    text: str
    steps: int
    by_hand: int


class _Step(NamedTuple):
    """What one step says before it runs, what it runs, and what in that is still to be filled in."""

    title: str
    told: tuple[str, ...]
    runs: tuple[str, ...]
    needs: tuple[str, ...]
    sets: tuple[str, ...]  # variables: what they are at present is told beside


class _Hand(NamedTuple):
    """What is only written down: why it is not run, what to know, the lines."""

    title: str
    told: tuple[str, ...]
    lines: tuple[str, ...]


def script(report: Json, lang: str) -> Script:
    """All fixes of the roots, in the order in which to try them."""
    made = _Maker(lang)
    for found in parts.roots(report):
        first = found.get("first_fix") or 0
        fixes = found["fixes"]
        for fix in (*fixes[first : first + 1], *fixes[:first], *fixes[first + 1 :]):
            made.take(fix, found["id"])
    steps, hands = tuple(made.steps), tuple(made.hands)
    return Script("".join(f"{row}\n" for row in _text(report, steps, hands, lang)), len(steps), len(hands))


class _Maker:
    """Sorts the parts of fixes: what a step may run, and what is for a person."""

    def __init__(self, lang: str) -> None:
        self.lang = lang
        self.steps: list[_Step] = []
        self.hands: list[_Hand] = []

    def take(self, fix: Json, code: str) -> None:
        lang, risk = self.lang, fix.get("risk") or "low"
        aside = f"[{code}{word('semicolon', lang)}{named('goal', fix['goal'], lang)}{word('semicolon', lang)}{self._pair('risk', named('risk', risk, lang))}]"
        title = f"{_line(fix['title'][lang])} {aside}"
        told, runs, sets = [], [], []
        for env in fix["env"]:
            line = setting(env["name"], env["value"])
            if risk != "low" or "\n" in line or not sets_only(line):
                self.hands.append(_Hand(title, (*self._why(risk), *self._caution(env), self._pair("undo", env["undo"])), (line,)))
                continue
            told += [f"$ {line}", *self._caution(env), self._pair("undo", f"{env['undo']} {word('script.ends', lang)}"), *_elsewhere(env)]
            runs.append(line)
            sets.append(env["name"])
        for command in fix["commands"]:
            about = [_line(command["why"][lang])] if command["why"] else []
            changes = _line(command["changes"][lang]) if command["changes"] else ""
            run = command["run"]
            shown = [f"$ {row}" for row in run.split("\n")]
            if not changes and (looks_only(run) or sets_only(run)):
                told += [*shown, *about, self._pair("changes", word("script.nothing", lang))]
            elif changes and risk == "low" and sets_only(run):
                told += [*shown, *about, self._pair("changes", changes), self._pair("undo", word("script.ends", lang))]
            else:
                self.hands.append(_Hand(title, (*self._why(risk), *about, self._pair("changes", changes or word("script.unsure", lang))), tuple(run.split("\n"))))
                continue
            runs.append(run)
        if runs:
            self.steps.append(_Step(title, tuple(told), tuple(runs), to_fill_in("\n".join(runs)), tuple(sets)))
        if fix.get("code") or (not runs and not fix["env"] and not fix["commands"]):
            lines = [_line(step[lang]) for step in fix.get("steps", ())] + (fix["code"]["after"].rstrip().split("\n") if fix.get("code") else [])
            self.hands.append(_Hand(title, (), tuple(lines)))

    def _pair(self, name: str, text: str) -> str:
        return f"{word(name, self.lang)}{word('colon', self.lang)}{text}"

    def _caution(self, env: Json) -> list[str]:
        return [self._pair("caution", _line(env["caution"][self.lang]))] if env["caution"] else []

    def _why(self, risk: str) -> tuple[str, ...]:
        return (word("script.risky", self.lang, risk=named("risk", risk, self.lang)),) if risk != "low" else ()


_BREAKS = re.compile("[\\x00-\\x1f\\x7f\\x85\\u2028\\u2029]")


def _elsewhere(env: Json) -> tuple[str, str]:
    """The same setting where processes run in containers: an option of docker, a row of a pod's `env:`."""
    value = env["value"]
    plain = value if "$" in value else "".join(shlex.split(value)) if value.count("'") % 2 == 0 else value
    return f"docker run -e {env['name']}={value} ...", f"kubernetes: env: [{{name: {env['name']}, value: {json.dumps(plain)}}}]"


def _line(text: str) -> str:
    return " ".join(text.split())


def _text(report: Json, steps: tuple[_Step, ...], hands: tuple[_Hand, ...], lang: str) -> Iterator[str]:
    yield "#!/usr/bin/env bash"
    for row in word("script.head", lang, version=report["tool"]["version"]).split("\n"):
        yield f"# {row}".rstrip()
    yield "#"
    for found in parts.roots(report):
        first = found["evidence"][0]
        yield _comment(f"{word(found['severity'], lang)} {found['id']} {found['title'][lang]} ({notation.share(found['confidence'])})")
        yield _comment(f"    {notation.place(first['path'], first['line'])}")
    for number, step in enumerate(steps, 1):
        yield from ("", f"tell_{number}() {{")
        yield f"    say {shlex.quote(f'{number}. {step.title}')}"
        yield from (f"    say {shlex.quote('     ' + told)}" for told in step.told)
        yield from (f"    now {name}" for name in step.sets)
        yield "}"
        yield f"run_{number}() {{"
        yield from (line for run in step.runs for line in run.split("\n"))
        yield "}"
        if step.needs:
            yield f"needs[{number}]={shlex.quote(' '.join(step.needs))}"
    if hands:
        yield from ("", *(f"# {row}" for row in word("script.by-hand", lang).split("\n")))
    for hand in hands:
        yield from ("#", _comment(f"- {hand.title}"), *(_comment(f"  {told}") for told in hand.told), *(_comment(f"    {line}") for line in hand.lines))
    yield ""
    yield from _main(len(steps), len(hands), lang)


def _comment(text: str) -> str:
    """Text of a log or of an entry behind a `#`: it stays on its line."""
    return "# " + _BREAKS.sub(" ", text).rstrip()


def _main(steps: int, hands: int, lang: str) -> Iterator[str]:
    """The same in every script: tell the steps, or run those that are named once nothing in them is left to fill in."""
    def quoted(name: str, **values: object) -> str:
        return shlex.quote(word(f"script.{name}", lang, **values))

    yield f"steps={steps}"
    yield "say() { printf '%s\\n' \"$*\"; }"
    yield "now() {  # what a variable is here already: the step overrides it, or it is so by now"
    yield f"    [ -z \"${{!1+x}}\" ] || say \"     \"{quoted('set')}\" $1=${{!1}}\""
    yield "}"
    yield "fail() { say \"$0: $*\" >&2; exit 2; }"
    yield "left() {  # which of the words to fill in still stand in the lines of a step"
    yield "    for word in ${needs[$1]-}; do declare -f \"run_$1\" | grep -qwF -- \"$word\" && printf ' %s' \"$word\"; done"
    yield "}"
    yield f"tell() {{ \"tell_$1\"; [ -z \"$(left \"$1\")\" ] || say \"     \"{quoted('put-in')}\"$(left \"$1\")\"; }}"
    yield ""
    yield "if [ $# -eq 0 ]; then"
    yield "    for ((n = 1; n <= steps; n++)); do tell \"$n\"; say; done"
    yield f"    say {quoted('usage')}"
    if hands:
        yield f"    say {quoted('hands', n=hands)}"
    yield "    exit 0"
    yield "fi"
    yield "chosen=()"
    yield "while [ $# -gt 0 ] && [ \"$1\" != -- ]; do"
    yield f"    [[ $1 =~ ^[0-9]{{1,4}}$ ]] && [ \"$1\" -ge 1 ] && [ \"$1\" -le \"$steps\" ] || fail {quoted('no-step', n=steps)}\": $1\""
    yield "    chosen+=(\"$1\"); shift"
    yield "done"
    yield "[ \"${1-}\" = -- ] && shift"
    yield "for n in \"${chosen[@]}\"; do"
    yield f"    [ -z \"$(left \"$n\")\" ] || fail {quoted('refused')}\" $n: \"{quoted('put-in')}\"$(left \"$n\")\""
    yield "done"
    yield "for n in \"${chosen[@]}\"; do tell \"$n\"; \"run_$n\"; say; done"
    yield "[ $# -eq 0 ] || exec \"$@\""
