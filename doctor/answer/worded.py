"""Options of an engine that the reader's own words say are set: no advice sets them again, and where they name the trigger, it is left out.

    When you launch the decoder with `--no_enable_frob`, you see the message ...

>>> said_of(("When you launch it with `--no_enable_frob` on a card",)), said_of(("please start with --enable-frob",))
({'no-enable-frob': ''}, {})
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from doctor.answer.own_command import without_option
from doctor.base.notation import clean
from doctor.base.words import both
from doctor.findings.evaluate import Finding
from doctor.findings.situation import Situation
from doctor.findings.started import is_flag, read
from kb.model import SAID, Command, Fix, Text
from parsers.lazy import lazy

_OPTION = lazy(r"(?<![\w-])--(?P<name>[a-z][\w-]{3,60})(?:[= ](?P<value>'[^'\n]{1,300}'|[\w./:+-]{1,80})(?=[\s`,;)。，；]|$))?")
# Advice of somebody, what is only considered, and what is told to go well.
_NOT_SET = lazy(r"(?i)^\W*(?:to|run|re-?run|start|re-?start|use|set|launch|serve|try|consider|add|pass|enable|specify)\b|\b(?:please|try|tried|suggest\w*|recommend\w*|could|can|may|might|should|must|needs?|without|not|never|instead|unless|no longer|works?|worked|fine|solves?|solved|fix(?:es|ed)?|helps?|avoid\w*|or)\b|n't\b|请|建议|可以|尝试|试过|试了|去掉|不加|没有|无法|不要|不带|正常|解决|避免|规避|或")
_WHEN = lazy(r"(?i)\b(?:when(?:ever)?|if|once|only|after|as soon as)\b|[后时就]|只要|一旦")
_FAILS = lazy(r"(?i)\b(?:error|fail\w*|crash\w*|see|get|hang\w*|stuck|exit\w*|die[sd]?|wrong|exception|assert\w*|message|raises?|reports?|freez\w*|appears?|happens?|occurs?)\b|报错|错误|失败|崩溃|卡住|挂|退出|出现|异常|乱码")
_SHAPES = frozenset({"trust-remote-code", "enable-expert-parallel", "headless", "enable-auto-tool-choice", "skip-tokenizer-init", "language-model-only"})
_WAYS = "tensor-parallel-size"
_OF_THE_MODEL = frozenset({"model", "model-path", "served-model-name", "host", "port"})


def said_of(told: Iterable[str]) -> dict[str, str]:
    """The options that sentences say are set, with their values."""
    return {_name(one["name"]): (one["value"] or "").strip("'") for sentence in told if not _NOT_SET.search(_plain(sentence)) for one in _OPTION.finditer(sentence)}


def is_set(run: str, situation: Situation) -> bool:
    """Do their words say all that a command for an engine would set?"""
    told = said_of(situation.facts.get("worded", ()))
    if (ways := situation.first("tp_said")) is not None:
        told.setdefault(_WAYS, ways)
    advised = read(f"{run.partition(' # ')[0]} $") if told else None
    if advised is None or advised.kind not in ("vllm", "sglang") or "# without" in run:
        return False
    asked = [option for option in advised.options if option.name not in _OF_THE_MODEL and option.name != "device"]
    if any(one.option(option.name) not in (None, option.value) for one in situation.started for option in asked if option.name != _WAYS):
        return False  # they tell of another start
    return bool(asked) and not advised.env and all(_same(told, option.name, option.value) for option in asked)


def trigger(finding: Finding, situation: Situation, known: Sequence[Fix] = ()) -> Fix | None:
    """How to start without the option that they name as the condition of the fault, where it is a feature that can be left out."""
    told = [one for one in situation.facts.get("worded", ()) if _WHEN.search(one) and _FAILS.search(one)]
    named = [name for name in said_of(told) if name not in _SHAPES and (is_flag(name, "vllm") or name.startswith(("no-", "enable-", "disable-")))]
    if len(named) != 1 or any(f"--{named[0]}" in command.run for fix in known if fix.goal != "locate" for command in fix.commands):
        return None
    shown, made = clean("--" + named[0]), ((f"{SAID}way", ("~ .",)),)
    title = Text(**both("worded-out", what=shown))
    changed = without_option(situation.started, finding.instances[0].paths, named[0])
    if changed is not None:
        return Fix("mitigate", "low", title, (), (), (Command(changed.run, Text(**both("asked-restart")), changed.note),), None, made)
    off = named[0].startswith("no-")
    back = [Text(**both("worded-on", what=clean("--" + named[0].removeprefix("no-"))))] if off else []
    return Fix("mitigate", "low", title, (*back, Text(**both("feature-where"))), (), (), None, made)


def _same(told: Mapping[str, str], name: str, value: str) -> bool:
    if name == _WAYS and value.isdecimal() and told.get(name, "").isdecimal():
        return int(value) <= int(told[name])  # who splits more has split so far
    return name in told and (not value or value == told[name])


def _name(written: str) -> str:
    return written.replace("_", "-").rstrip("-")


def _plain(sentence: str) -> str:
    """Without the options themselves: `--no-enable-frob` denies nothing."""
    return _OPTION.sub(" ", sentence)
