"""A package that a message itself says to install, as its author names it.

    frobs are off here, please run `pip install -U frob-kit[cli]`
    Please install frobkit to enable plughs.

A log is text of others: of such a sentence names and bounds of versions are taken, no address, no index, no file. A command
of pip is only written where the message has one: what else is to be installed may come from elsewhere.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from doctor.base.words import both
from kb.model import Command, Fix, Text
from parsers.lazy import lazy
from parsers.named import NamedTuple

MOST = 3
_LONGEST = 2000
_ONE = r"[A-Za-z][A-Za-z0-9]{0,30}(?:[-_.][A-Za-z0-9]{1,30}){0,5}(?:\[[a-z][a-z0-9_,-]{0,40}\])?(?:(?:==|>=|<=|~=|<|>)\d[\d.]{0,16}(?:(?:a|b|rc|\.?post|\.?dev)\d{1,3})?)?"
_PIP = lazy(r"(?<![\w./-])(?:python3? -m )?pip3? install(?P<flags>(?: (?:-U|--upgrade|-q|--no-deps|--no-build-isolation))*) (?P<rest>[^\n]{1,160})")
_NAME = lazy(rf"[`'\"]?(?P<one>{_ONE})(?P<end>[`'\"]|[.,;:)]?(?:\s|$))\s{{0,2}}")
_WORDED = lazy(rf"\b[Pp]lease (?:first |(?:re)?(?:check|try) (?:and|to) )?install (?:the )?[`'\"]?(?P<one>{_ONE})[`'\"]?(?: (?:package|library))?(?: first)?(?: (?:to (?:enable|use|run|support|get|activate)|for|in order to)\b|[.,;:)]?(?:\s{{0,2}}$|\s(?=[A-Z])))")
_SAYS = lazy(r"\b(?:[Rr]un(?:ning)?|[Tt]ry(?:ing)?|[Uu]s(?:e|ing)|[Vv]ia|[Bb]y|[Ww]ith|[Pp]lease|[Dd]o|[Ee]xecute|[Ii]nstall(?:ed|ing)?|[Rr]equires?|[Nn]eeds?)\b[^\n]{0,40}$")
# No names of packages: words that stand there in a sentence.
_WORD = lazy(r"(?i)(?:the|an?|it|them|this|that|these|those|all|and|or|to|for|in|on|at|by|from|with|via|using|first|then|again|if|is|as|which|following|latest|newer|newest|later|required|missing|correct|compatible|matching|appropriate|additional|dependenc(?:y|ies)|requirements?|packages?|modules?|librar(?:y|ies)|drivers?|firmware|toolkits?|kernels?|python3?|version|command|something|your|our|its)$")
# What is of this machine's set of versions, or has kernels for CUDA alone: pip would break the one and cannot build the other.
_NEVER = lazy(r"(?i)(?:torch(?:[-_](?:npu|cuda|xla))?|torch(?:vision|audio)|cann|cuda\w*|nvidia[-_].*|flash[-_]?attn.*|flashinfer.*|apex|xformers|cupy.*|pip|setuptools|vllm(?:[-_]ascend)?|sglang|lmdeploy|mindspore|tensorflow|triton|numpy)(?![\w-])")


class Package(NamedTuple):
    """What is asked for, with bounds and extras as they are told; `pip`: the message has the command."""

    name: str
    pip: bool


def packages(message: str) -> tuple[Package, ...]:
    """What a message says to install, in its order.

    >>> packages("frob is off, run `pip install -U frob-kit[cli]>=1.2 plugh`")
    (Package(name='frob-kit[cli]>=1.2', pip=True), Package(name='plugh', pip=True))
    >>> packages("Please install frobkit to enable plughs.")
    (Package(name='frobkit', pip=False),)
    >>> packages("pip install git+https://h/x"), packages("pip install -r frob.txt"), packages("please install the driver first"), packages("run pip install torch_npu")
    ((), (), (), ())
    >>> packages("$ pip install frob"), packages("please pip install frob before the next start")
    ((), (Package(name='frob', pip=True),))
    """
    message = message[:_LONGEST]
    found: list[Package] = []
    for command in _PIP.finditer(message):
        if _SAYS.search(message[: command.start()]):
            quoted = message[command.start() - 1 : command.start()] in ("`", "'", '"')
            found += [Package(name, True) for name in _named(command["rest"])[: MOST if quoted else 1]]  # what goes on is a sentence
    for said in _WORDED.finditer(message):
        if _is_name(said["one"]):
            found.append(Package(said["one"], False))
    return tuple(dict.fromkeys(found))[:MOST]


def _named(rest: str) -> list[str]:
    """The packages at the beginning of what stands behind `pip install`; none where it goes on with something else of a command."""
    names: list[str] = []
    at = 0
    while (one := _NAME.match(rest, at)) is not None and _WORD.match(one["one"]) is None:
        names.append(one["one"])
        at = one.end()
        if one["end"].strip():
            break
    whole = not rest[at : at + 1] or rest[at].isalpha() or (names and at > 0 and not rest[at - 1].isspace())
    return names if names and (whole or rest[at] not in "-/+@.$&|<>=~") and all(map(_is_name, names)) else []


def _is_name(one: str) -> bool:
    return _WORD.match(one) is None and _NEVER.match(one) is None


def known(asked: Sequence[Package], fixes: Sequence[Fix]) -> int | None:
    """Which of the known fixes installs one of them."""
    bare = [one.name.partition("[")[0].lower() for one in asked]
    for n, fix in enumerate(fixes):
        runs = " ".join(command.run for command in fix.commands).lower()
        if fix.goal != "locate" and "pip install" in runs and any(name in runs for name in bare):
            return n
    return None


def fix(asked: Sequence[Package]) -> Fix:
    """What the message asks for: the command where it tells one, else its words."""
    title = Text(**both("asked-install", what=", ".join(one.name for one in asked)))
    typed = [one.name for one in asked if one.pip]
    if not typed:
        return Fix("resolve", "medium", title, (Text(**both("asked-where")),), (), (), None)
    run = f"python3 -m pip install --no-deps {' '.join(map(shlex.quote, typed))}"
    return Fix("resolve", "medium", title, (), (), (Command(run, Text(**both("asked-adds")), Text(**both("asked-alone"))),), None)
