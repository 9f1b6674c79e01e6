"""Reads checks of machines, strictly: `checks/<group>/<code>_<slug>.yaml`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path, PurePath

from kb import anchors, yamldoc
from kb.check import GROUPS, Check, CheckSample, Conditions
from kb.collect import collect
from kb.layers import BUILT_IN
from kb.load import read_fix, read_reference
from kb.model import CONFIDENCES, NOTHING, SEVERITIES, STATUSES
from kb.problems import Problem
from kb.reader import Reader

CHECK_KEYS = ("code", "status", "severity", "group", "kind", "confidence", "title", "cause", "when", "assert", "fixes", "references", "samples")
CODE = re.compile(r"CHK\d{3}")
FACT = re.compile(r"[a-z][\w*-]*(?:\.[\w*-]+)+")


def read_checks(files: Iterable[tuple[Path, str]], layer: str = "built-in") -> tuple[list[Check], list[Problem]]:
    """The checks of some files, in the order of their codes; faulty ones are left out and reported."""
    found, problems = collect(((path, shown, layer) for path, shown in files), read_check)
    return sorted(found, key=lambda check: check.code), problems


def read_check(path: str, data: bytes, layer: str = "built-in") -> Check | list[Problem]:
    """The check, or every fault that keeps it from being one."""
    doc = yamldoc.parse(path, data)
    if isinstance(doc, Problem):
        return [doc]
    if not isinstance(doc.value, dict):
        return [Problem(path, 0, "the file is no mapping of keys to values", "begin with 'code: CHK101'")]
    problems: list[Problem] = []
    check = _check(Reader(doc, (), problems, CHECK_KEYS, "the check"), path, layer)
    return problems or check


def _check(top: Reader, path: str, layer: str) -> Check:
    code = top.string("code")
    if code and not CODE.fullmatch(code):
        top.fault(("code",), f"'{code}' is no code of a check", "CHK and three digits, like CHK101")
    name = PurePath(path)
    samples = top.sub(("samples",), ("fails", "holds"), "'samples'") if "samples" in top.map else None
    if samples is None or not samples.map.get("fails") or not samples.map.get("holds"):
        top.fault((), "a check needs samples under 'fails' and under 'holds'", "samples: {fails: [{name: x, facts: {...}}], holds: [...]}")
    if "assert" not in top.map:
        top.fault((), "'assert' is missing in the check", "assert: {driver.state: installed}")
    return Check(
        code=code,
        slug=name.stem.partition("_")[2].replace("_", "-") or name.stem,
        group=top.word("group", GROUPS),
        status=top.word("status", STATUSES, "stable"),
        severity=top.word("severity", SEVERITIES),
        kind=top.string("kind"),
        confidence=top.word("confidence", CONFIDENCES, "medium"),
        title=top.text("title") or NOTHING,
        cause=top.text("cause") or NOTHING,
        when=_conditions(top, "when", layer == BUILT_IN),
        wants=_conditions(top, "assert", layer == BUILT_IN),
        fixes=top.items("fixes", lambda at: read_fix(top, at)),
        references=top.items("references", lambda at: read_reference(top, at)),
        layer=layer,
        path=path,
        fails=_samples(samples, "fails"),
        holds=_samples(samples, "holds"),
    )


def _conditions(top: Reader, key: str, trusted: bool) -> Conditions:
    found = top.pairs(key)
    for fact, wanted in found:
        if not FACT.fullmatch(fact):
            top.fault((key, fact), f"'{fact}' is no name of a fact", "npu-doctor env -f json shows the names, like driver.version")
        if wanted.strip().startswith("~"):
            try:
                anchors.usable(wanted.strip()[1:].strip(), trusted)
            except anchors.PatternError as error:
                top.fault((key, fact), f"bad regex: {error}")
    return found


def _samples(samples: Reader | None, key: str) -> tuple[CheckSample, ...]:
    if samples is None:
        return ()

    def one(at: yamldoc.Path) -> CheckSample:
        reader = samples.sub(at, ("name", "facts"), "a sample")
        return CheckSample(reader.string("name"), reader.pairs("facts"))

    return samples.items(key, one)
