"""What the reader says he has tried: a fix that only does that again stands behind what he has not.

It is not left out: he may have tried it with another value, or beside a mistake that is mended since.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from doctor.findings.situation import Situation
from kb.model import Fix
from parsers.lazy import lazy

_OPTION = lazy(r"(?<!\S)--([a-z][\w-]{3,60})(?==|\s|$)")
_SETTING = lazy(r"(?m)^\s*[\"']?([a-z]\w*_\w{2,60})[\"']?\s*[:=]")
_UNSAID = frozenset({"model", "port", "host", "device", "tensor_parallel_size", "served_model_name", "nproc_per_node", "config", "output"})  # stand in a command whatever it is for


def tried_last(fixes: Sequence[Fix], certain: Sequence[bool], situation: Situation) -> list[bool]:
    """Which of the fixes were tried; none where nothing else would be left that fits."""
    said = "\n".join(situation.facts.get("tried", ())).lower().replace("-", "_")
    was = [bool(said) and _tried(fix, said) for fix in fixes]
    left = any(fits and not done and fix.goal != "locate" for fix, fits, done in zip(fixes, certain, was, strict=True))
    return was if left else [False] * len(was)


def _tried(fix: Fix, said: str) -> bool:
    """Is every option, variable and setting by which it works named?"""
    names = set(_names(fix))
    return bool(names) and all(name in said for name in names)


def _names(fix: Fix) -> Iterator[str]:
    if fix.goal == "locate":
        return
    yield from (env.name.lower() for env in fix.env)
    texts = [command.run for command in fix.commands] + ([fix.code.after] if fix.code is not None else [])
    for text in texts:
        for form in (_OPTION, _SETTING):
            yield from (name for found in form.findall(text) if (name := found.lower().replace("-", "_")) not in _UNSAID)
