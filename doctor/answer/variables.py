"""Variables and settings that the reader has already: what a fix sets to the same is no advice, and what stands in a file is changed there."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Mapping

from doctor.base.notation import clean
from doctor.base.words import both
from doctor.findings.situation import Situation, Variable
from kb.model import CodeFix, Command, EnvFix, Fix, Text
from parsers.lazy import lazy

_SCRIPT = lazy(r"(?:\.(?:sh|bash|py|ya?ml|env|sbatch|slurm|json|toml|cfg)|(?:^|/)(?:Dockerfile|Makefile)[^/]*)$")
_SHELL = lazy(r"\.(?:sh|bash|sbatch|slurm)$")
_UNSET = lazy(r"unset (?P<name>[A-Z_][A-Z0-9_]*)$")
_MORE = lazy(r"(?i)\b(?:raise|larger|bigger|increase)\b")  # the value that is advised is an example of more
_SETTING = lazy(r"(?m)^(?P<name>[a-z][a-z0-9_.]{3,60})(?:=|: )(?P<value>[\w.]{1,40})(?![\w.])")  # of a trainer, as a line of its own
_MAKES_UP_FOR = {"gradient_accumulation_steps": "per_device_train_batch_size"}  # keeps the global batch, and is no advice alone
_OTHERS = ",OTHER"  # what the reader's own list holds already
_INTERFACE = "_SOCKET_IFNAME"
_WAITS = "TIMEOUT"  # a longer wait than the one that is advised is there already


def is_script(path: str) -> bool:
    """Is it a file in which somebody sets something?"""
    return _SCRIPT.search(path) is not None


def there(fix: Fix, situation: Situation) -> bool:
    """Is all that a fix does to set variables that are set so, or settings in a file?

    Under Ray that is not known: its workers have the environment of the node that they run on, unless the job itself began Ray.
    """
    if fix.commands or _under_ray(situation):
        return False
    if fix.code is not None:
        return not fix.env and fix.code.lang == "yaml" and _has_settings(fix.code, situation)
    if not fix.env:
        return False
    more = _MORE.search(fix.title.en) is not None
    return all(_is_there(env, situation, more) for env in fix.env)


def _under_ray(situation: Situation) -> bool:
    seen = situation.facts.get("seen", ())
    return "ray" in seen and "ray-local" not in seen


def _is_there(env: EnvFix, situation: Situation, more: bool) -> bool:
    """Is this variable set as it is advised?"""
    known = None if _under_ray(situation) else _set(env, situation)
    return known is not None and _as_advised(env, known.value, more)


def _has_settings(code: CodeFix, situation: Situation) -> bool:
    """Does a file of the reader have every line of these? A log that repeats a setting may be of another run."""
    return all(_SETTING.fullmatch(row) for row in code.after.splitlines()) and not _left(code, situation)


def _left(code: CodeFix, situation: Situation) -> list[str]:
    """The lines that change something: not those that the reader's file has already, nor what only makes up for one of them."""
    was = {one["name"]: one["value"] for one in _SETTING.finditer(code.before)}
    rows = [(row, _SETTING.fullmatch(row)) for row in code.after.splitlines()]
    done = {one["name"] for _, one in rows if one is not None and _is_set(one["name"], one["value"], was, situation)}
    return [row for row, one in rows if one is None or not {one["name"], _MAKES_UP_FOR.get(one["name"], one["name"])} & done]


def _is_set(name: str, asked: str, was: Mapping[str, str], situation: Situation) -> bool:
    """Is it so already, or further in the direction of the advice: a length that is to shrink to 4096 and is 1024?"""
    now = {one.value for one in situation.variables if one.name == name and _SCRIPT.search(one.path)}
    if len(now) != 1:
        return False
    value, before = now.pop(), was.get(name, "")
    if not (value.isdecimal() and asked.isdecimal() and before.isdecimal()):
        return value == asked
    return int(value) <= int(asked) if int(before) > int(asked) else int(value) >= int(asked)


