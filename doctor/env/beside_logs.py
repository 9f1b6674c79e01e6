"""A machine beside logs: what the logs tell that the machine does not have, and what the machine knows that the logs left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from doctor.env import report, verdict
from doctor.env.facts import Fact, Machine
from doctor.env.releases import compare
from doctor.env.verdict import Result
from doctor.findings.chips import family
from doctor.findings.situation import Situation
from doctor.scan.harvest import Harvest
from kb.model import FACT_PREFIX
from parsers.named import NamedTuple

Json = dict[str, Any]
# Facts of logs that tell the value of a variable, and the variable.
_SETTINGS = {"exec-timeout": "HCCL_EXEC_TIMEOUT", "connect-timeout": "HCCL_CONNECT_TIMEOUT"}
_BY_ENVIRONMENT = "environment"


class Apart(NamedTuple):
    """Something that logs and machine tell differently."""

    fact: str
    logs: str
    machine: str


def apart(told: Situation, harvest: Harvest, machine: Machine) -> tuple[Apart, ...]:
    """Versions and variables that differ. What only one of the two tells differs in nothing."""
    found = []
    here = report.situation(machine)
    for fact, values in sorted(told.facts.items()):
        mine = here.get(fact, ("",))[0]
        if mine and values and not any(_same(fact, value, mine) for value in values):
            found.append(Apart(fact, ", ".join(values[:3]), mine))
    return (*found, *_variables(harvest, machine))


def _same(fact: str, logs: str, machine: str) -> bool:
    if fact == "chip":
        return family(logs) == family(machine) or machine.upper().startswith(logs.upper())
    if compare(logs, machine) == 0:
        return True
    longer, shorter = (logs, machine) if len(logs) > len(machine) else (machine, logs)
    return longer.lower().partition("+")[0].startswith(shorter.lower().partition("+")[0] + ".")  # `3.10` and `3.10.12`


def _variables(harvest: Harvest, machine: Machine) -> Iterable[Apart]:
    """Settings that a log says to come from the environment."""
    seen: set[str] = set()
    for hit in harvest.facts:
        variable = _SETTINGS.get(hit.signal.removeprefix(FACT_PREFIX).partition("/")[0])
        seconds = dict(hit.captures).get("seconds", "")
        if variable is None or variable in seen or _BY_ENVIRONMENT not in hit.place.text:
            continue
        mine = machine.value(f"variable.{variable}")
        if seconds and mine and mine != seconds:
            seen.add(variable)
            yield Apart(variable, seconds, mine)


def informed(told: Situation, machine: Machine) -> Situation:
    """The situation with what the machine adds: what the logs say themselves weighs more, and advice is chosen by both."""
    return Situation({**report.situation(machine), **{fact: values for fact, values in told.facts.items() if values}})


def with_differences(machine: Machine, differing: Sequence[Apart]) -> Machine:
    """The machine with the fact that a check asks for."""
    told = "; ".join(f"{a.fact}: {a.logs} in the logs, {a.machine} here" for a in differing[:8]) or "none"
    return machine._replace(facts={**machine.facts, "logs.differ": Fact("logs.differ", told, "logs")})


def put_beside(made: Json, machine: Machine, differing: Sequence[Apart], found: Sequence[Result]) -> Json:
    """The report on logs with the machine in it: its findings behind those of the logs, and what they mean for version faults."""
    environment = {**report.environment(machine, found), "differences": [a._asdict() for a in differing]}
    if not report.is_ascend(machine):
        return {**made, "environment": environment}
    failing = verdict.failures(found)
    more = [report.finding(r, machine) for r in failing]
    mismatches = [f for f in more if f["kind"] == "version-mismatch" and f["severity"] in ("fatal", "error")]
    findings = [_noted(f, mismatches) for f in made["findings"]]
    loud = any(f["severity"] in ("fatal", "error") for f in more)
    changed = "findings" if loud and made["verdict"] == "clean" else made["verdict"]
    return {**made, "verdict": changed, "findings": [*findings, *more], "environment": environment}


def _noted(finding: Json, mismatches: Sequence[Json]) -> Json:
    """A fault of versions says what of this machine does not fit."""
    if finding["kind"] != "version-mismatch" or not mismatches:
        return finding
    told: Mapping[str, str] = {
        "en": "on this machine: " + "; ".join(f"{m['title']['en']} ({m['id']})" for m in mismatches[:3]),
        "zh": "本机：" + "；".join(f"{m['title']['zh']}（{m['id']}）" for m in mismatches[:3]),
    }
    note = finding.get("note")
    joined = {lang: f"{note[lang]}; {text}" if note else text for lang, text in told.items()}
    why = {lang: f"{told[lang]}; {text}" for lang, text in finding["why"].items()}
    return {**finding, "note": joined, "why": why}
