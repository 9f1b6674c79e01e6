"""What a message itself asks for: the option or the variable that its author says to set.

    Cannot load local files without `--allowed-local-media-path`.
    Please set VLLM_ASCEND_ENABLE_NZ=0.

A log is text of others: of such a sentence only names and plain values are taken, and no variable that decides what is run.

>>> from kb.model import NOTHING
>>> [found.name for found in wanted("Cannot load local files without `--allowed-local-media-path`.")]
['--allowed-local-media-path']
>>> wanted("grid should be less than 65536! You can try \\"export TRITON_ALL_BLOCKS_PARALLEL=1\\" to avoid it")
(Wanted(name='TRITON_ALL_BLOCKS_PARALLEL', value='1'),)
>>> wanted("Please execute 'export FLAGS_npu_frob_format=1' in your environment.")
(Wanted(name='FLAGS_npu_frob_format', value='1'),)
>>> wanted("do not use --enforce-eager here")
()
>>> wanted("envs.DEMO_USE_V1=False. This should not happen, try DEMO_USE_V1=0 or DEMO_USE_V1=1")
()
>>> wanted('process "/bin/sh -c export DEMO_JOBS=1 && make" did not complete successfully: exit code: 2')
()
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from doctor.answer import asked_package, asked_sentence
from doctor.answer.own_command import value_of, with_asked, without_option
from doctor.answer.variables import is_script, there
from doctor.base.words import both
from doctor.findings.evaluate import Finding
from doctor.findings.situation import Situation
from kb.model import Command, EnvFix, Fix, Text
from parsers.lazy import lazy
from parsers.named import NamedTuple

MOST = 3  # options of one message
_LONGEST = 2000
_LARGEST = 10_000_000
_VARIABLE = lazy(
    r"\b(?:[Ss]et(?:ting)?|[Ee]xport|[Uu]s(?:e|ing)|[Tt]ry|[Ww]ith|by|[Ee]xecute)(?: (?:the |an? )?env(?:ironment)? var(?:iable)?s?)?[ `'\"]{1,3}(?:export )?(?P<name>[A-Z][A-Z0-9]*_[A-Z0-9_]{2,60}|FLAGS_[a-z]\w{2,60}) ?= ?[\"']?(?P<value>[\w.,:+-]{1,60})(?![\w/])"
)
# What decides which program or library runs, holds a secret, or only tells more.
_NEVER = lazy(r"(?:^|_)(?:PATH|PRELOAD|LIBRARY|HOME|SHELL|ENV|TOKEN|KEY|SECRET|PASSWORD|PROXY)(?:_|$)|^(?:LD|DYLD|BASH|PYTHON|CUDA)_|BLOCKING|DEBUG|(?:^|_)LOG(?:_|GING|$)|LEVEL|VERBOS|WARN|STDOUT|FULL_ERROR")
_SET = lazy(r"(?P<name>[A-Z][A-Z0-9]*_[A-Z0-9_]{2,60}) ?={1,2} ?(?P<value>\w{1,20})")
_SWITCHES = {"false": "0", "true": "1"}
_SILENCES = lazy(r"(?:ignore|suppress|silence|hide) (?:this|the) (?:warning|error|message)[^.;]{0,20}$")
_OPTION = r"[`'\"]?(?P<{0}>--[a-z][a-z0-9_-]{{2,60}})(?:[= ](?P<{0}v>[\w./:-]{{1,60}})(?=[`'\".,;)\s]|$))?[`'\"]?"
_ASKS = lazy(
    r"(?P<how>\b(?:needs?|requires?|must (?:be started with|have|specify|set)|[Pp]lease (?:use|set|pass|add|specify|provide|enable)|(?:[Ll]aunch|[Ss]tart|[Rr]estart|[Rr]un)(?: \w+)? with|(?:[Cc]annot|[Cc]an't|[Uu]nable|not (?:supported|allowed|possible))\b[^.\n]{0,80} without))"
    r"(?: (?:the|also|option|flag|argument))* " + _OPTION.format("one") + r"(?:(?:,| and|, and) " + _OPTION.format("two") + ")?"
)
# The same as Python writes it: flags that engines have under that name.
_IN_PYTHON = lazy(
    r"\b(?:[Nn]eeds?|[Rr]equires?|must (?:have|set|use)|[Ss]et(?:ting)?|[Uu]se) [`'\"]?"
    r"(?P<name>enable_(?:expert_parallel|prefix_caching|chunked_prefill|lora|sleep_mode|prompt_embeds|eplb)|enforce_eager|trust_remote_code|async_scheduling)"
    r"[`'\"]? ?={1,2} ?[`'\"]?(?P<value>[Tt]rue|[Ff]alse)\b"
)
# A number that must divide into parts: the next one that does.
_MULTIPLE = lazy(
    r"\b(?P<name>[a-z]+(?:[_-][a-z]+)+)[`'\"]?(?: ?[=:(]? ?\d+\)?)? (?:(?:must|should|has to|needs to|to) be|is not) (?:an? )?(?:integer )?(?:multiple of|divisible by) (?P<n>[1-9]\d{0,5})\b"
)
_TELLS_MORE = lazy(r"--(?:help|version|verbose|debug|trace|log)\b")

# The command that ran and failed asks for nothing.
_RAN = lazy(r"""\b(?:process|[Cc]ommand) (?P<q>['"])[^\n]{1,1900}?(?P=q) (?:did not|returned|exited|died|failed|timed)""")
# Nor does what was typed at a prompt or is echoed by `set -x`: it is done already.
_TYPED = lazy(r"^\s{0,8}(?:\++|(?:\([\w.-]{1,40}\) )?(?:\S{0,80}|\[[^\]\n]{1,80}\] ?)[$#]) {0,2}export [^\n]{1,1900}")
_OFF = lazy(r"\b(?:[Dd]isable|[Rr]emove|[Dd]rop|[Oo]mit|[Uu]nset|[Tt]urn off|[Dd]on't (?:use|set|pass)|[Dd]o not (?:use|set|pass)|(?:must|may|should) not (?:use|set|pass|have|be started with))(?: the)?(?: option| flag| argument)? [`'\"]?(?P<name>--[a-z][a-z0-9_-]{2,60})")
# What stands behind an option in a sentence and is no value of it.
_NO_VALUE = lazy(r"(?:\w*ly|first|instead|too|also|again|or|and|if|in|on|for|to|with|when|as|is|be|at|by|from|option|flag|argument)[.:]?$")


_SOURCE = lazy(r"\s{0,40}(?:raise|assert|f?[\"'])")
_OFF_VALUES = frozenset({"false", "off"})


class Wanted(NamedTuple):
    """A variable or an option that is asked for; an option may have no value."""

    name: str
    value: str = ""


def wanted(message: str) -> tuple[Wanted, ...]:
    """What a message says to set, in its order."""
    message = _TYPED.sub("", _RAN.sub("", message[:_LONGEST]))
    found = [
        Wanted(m["name"], m["value"].rstrip(".,:"))
        for m in _VARIABLE.finditer(message)
        if not _NEVER.search(m["name"]) and not _SILENCES.search(message[: m.start()]) and not _in_force(m["name"], m["value"], message[: m.start("name")])
    ]
    for m in _ASKS.finditer(message):
        found += [Wanted(m[name], _value(m[name + "v"])) for name in ("one", "two") if m[name] and not _TELLS_MORE.match(m[name])]
    found = [one for one in found if one.value.lower() not in _OFF_VALUES or not one.name.startswith("--")]
    found += [Wanted(_option(m["name"])) for m in _IN_PYTHON.finditer(message) if m["value"].lower() not in _OFF_VALUES]
    return tuple(dict.fromkeys(one for one in found if one.value or one.name.startswith("--")))[:MOST]


def _in_force(name: str, value: str, before: str) -> bool:
    """Does the message say itself that it is set so?"""
    told = [m["value"] for m in _SET.finditer(before) if m["name"] == name]
    return bool(told) and _SWITCHES.get(told[-1].lower(), told[-1]) == _SWITCHES.get(value.lower(), value)


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _value(written: str | None) -> str:
    return "" if written is None or _NO_VALUE.match(written) else written.rstrip(".:")


def unwanted(message: str) -> tuple[str, ...]:
    """The options that a message says to leave out.

    >>> unwanted("Please specify --frob-nodes explicitly or disable --frob-bind.")
    ('--frob-bind',)
    >>> unwanted("A remote plugh must not use --headless here")
    ('--headless',)
    >>> unwanted("Launch with `--enable-frob-parallel=false` and set async_scheduling = False")
    ('--enable-frob-parallel', '--async-scheduling')
    """
    message = message[:_LONGEST]
    off = [m["name"] for m in _OFF.finditer(message)]
    off += [m[name] for m in _ASKS.finditer(message) for name in ("one", "two") if m[name] and _value(m[name + "v"]).lower() in _OFF_VALUES]
    off += [_option(m["name"]) for m in _IN_PYTHON.finditer(message) if m["value"].lower() in _OFF_VALUES]
    return tuple(dict.fromkeys(off))[:MOST]


def multiples(message: str) -> tuple[tuple[str, int], ...]:
    """Options whose number must be a multiple of another one.

    >>> multiples("C8 KV cache requires block_size to be a multiple of 32, got 16")
    (('--block-size', 32),)
    """
    return tuple((_option(m["name"]), int(m["n"])) for m in _MULTIPLE.finditer(message[:_LONGEST]))[:MOST]


class Asked(NamedTuple):
    """Which of the known fixes does what the message asks for; where none does, a fix that does so."""

    known: int | None
    fix: Fix | None


NOTHING_ASKED = Asked(None, None)


def asked(finding: Finding, situation: Situation, known: Sequence[Fix]) -> Asked:
    """What to do as the message says; whoever is sure of the cause is sure of the fixes as well, and may know that one."""
    texts = dict.fromkeys(hit.place.text for hit in finding.instances[0].hits if not is_script(hit.place.path))  # there the reader speaks, and asks for nothing
    found = tuple(dict.fromkeys(one for text in texts for one in wanted(text)))[:MOST]
    told = next((n for n, fix in enumerate(known) if fix.goal != "locate" and any(_does(fix, one) for one in found)), None)
    if told is not None or finding.entry.confidence == "high":
        return Asked(told, None)
    if (off := next((fix for text in texts for name in unwanted(text) if (fix := _without(name, finding, situation)) is not None), None)) is not None:
        return Asked(None, off)
    found = found or tuple(one for text in texts for one in _next(text, finding, situation))
    if not found:
        install = _to_install(texts, known)
        return install if install != NOTHING_ASKED or not _knows_little(finding) or any(map(_can_be_done, known)) else Asked(None, _as_said(texts))
    mentioned = " ".join(str(fix) for fix in known)
    return Asked(None, _fix(tuple(one for one in found if one.name not in mentioned or one.value.isdecimal()), finding, situation))


def _to_install(texts: Iterable[str], known: Sequence[Fix]) -> Asked:
    """What a message says to install, where it asks for no setting."""
    wanted = tuple(dict.fromkeys(one for text in texts for one in asked_package.packages(_TYPED.sub("", _RAN.sub("", text[:_LONGEST])))))
    if not wanted:
        return Asked(None, None)
    there = asked_package.known(wanted, known)
    return Asked(there, None if there is not None else asked_package.fix(wanted))


def _knows_little(finding: Finding) -> bool:
    return finding.entry.general or finding.entry.confidence == "low"


def _can_be_done(fix: Fix) -> bool:
    """Is it a change that can be pasted? No sentence says more."""
    return fix.goal != "locate" and fix.risk == "low" and (bool(fix.env) or any(command.changes is not None for command in fix.commands))


def _as_said(texts: Iterable[str]) -> Fix | None:
    """The sentence itself, where no setting can be taken of it."""
    lines = [line for text in texts for line in _TYPED.sub("", _RAN.sub("", text[:_LONGEST])).splitlines() if not _SOURCE.match(line)]  # the line that raises it is quoted with it
    what = next((what for line in lines if (what := asked_sentence.said(line))), "")
    return Fix("resolve", "low", Text(**both("asked-said", what=what)), (), (), (), None) if what else None


def _next(text: str, finding: Finding, situation: Situation) -> Iterator[Wanted]:
    """Of options that stand in the reader's own command: nobody else's number is known."""
    for name, unit in multiples(text):
        mine = value_of(situation.started, name[2:], finding.instances[0].paths)
        if mine.isdecimal() and 0 < int(mine) < _LARGEST and int(mine) % unit:
            yield Wanted(name, str(-(-int(mine) // unit) * unit))


def _without(name: str, finding: Finding, situation: Situation) -> Fix | None:
    """The reader's own service without an option that it has: nothing needs to be filled in for that."""
    theirs = without_option(situation.started, finding.instances[0].paths, name.lstrip("-").replace("_", "-"))
    if theirs is None:
        return None
    return Fix("resolve", "low", Text(**both("asked-off", what=name)), (), (), (Command(theirs.run, Text(*both("asked-restart").values()), theirs.note),), None)


def _does(fix: Fix, one: Wanted) -> bool:
    """Does it set what is wanted, to that value?"""
    if any((e.name, e.value) == one for e in fix.env):
        return True
    written = one.name if one.name.startswith("--") else f"{one.name}={one.value}"
    return any(written in command.run.split() for command in fix.commands)


def _fix(found: Sequence[Wanted], finding: Finding, situation: Situation) -> Fix | None:
    """With the reader's own command where the logs show it."""
    if not found:
        return None
    env = tuple(EnvFix(one.name, one.value, "process", f"unset {one.name}", None) for one in found if not one.name.startswith("--"))
    options = [one for one in found if one.name.startswith("--")]
    written = ", ".join(f"{one.name} {one.value}".rstrip() if one in options else f"{one.name}={one.value}" for one in found)
    theirs = with_asked(situation.started, [(one.name, one.value) for one in options], finding.instances[0].paths) if options else None
    commands = (Command(theirs.run, Text(*both("asked-restart").values()), theirs.note),) if theirs is not None else ()
    steps = () if theirs is not None or not options else (Text(**both("asked-option")),)
    made = Fix("resolve", "low", Text(**both("asked", what=written)), steps, env, commands, None)
    return None if not options and there(made, situation) else made
