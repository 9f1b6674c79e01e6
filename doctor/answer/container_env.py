"""A variable of a program that a `docker run` starts: it is handed to the container there, by `-e`; a shell beside it does not reach it."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from doctor.answer.own_command import Own, note
from doctor.base.notation import clean
from doctor.base.words import both
from doctor.findings.started import Started, read
from kb.model import CodeFix, Command, Fix, Text
from parsers.lazy import lazy

Change = tuple[str, str | None]  # a variable, and its value; None takes it back

_SHELLS = frozenset({"bash", "sh", "zsh", "ash", "dash"})
_OF_A_TERMINAL = frozenset({"i", "t", "it", "ti", "itd", "dit", "tid", "idt", "td", "dt", "di", "id", "interactive", "tty"})
# What only keeps a container open, for who works in it.
_HELD_OPEN = lazy(r"(?:\S{0,40}/)?(?:sleep|tail|init|systemd|top|cat|while|trap|jupyter)\b")
_OF_NPUS = lazy(r"(?i)/dev/davinci|/usr/local/Ascend|ASCEND_|ascend|\bcann\b|mindie|mindspore|vllm|sglang|--privileged")
_BUILDS = lazy(r"\bpip3? install [^;&|]{0,80}(?:-e |\./|\bgit\+)|\bcmake |\bmake\b|\bbuild\.sh\b|\bsetup\.py ")
_UNSET = lazy(r"unset (?P<name>[A-Z_][A-Z0-9_]*)$")
_EXPORT = lazy(r"export (?P<name>[A-Z_][A-Z0-9_]*)=(?P<value>'[^']*'|\"[^\"$`]*\"|[\w./:,@%+-]+)(?:\s+#.*)?$")  # of one variable, whatever the shell knows


def in_container(fix: Fix, started: Sequence[Started]) -> Fix:
    """The fix with what it sets as a part of the reader's own `docker run`; itself where they type in the container, or none is known."""
    if any(_BUILDS.search(command.run) for command in fix.commands):  # that reads the variable, not the program which is built
        return fix
    changes: list[Change] = [(env.name, env.value.strip("'\"")) for env in fix.env if "$" not in env.value and "`" not in env.value]
    rest = [env for env in fix.env if "$" in env.value or "`" in env.value]
    if changes and (theirs := _changed(started, changes)) is not None:
        cautions = [env.caution for env in fix.env if env not in rest and env.caution is not None]
        why = theirs.note if not cautions else theirs.note.then(cautions[0])
        fix = fix._replace(env=tuple(rest), commands=(_anew(theirs, why), *fix.commands))
    fix = fix._replace(commands=tuple(_commanded(command, started) for command in fix.commands))
    return _without_code(fix, started) if fix.code is not None else fix


def _commanded(command: Command, started: Sequence[Started]) -> Command:
    """A command that sets or takes back one variable, or starts a service with some, in what starts its container."""
    if (asked := _UNSET.match(command.run)) is not None:
        theirs = _changed(started, [(asked["name"], None)])
    elif (asked := _EXPORT.match(command.run)) is not None:
        theirs = _changed(started, [(asked["name"], asked["value"].strip("'\""))])
    else:
        run = _whole(command.run, started)
        return command if run is None else command._replace(run=run, changes=Text(**both("variable-of-container")).then(command.changes))
    return command if theirs is None else _anew(theirs, theirs.note.then(command.why))


def _without_code(fix: Fix, started: Sequence[Started]) -> Fix:
    """Lines for a shell that only set variables."""
    assert fix.code is not None
    rows = [row.strip() for row in fix.code.after.splitlines() if row.strip() and not row.lstrip().startswith("#")]
    found = [_EXPORT.match(row) for row in rows]
    changes: list[Change] = [(one["name"], one["value"].strip("'\"")) for one in found if one is not None]
    if fix.code.lang not in ("bash", "shell") or not rows or len(changes) != len(rows) or fix.commands or (theirs := _changed(started, changes)) is None:
        return fix
    remarks = [row for row in fix.code.after.splitlines() if row.lstrip().startswith("#")]
    return fix._replace(code=CodeFix(fix.code.lang, "", "\n".join([*remarks, f"# {theirs.note.en}", theirs.run])))


def _anew(theirs: Own, why: Text) -> Command:
    return Command(theirs.run, Text(**both("variable-of-container")), why)


def _changed(started: Sequence[Started], changes: Sequence[Change]) -> Own | None:
    """The reader's own `docker run` with all of it; None where they type in the container, several are shown, or it has all of it."""
    theirs = _one(started)
    if theirs is None:
        return None
    changed = _with(theirs, changes)
    if changed is None or changed == theirs:
        return None
    gone = [name for name, value in changes if value is None]
    if len(gone) != len(changes):
        return Own(clean(changed.shell()), note(theirs, changed))
    path, less = clean(posixpath.basename(theirs.path)), ", ".join(f"-e {name}" for name in gone)
    return Own(clean(changed.shell()), Text(**(both("own-command-less", path=path, gone=less) if path else both("own-typed-less", gone=less))))


def _with(theirs: Started, changes: Sequence[Change]) -> Started | None:
    for name, value in changes:
        given = [o for o in theirs.options if o.name == "env" and o.value.partition("=")[0] == name]
        if len(given) > 1 or (value is None and not given):
            return None
        if not given:
            theirs = theirs.added("-e", (f"{name}={value}",))
            continue
        words, option = list(theirs.words), given[0]
        words[option.at : option.end] = [] if value is None else [*words[option.at : option.end - 1], words[option.end - 1].replace(option.value, f"{name}={value}")]
        theirs = theirs._replace(words=tuple(words))
    return theirs


def _whole(run: str, started: Sequence[Started]) -> str | None:
    """A service with variables before it, where the reader starts it as the program of a container: by way of a shell, what stands there is one word."""
    made = read(run)
    theirs = _one(started) if made is not None and made.env else None
    if made is None or theirs is None or theirs.target is None or theirs.words[theirs.target + 1 :][: made.head] != made.words[: made.head]:
        return None
    changed = _with(theirs._replace(words=(*theirs.words[: theirs.target + 1], *made.words)), made.env)
    return None if changed is None else clean(changed.shell())


def _one(started: Sequence[Started]) -> Started | None:
    """The one container that is started, for NPUs, with the program that is to run in it."""
    found = list({one.words: one for one in started if one.kind == "docker"}.values())
    if len(found) != 1 or not runs(found[0]) or not any(map(_OF_NPUS.search, found[0].words)):
        return None
    return found[0]


def runs(theirs: Started) -> bool:
    """Does the container start a program by itself? Else a shell waits for somebody, or nothing is known."""
    if theirs.target is None:
        return False
    inside = theirs.words[theirs.target + 1 :]
    entry = theirs.option("entrypoint")
    if entry and posixpath.basename(entry) in _SHELLS:
        inside = (entry, *inside)
    if not inside:  # the image has its own, which may be a shell
        return bool(entry) or not any(o.name in _OF_A_TERMINAL for o in theirs.options)
    if posixpath.basename(inside[0]) in _SHELLS:
        words = inside[1:]
        while words and words[0].startswith("-"):
            words = words[1:]
        if not words:
            return False
        inside = (words[0].strip(),) if words[0].strip() else ()
    return bool(inside) and _HELD_OPEN.match(inside[0]) is None