def placed(fix: Fix, situation: Situation) -> Fix:
    """The fix with the place where a variable that it sets has another value now, or one that it takes back is set."""
    if fix.code is not None and fix.code.lang == "yaml" and (rows := _left(fix.code, situation)):
        fix = fix._replace(code=fix.code._replace(after="\n".join(rows)))
    if fix.code is not None and fix.code.lang != "json":
        fix = fix._replace(code=fix.code._replace(after=_SETTING.sub(lambda found: _where(found, situation) + found[0], fix.code.after)))
    if any(one.kind == "docker" for one in situation.started):
        from doctor.answer.container_env import in_container  # few logs show one

        fix = in_container(fix, situation.started)
    if not situation.variables:
        return fix
    more = _MORE.search(fix.title.en) is not None
    env = tuple(_placed(env, situation) for env in fix.env if not (fix.commands and _is_there(env, situation, more)))
    return fix._replace(env=(*env, *_alike(fix.env, situation)), commands=tuple(_taken_back(command, situation) for command in fix.commands))


def _alike(wanted: tuple[EnvFix, ...], situation: Situation) -> list[EnvFix]:
    """Other variables that name an interface, which the reader set to the very one that a fix replaces."""
    named = next((one for one in wanted if one.name.endswith(_INTERFACE)), None)
    was = _set(named, situation) if named is not None else None
    if named is None or was is None or was.value == named.value:
        return []
    there = {one.name for one in wanted}
    alike = dict.fromkeys(one.name for one in situation.variables if one.name.endswith(_INTERFACE) and one.value == was.value and one.name not in there)
    return [_placed(EnvFix(name, named.value, named.scope, f"unset {name}", None), situation) for name in alike]


def _taken_back(command: Command, situation: Situation) -> Command:
    """What is unset in a shell is set again by the script that the job is started with: there its line becomes a comment."""
    if (asked := _UNSET.match(command.run)) is None:
        return command
    name = asked["name"]
    scripts = sorted({clean(posixpath.basename(one.path)) for one in situation.variables if one.name == name and _SHELL.search(one.path)})
    if not scripts:
        shown = next((one for one in situation.variables if one.name == name and one.path.endswith(".md")), None)
        if shown is None:
            return command
        where = Text(**both("variable-again", path=clean(posixpath.basename(shown.path)), set=clean(f"{name}={shown.value}")))
        return command._replace(changes=where if command.changes is None else where.then(command.changes))
    run = f"sed -i.bak -E 's/^[[:space:]]*export[[:space:]]+{name}=/# &/' {' '.join(map(shlex.quote, scripts))}; unset {name}"
    return command._replace(run=run, changes=Text(**both("variable-out", path=", ".join(scripts))))


def _where(found: re.Match[str], situation: Situation) -> str:
    """A remark before a setting: the script in which it has another value now."""
    told = [one for one in situation.variables if one.name == found["name"] and one.value != found["value"] and _SCRIPT.search(one.path)]
    if len(told) != 1:
        return ""
    one = told[0]
    words = f"{posixpath.basename(one.path)}: {one.name}={one.value}".split()  # whatever a file is called, the remark stays one line
    return f"# {clean(' '.join(words))}\n"


def _placed(env: EnvFix, situation: Situation) -> EnvFix:
    known = _set(env, situation)
    if known is not None and env.value.endswith(_OTHERS):
        env = env._replace(value=env.value.removesuffix(_OTHERS) + (f",{known.value}" if known.value else ""))
    if known is None or not known.path or known.value == env.value:
        return env
    told = ("variable-in-several" if known.times > 1 else "variable-in") if _SCRIPT.search(known.path) else "variable-was"
    where = Text(**both(told, path=clean(posixpath.basename(known.path)), value=clean(known.value)))
    return env._replace(caution=where.then(env.caution))


def _set(env: EnvFix, situation: Situation) -> Variable | None:
    """The variable as it is set, where all that set it agree."""
    found = {one.value: one for one in situation.variables if one.name == env.name}
    return next(iter(found.values())) if len(found) == 1 else None


def _as_advised(env: EnvFix, value: str, more: bool) -> bool:
    advised = env.value.strip("'\"")
    if (more or _WAITS in env.name) and value.isdecimal() and advised.isdecimal():
        return int(value) >= int(advised)
    return value == advised
