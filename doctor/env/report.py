"""The report on a machine: the same JSON as that on logs, with what was found out about the machine beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from doctor.answer import advice
from doctor.answer.advice import Values
from doctor.answer.fix_form import fix_json
from doctor.base.notation import clean
from doctor.env import container_spec, verdict
from doctor.env.facts import Fact, Machine, plain
from doctor.env.verdict import Result
from doctor.version import __version__
from kb.check import GROUPS, Check
from kb.knowledge import Knowledge
from kb.model import Fix, Text

SCHEMA_VERSION = 1
_SURE = {"high": 0.95, "medium": 0.75, "low": 0.5}
MAX_EVIDENCE = 20
_SITUATION = {
    "chip": "chips.name", "cann": "cann.version", "driver": "driver.version", "torch_npu": "python.torch_npu", "torch": "python.torch",
    "python": "python.version", "vllm": "python.vllm", "vllm_ascend": "python.vllm_ascend", "mindspore": "python.mindspore",
    "transformers": "python.transformers",
}  # fmt: skip
_LINE = (
    ("", "chips"), ("driver", "driver.version"), ("firmware", "firmware.version"), ("CANN", "cann.version"), ("torch", "python.torch"),
    ("torch_npu", "python.torch_npu"), ("vLLM", "python.vllm"), ("vllm-ascend", "python.vllm_ascend"), ("MindSpore", "python.mindspore"),
    ("MindIE", "mindie.version"), ("Python", "python.version"),
)  # fmt: skip
# What maintainers ask for.
ISSUE = (
    "chips.name", "chips.count", "driver.version", "firmware.version", "cann.version", "kernels.version", "nnal.version", "mindie.version",
    "python.version", "python.torch", "python.torch_npu", "python.vllm", "python.vllm_ascend", "python.mindspore", "python.transformers",
    "python.triton_ascend", "machine.os", "machine.kernel", "machine.arch", "container.kind",
)  # fmt: skip
# What a group shows in one line.
SHOWN: dict[str, tuple[tuple[str, str], ...]] = {
    "driver": (("", "driver.version"), ("firmware", "firmware.version")),
    "cann": (("", "cann.version"), ("kernels", "kernels.chips"), ("nnal", "nnal.version"), ("MindIE", "mindie.version"), ("mxVision", "mxvision.version")),
    "python": (("Python", "python.version"), ("torch", "python.torch"), ("torch_npu", "python.torch_npu"), ("vllm", "python.vllm"),
               ("vllm-ascend", "python.vllm_ascend"), ("mindspore", "python.mindspore"), ("triton-ascend", "python.triton_ascend"),
               ("transformers", "python.transformers"), ("numpy", "python.numpy")),
    "chips": (("npu-smi", "npu_smi.state"),),
    "container": (("", "container.kind"), ("/dev/davinci", "device.cards"), ("access", "device.access")),
    "host": (("", "machine.os"), ("kernel", "machine.kernel"), ("", "machine.arch"), ("shm MiB", "shm.mib"), ("nofile", "limit.nofile")),
    "network": (("hccn.conf", "network.conf"), ("addresses", "network.addresses"), ("TLS", "network.tls")),
    "variables": (("set_env.sh", "variables.set_env"),),
}  # fmt: skip


def situation(machine: Machine) -> dict[str, tuple[str, ...]]:
    """What the machine says of the situation, by the names that logs use."""
    found: dict[str, tuple[str, ...]] = {name: (machine.value(fact),) for name, fact in _SITUATION.items() if machine.value(fact)}
    if "chip" not in found and machine.value("pci.family"):
        found["chip"] = (machine.value("pci.family"),)
    return found


def line(machine: Machine) -> str:
    """The machine in one line."""
    told = []
    for label, name in _LINE:
        value = _chips(machine) if name == "chips" else machine.value(name)
        if value and value != "not known":
            told.append(f"{label} {value}".strip())
    return ", ".join(told)


def _chips(machine: Machine) -> str:
    name, count = machine.value("chips.name") or machine.value("pci.family"), machine.value("chips.count") or machine.value("pci.npus")
    return f"{count} x {name}" if name and count not in ("", "0") else name


def is_ascend(machine: Machine) -> bool:
    """Is there anything of Ascend on this machine at all?"""
    cards = machine.value("device.count") not in ("", "0") or machine.value("pci.npus") not in ("", "0")
    software = machine.value("cann.installed") not in ("", "none") or machine.value("driver.version") or machine.value("chips.count")
    return bool(cards or software or machine.value("python.torch_npu") or machine.value("npu_smi.state") not in ("", "absent"))


def report(machine: Machine, known: Knowledge, found: Sequence[Result]) -> dict[str, Any]:
    """The whole report."""
    told_of = found if is_ascend(machine) else [r for r in found if r.check.group == "variables"]  # those are somebody's, whatever the machine is
    findings = [finding(r, machine) for r in verdict.failures(told_of)]
    loud = any(f["severity"] != "info" for f in findings)
    told = "findings" if loud else "clean" if is_ascend(machine) else "inconclusive"
    told_line = line(machine)
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "npu-doctor", "version": __version__},
        "knowledge": {"entries": len(known.codes_of_entries), "codes": known.count_codes(), "digest": known.digest},
        "verdict": told,
        "situation": {"line": {"en": told_line, "zh": told_line}, "facts": {k: list(v) for k, v in sorted(situation(machine).items())}},
        "findings": findings,
        "decisive": None,
        "unexplained": [],
        "missing_evidence": _missing(machine),
        "skipped": [{"path": clean(s.path), "reason": clean(s.reason)} for s in machine.skipped],
        "stats": {"files": len({f.path for f in machine.facts.values() if f.path}), "bytes": 0, "seconds": round(machine.seconds, 3)},
        "environment": {**environment(machine, told_of), "alone": True},
    }


def environment(machine: Machine, found: Sequence[Result]) -> dict[str, Any]:
    """Facts, and the state of every check, by group."""
    return {
        "where": clean(machine.where),
        "facts": plain(machine),
        "places": {n: f"{f.path}:{f.line}" for n, f in machine.facts.items() if f.path.startswith("/")},
        "groups": [_group(machine, found, group) for group in GROUPS],
    }


def _group(machine: Machine, found: Sequence[Result], group: str) -> dict[str, Any]:
    told = [f"{label} {machine.value(name)}".strip() for label, name in SHOWN[group] if machine.value(name)]
    told = [_chips(machine), *told] if group == "chips" and _chips(machine) else told
    mine = [r for r in found if r.check.group == group and r.state != verdict.ELSEWHERE]
    return {
        "name": group,
        "light": verdict.light(found, group),
        "line": ", ".join(told),
        "checks": [{"id": r.check.code, "slug": r.check.slug, "state": r.state, "title": advice.prose(r.check.title, verdict.values(r, machine)).json()} for r in mine],
    }


def finding(result: Result, machine: Machine) -> dict[str, Any]:
    """A check that failed, as a finding."""
    check, known = result.check, verdict.values(result, machine)
    device = known.one.get("device", "")
    return {
        "id": check.code,
        "slug": check.slug,
        "kind": check.kind,
        "role": "root",
        "severity": check.severity,
        "confidence": _SURE[check.confidence] - (0.1 if check.status == "draft" else 0),
        "why": _why(result, machine).json(),
        "note": None,
        "title": advice.prose(check.title, known).json(),
        "cause": advice.prose(check.cause, known).json(),
        "scope": {"node": machine.value("machine.host") or None, "rank": None, "device": int(device) if device.isdigit() and len(result.facts) == 1 else None, "pid": None},
        "count": max(1, len(result.facts)),
        "first_seen": None,
        "last_seen": None,
        "evidence": [_place(f) for f in result.facts[:MAX_EVIDENCE]],
        "explains": [],
        "explained_by": None,
        "rule": None,
        "fixes": [fix_json(_filled(fix, known, machine)) for fix in _for_the_case(check.fixes, machine.value("container.kind"))],
        "repro": None,
        "references": [*_published(result, machine), *({"kind": r.kind, "title": r.title, "url": r.url} for r in check.references)],
    }


def _place(fact: Fact) -> dict[str, Any]:
    shown = fact.text or f"{fact.name} = {fact.value}"
    return {"path": fact.path or fact.name, "line": max(1, fact.line), "end_line": max(1, fact.line), "time": None, "level": None, "module": None, "text": shown}


def _why(result: Result, machine: Machine) -> Text:
    """Which facts decided."""
    del machine
    told = "; ".join(f"{f.name} = {f.value}" for f in result.facts[:4])
    more = f" (+{len(result.facts) - 4})" if len(result.facts) > 4 else ""
    return Text(f"the machine says {told}{more}.", f"该机器显示 {told}{more}。")


def _published(result: Result, machine: Machine) -> Iterable[dict[str, str]]:
    """Where the pair is published on which the check rests."""
    for fact in result.facts:
        if fact.name.startswith("fits."):
            source = machine.facts.get(f"source.{fact.name.removeprefix('fits.')}")
            if source is not None:
                yield {"kind": "vendor-doc", "title": source.value, "url": source.path}


_SPEC = re.compile(r"\{spec_(docker|compose|pod)\}")


def _for_the_case(fixes: Sequence[Fix], kind: str) -> Sequence[Fix]:
    """In a pod nobody runs docker, and on a host there is no container to make anew; all of them where nothing else is left."""

    def fits(fix: Fix) -> bool:
        asked = _SPEC.search(fix.code.after) if fix.code is not None else None
        if asked is None or not kind:
            return True
        return kind != "none" and (asked[1] == "pod") == (kind == "pod")

    return [fix for fix in fixes if fits(fix)] or fixes


def _filled(fix: Fix, known: Values, machine: Machine) -> Fix:
    """A fix with what the machine told; a specification for a container is made for its case."""
    code = fix.code
    if code is not None and (asked := _SPEC.search(code.after)):
        code = code._replace(after=container_spec.written(plain(machine), asked[1]))

    def shell(text: str) -> str:
        return container_spec.written(plain(machine), "docker") if text == "{spec_docker}" else advice.shell(text, known)

    def maybe(text: Text | None) -> Text | None:
        return advice.prose(text, known) if text is not None else None

    return fix._replace(
        title=advice.prose(fix.title, known),
        steps=tuple(advice.prose(s, known) for s in fix.steps),
        env=tuple(e._replace(value=advice.shell(e.value, known), caution=maybe(e.caution)) for e in fix.env),
        commands=tuple(c._replace(run=shell(c.run), changes=maybe(c.changes), why=maybe(c.why)) for c in fix.commands),
        code=code,
    )


def away(check: Check) -> Check:
    """A check as it reads away from any machine: specifications for containers are those of one card."""

    def shown(fix: Fix) -> Fix:
        asked = _SPEC.search(fix.code.after) if fix.code is not None else None
        if asked is None or fix.code is None:
            return fix
        return fix._replace(code=fix.code._replace(after=container_spec.written({}, asked[1])))

    return check._replace(fixes=tuple(shown(fix) for fix in check.fixes))


def _missing(machine: Machine) -> list[dict[str, Any]]:
    """What would tell more, and how to get it."""
    found = []
    if not machine.value("chips.count") and machine.value("npu_smi.state") in ("", "absent") and machine.where != "/":
        found.append((Text("the chips: no output of npu-smi is recorded", "芯片信息：没有记录 npu-smi 的输出"), "mkdir -p commands && npu-smi info > commands/npu-smi_info.txt"))
    if not machine.under("variable.") and machine.where != "/":
        found.append((Text("the variables: none are recorded", "环境变量：没有记录"), "mkdir -p commands && env > commands/env.txt"))
    return [{"what": what.json(), "how": {"en": how, "zh": how}} for what, how in found]
