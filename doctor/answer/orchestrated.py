"""Who owns the configuration that a fix changes, where a program is started by another one: what is typed in a shell does not last there.

GPUStack and Xinference start an engine for each model, Kubernetes and Compose start containers by a file, a Dockerfile says what is run while an image is built,
systemd starts what a unit says and reads no file of a shell.
"""

from __future__ import annotations

import re

from doctor.base.words import both
from doctor.findings.situation import Situation
from kb.model import CodeFix, Command, Fix, Text
from parsers.lazy import lazy

OWNERS = ("image-build", "gpustack", "xinference", "compose", "systemd")
_STARTS = lazy(r"(?:[A-Z_][A-Z0-9_]*=\S* )*(?:vllm serve|sglang serve|python3? -m (?:vllm|sglang|torch)|torchrun|mindieservice_daemon)\b")

_A_FILE = lazy(r"(?:^|[ (,])[iI]n (?:its |the )?config\.json\b")
_IN_A_RUN = lazy(r"(?:[A-Z_][A-Z0-9_]*=\S* )*(?:source |\. /|export |(?:python3? -m )?pip3? install|cmake |make\b|bash |apt|yum |dnf )")  # what a Dockerfile would do

_IN_A_SHELL = lazy(_STARTS.pattern + r"|source |\. /|export ")
_OF_LLAMA = lazy(r"(?:\S{1,60}/)?llama-(?:server|cli)\b")
_FOR_AN_INSTANCE = lazy(_IN_A_SHELL.pattern + r"|unset |llama-\w")  # no shell that somebody types in reaches it
_INSTALLS = lazy(r"(?:[A-Z_][A-Z0-9_]*=\S* )*(?:sudo )?(?:(?:python3? -m |uv )?pip3? (?:un)?install|(?:apt|apt-get|yum|dnf) (?:-\w+ )*install|conda install)\b")
_CONFIGURES = lazy(r"pip3? config set\b")
_BEFORE = lazy(r"\bpip freeze\b")  # what is looked at in an environment that there is already
_PULLS = lazy(r"(?:sudo )?(?:docker|nerdctl|podman) pull \S+$")
_MADE_ANEW = frozenset({"gpustack", "compose", "pod"})  # whose containers begin again as their image is
_BEGINS = {"image-build": _IN_A_RUN, "systemd": _IN_A_SHELL, "gpustack": _FOR_AN_INSTANCE, "xinference": _FOR_AN_INSTANCE}


def owner(situation: Situation) -> str | None:
    """Which program starts the one that failed; None where a person does, as far as the logs tell."""
    seen = situation.facts.get("seen", ())
    found = next((name for name in OWNERS if name in seen), None)
    return found or ("pod" if situation.first("kubernetes") == "pod" else None)


def told(fix: Fix, situation: Situation) -> Fix:
    """The fix with where what it changes belongs; itself where a person starts the program, and where nothing is started or set."""
    by = owner(situation)
    if "llama-box" in situation.facts.get("seen", ()):
        fix = fix._replace(commands=tuple(c._replace(run=_OF_LLAMA.sub("llama-box", c.run, count=1)) if _OF_LLAMA.match(c.run) else c for c in fix.commands))
    begins = _BEGINS.get(by or "", _STARTS)
    starts = any(begins.match(c.run) for c in fix.commands)
    written = by in ("gpustack", "xinference") and not fix.commands and any(_A_FILE.search(step.en) for step in fix.steps)  # advice in words, about a file that the owner writes
    written = written or (not starts and _in_code(fix, begins))
    if by == "image-build" and (lines := _in_dockerfile(fix)) is not None:
        return lines
    if by in _MADE_ANEW and fix.goal != "locate":
        fix = fix._replace(commands=tuple(_lasting(c, by) for c in fix.commands))
    if by is None or fix.goal == "locate" or not (starts or fix.env or written):
        return fix
    where = Text(**both(f"owner-{by}"))
    if written:
        return fix._replace(steps=(where, *fix.steps) if fix.code is not None else (*fix.steps, where))
    commands = tuple(c._replace(why=where.then(c.why)) if begins.match(c.run) else c for c in fix.commands)
    env = fix.env if starts else (fix.env[0]._replace(caution=where.then(fix.env[0].caution)), *fix.env[1:])
    return fix._replace(commands=commands, env=env)


def _in_dockerfile(fix: Fix) -> Fix | None:
    """What a fix installs, as lines of the Dockerfile; None where it does something else as well."""
    runs = [c.run for c in fix.commands if c.changes is not None]
    if fix.goal == "locate" or fix.code is not None or fix.env or not runs or not all(_INSTALLS.match(run) or _CONFIGURES.match(run) for run in runs):
        return None
    steps = tuple(step for step in fix.steps if not _BEFORE.search(step.en))
    return fix._replace(steps=(Text(**both("owner-image-run")), *steps), commands=(), code=CodeFix("dockerfile", "", "".join(f"RUN {run}\n" for run in runs)))


def _in_code(fix: Fix, begins: re.Pattern[str]) -> bool:
    """Is a line of a fix in code for a shell what somebody else types?"""
    return fix.code is not None and fix.code.lang in ("bash", "shell") and any(begins.match(row.strip()) for row in fix.code.after.splitlines())


def _lasting(command: Command, by: str) -> Command:
    """What is installed in a container is gone with it, and an image that is pulled is not yet used: how it lasts."""
    if _INSTALLS.match(command.run):
        return command._replace(why=Text(**both(f"gone-{by}")).then(command.why))
    if _PULLS.match(command.run):
        return command._replace(why=Text(**both(f"image-{by}")).then(command.why))
    return command
