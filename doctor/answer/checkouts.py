"""Commands that install a package, for who runs it from its sources: pip's index changes nothing there.

The frames tell where the sources lie; a release is a tag of the same number, `v4.7.3`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

from doctor.base.words import both
from doctor.findings.situation import Situation
from kb.model import Command, Fix, Text
from parsers.lazy import lazy
from parsers.meaning.said import distribution

_REQUIREMENT = r"['\"]?[A-Za-z][\w-]{1,60}(?:(?:==|>=|<=|<)\d[\w.]{0,20},?){0,3}['\"]?"
_INSTALL = lazy(rf"(?:python3? -m )?pip3? install (?P<options>(?:(?:-U|--upgrade|--no-deps|-q) )*)(?P<what>{_REQUIREMENT}(?: {_REQUIREMENT}){{0,5}})(?P<more>(?: --no-deps)?)(?=\s*(?:$|&&|;|\|\|))")
_ONE = lazy(r"(?P<name>[A-Za-z][\w-]*)(?P<bounds>.*)$")
_LEAST = lazy(r"(?:==|>=)(?P<version>\d+(?:\.\d+)*(?:\.?(?:rc|post)\d+)?)(?=,|$)")
_GIT = lazy(r"(?<=git -C )(?P<project>[A-Za-z][\w-]{1,40})(?= )|(?<= -e )(?P<again>[A-Za-z][\w-]{1,40})(?=\s*$|\[| )")
_HERE = lazy(r"^git (?=(?:pull|fetch|checkout|status)\b)")
_BUILT = {"lmdeploy": "LMDEPLOY_TARGET_DEVICE=ascend "}  # what a build for NPUs wants set
_WITHIN = {"sglang": "/python"}  # where a project keeps what pip installs, if not in its root
_NUMBERS = 3  # of a tag


def from_source(fix: Fix, situation: Situation) -> Fix:
    """The fix with the commands of a checkout where it would take a package from the index that the logs show to run from its sources."""
    roots = _roots(situation.facts.get("checkout", ()))
    if not roots or not any("pip" in command.run or "git " in command.run for command in fix.commands):
        return fix
    named = " ".join((fix.title.en, *(command.changes.en for command in fix.commands if command.changes is not None)))
    here = {root for root in roots.values() if root.rpartition("/")[2] in named}
    commands = tuple(_theirs(command, roots) for command in fix.commands)
    return fix._replace(commands=tuple(_there(command, here.copy().pop()) for command in commands) if len(here) == 1 else commands)


def _there(command: Command, root: str) -> Command:
    """In the folder that is meant by a command of git that names none."""
    there = shlex.quote(root)
    return command._replace(run=_HERE.sub(f"git -C {there} ", command.run).replace(" -e .", f" -e {there}")) if _HERE.match(command.run) else command


def _roots(paths: Sequence[str]) -> dict[str, str]:
    """The root of the sources of every package that lies in one checkout alone.

    >>> _roots(["/w/verl/verl", "/w/LLaMA-Factory/src/llamafactory", "/a/sglang/python/sglang"])
    {'verl': '/w/verl', 'llamafactory': '/w/LLaMA-Factory', 'sglang': '/a/sglang'}
    """
    found: dict[str, set[str]] = {}
    for path in paths:
        root, _, package = path.rpartition("/")
        found.setdefault(package, set()).add(re.sub(r"/(?:src|python)$", "", root))
    return {package: next(iter(roots)) for package, roots in found.items() if len(roots) == 1}


def _theirs(command: Command, roots: Mapping[str, str]) -> Command:
    named = {distribution(package).lower(): package for package in roots}

    def installed(found: re.Match[str]) -> str:
        moves, rest = [], []
        for written in found["what"].split(" "):
            one = _ONE.match(written.strip("'\""))
            package = named.get(one["name"].lower().replace("_", "-")) if one is not None else None
            tag = _tag(one["bounds"]) if one is not None else None
            if package is None or tag is None:
                rest.append(written)
            else:
                moves.append(_moved(package, roots[package], tag))
        if not moves:
            return found[0]
        others = [f"python3 -m pip install {found['options']}{' '.join(rest)}{found['more']}"] if rest else []
        return " && ".join((*moves, *others))

    def lying(found: re.Match[str]) -> str:
        project = found["project"] or found["again"]
        return next((shlex.quote(root) for root in roots.values() if root.rpartition("/")[2].lower() == project.lower()), project)

    run = _GIT.sub(lying, _INSTALL.sub(installed, command.run))
    if run == command.run or "git -C" in command.run:
        return command._replace(run=run)
    return command._replace(run=run, changes=Text(**both("checkout-changes")), why=Text(**both("checkout-why")))


def _moved(package: str, root: str, tag: str) -> str:
    """To a release, or to the newest state, and installed as it lies."""
    there, within = shlex.quote(root), shlex.quote(root + _WITHIN.get(package, ""))
    move = f"git -C {there} fetch --tags && git -C {there} checkout {tag}" if tag else f"git -C {there} pull"
    return f"{move} && {_BUILT.get(package, '')}python3 -m pip install --no-deps -e {within}"


def _tag(bounds: str) -> str | None:
    """The tag of the release that bounds ask for at least; "" where they ask for the newest, None where for an older one."""
    if not bounds:
        return ""
    found = _LEAST.search(bounds)
    if found is None:
        return None
    version = found["version"]
    missing = _NUMBERS - len(version.split("."))
    return f"v{version}{'.0' * missing if missing > 0 and version.replace('.', '').isdecimal() else ''}"
