"""The parts of a fix, decided here for every face: what can be pasted, and the notes that stand with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from doctor.base.shell import setting
from doctor.base.words import named, word
from doctor.render.document import Bullet, Code, Command, Fix, FixPart, Reference
from parsers.lazy import lazy

Json = dict[str, Any]
_ALTERNATIVE = lazy(r"^(?:Or,? |或者?[，,]?)")


def fixes(found: Iterable[Json], lang: str) -> tuple[Fix, ...]:
    """Fixes in the order in which to try them; the first that changes something is no alternative to another one."""
    made = [_fix(fix, lang) for fix in found]
    locate = named("goal", "locate", lang)
    first = next((n for n, fix in enumerate(made) if fix.goal != locate), None)
    return tuple(alone(fix) if n == first else fix for n, fix in enumerate(made))


def alone(fix: Fix) -> Fix:
    """A fix as it is told where none stands before it: "Or use X" is "Use X"."""
    title = _ALTERNATIVE.sub("", fix.title)
    return fix if title == fix.title or not title else fix._replace(title=title[:1].upper() + title[1:])


def _fix(fix: Json, lang: str) -> Fix:
    risk = fix.get("risk") or "low"
    told = f"{word('risk', lang)}{word('colon', lang)}{named('risk', risk, lang)}"
    notes = (told,) if risk != "low" else ()
    steps: list[FixPart] = [Bullet(step[lang]) for step in fix.get("steps", ())]
    for env in fix["env"]:
        steps += _setting(env, lang)
    steps += [_command(command, lang) for command in fix["commands"]]
    goal = named("goal", fix["goal"], lang)
    aside = f"[{goal}{word('semicolon', lang)}{told}]"
    return Fix(goal, fix["title"][lang], notes, (*steps, *_code(fix.get("code"), lang)), aside)


def _setting(env: Json, lang: str) -> tuple[Command, Command]:
    """A variable to set, and how to take that back."""
    wide = env["scope"] not in ("", "process")  # that of the process is what a reader takes for granted
    notes = [f"{word('scope', lang)}: {named('scope', env['scope'], lang)}"] if wide else []
    if env["caution"]:
        notes.append(_line(env["caution"][lang]))
    return Command(setting(env["name"], env["value"]), tuple(notes)), Command(env["undo"], (), True)


def _command(command: Json, lang: str) -> Command:
    notes = [_line(command["why"][lang])] if command["why"] else []
    if command["changes"]:
        notes.append(f"{word('changes', lang)}: {_line(command['changes'][lang])}")
    return Command(command["run"], tuple(notes), looks=not command["changes"])


def _code(code: Json | None, lang: str) -> tuple[Code, ...]:
    if not code:
        return ()
    after = Code(code["after"].rstrip(), code["lang"])
    if not code["before"].strip():
        return (after,)
    before = Code(code["before"].rstrip(), code["lang"], word("before", lang), True)
    return before, after._replace(note=word("after", lang))


def _line(text: str) -> str:
    """A note stands behind a `#`: a second line of it would be taken for a command."""
    return " ".join(text.split("\n"))


def references(found: Iterable[Mapping[str, Any]], page: str = "", code: str = "") -> tuple[Reference, ...]:
    """What it rests on; before it the page of the reader's own site, where there is one."""
    own = (Reference(f"npu-doctor {code}", page),) if page else ()
    return (*own, *(Reference(str(r.get("title") or ""), str(r.get("url") or "")) for r in found))
