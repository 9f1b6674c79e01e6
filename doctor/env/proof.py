"""Do a check's own samples prove it: what should fail fails, what should hold does, and no condition is idle."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from doctor.env import fits, verdict
from doctor.env.facts import Machine, from_values, table
from kb.check import Check, CheckSample
from kb.knowledge import Knowledge

_HAN = re.compile("[\u4e00-\u9fff]")
_ENDS = re.compile(r"\b(?:reboot|npu-smi (?:set|clear|upgrade)|rm -\w*r|kill(?!-0)\b|pip uninstall|pip install|usermod|sysctl -w)\b")


def machine(sample: CheckSample, knowledge: Knowledge) -> Machine:
    """A sample as a machine: its facts, and what follows from them."""
    made = from_values(dict(sample.facts))
    return made._replace(facts={**made.facts, **table(fits.gather(made.facts, knowledge.compat()))})


def problems(check: Check, knowledge: Knowledge, kinds: Sequence[str] = ()) -> list[str]:
    """What is wrong with a check; empty when nothing is."""
    return [*_proof(check, knowledge), *_writing(check, knowledge, kinds)]


def _proof(check: Check, knowledge: Knowledge) -> Iterator[str]:
    for sample in check.fails:
        state = verdict.judge(check, machine(sample, knowledge)).state
        if state != verdict.FAILS:
            yield f"the sample {sample.name} should fail and is: {state}"
    for sample in check.holds:
        if verdict.judge(check, machine(sample, knowledge)).state == verdict.FAILS:
            yield f"the sample {sample.name} should not fail"
    for condition in check.wants:
        lone = check._replace(wants=(condition,))
        if not any(verdict.judge(lone, machine(s, knowledge)).fails for s in check.fails):
            yield f"no sample under 'fails' needs the assertion of {condition[0]}"
    for condition in check.when:
        freed = check._replace(when=tuple(c for c in check.when if c != condition))
        if not any(verdict.judge(freed, machine(s, knowledge)).fails for s in check.holds):
            yield f"no sample under 'holds' needs 'when' {condition[0]}: without it none would fail"


def _writing(check: Check, knowledge: Knowledge, kinds: Sequence[str]) -> Iterator[str]:
    if kinds and check.kind not in kinds:
        yield f"'{check.kind}' is no kind of fault"
    if not check.references:
        yield "no reference: where does the claim come from?"
    if check.severity in ("fatal", "error") and not any(f.commands or f.env or f.code or f.steps for f in check.fixes):
        yield "an error needs a fix that says what to do"
    for text in (check.title, check.cause, *(f.title for f in check.fixes), *(s for f in check.fixes for s in f.steps)):
        if not _HAN.search(text.zh) and re.search(r"[a-z]{4}", text.zh):
            yield f"the Chinese text has no Chinese: {text.zh[:40]!r}"
    for fix in check.fixes:
        for command in fix.commands:
            if command.changes is not None and _ENDS.search(command.run) and fix.risk == "low":
                yield f"{command.run[:60]!r} is not of low risk"
        if fix.risk != "low" and not fix.steps and not any(c.changes for c in fix.commands):
            yield f"the fix {fix.title.en[:40]!r} is of {fix.risk} risk and tells no way back"
        for env in fix.env:
            if knowledge.variable(env.name) is None:
                yield f"the variable {env.name} is not in kb/envvars.yaml"

