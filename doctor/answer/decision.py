"""What to do with the job: try again, mend and try again, take a card out, stop. With how far the log supports it.

It rests on the levels of the vendor's tables (what the device plugin of MindCluster does at a fault code), on the kind of
the fault and on whether attempts in the logs failed alike. A card is taken out only when the log names it and proves it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from doctor.answer import grounds
from doctor.base import notation
from doctor.base.words import both
from doctor.findings.attempts import Attempts
from doctor.findings.evaluate import Finding
from doctor.judge.diagnosis import Diagnosis
from doctor.judge.relate import Related
from kb.knowledge import Knowledge
from kb.model import Entry
from parsers import parsed
from parsers.lazy import lazy
from parsers.named import NamedTuple

LEVELS = ("isolate", "reset", "restart-job", "sub-health", "ignore")  # the strongest first
_CODE = lazy(
    r"(?<![0-9A-Za-z])(?:0[xX])?[489A-Ba-b][0-9A-Fa-f]{7}(?![0-9A-Za-z])"
    r"|\[0x[0-9a-f]{8},(?:na|[0-9]{6}),(?:cpu|npu|L2|na),na\]"  # of a switch chip: alarm, fault id, peer of the port
)
_FAMILIES = ("hardware", "switch")
_STATUS = {"high": "proven", "medium": "supported", "low": "suggested"}
_LINES = 50  # of a finding in which codes are looked for
_WITHIN_S = 60  # that the cluster manager waits for the second code of a pair


class Level(NamedTuple):
    """A fault code of the vendor's table that a finding rests on, and what the scheduler would do."""

    code: str
    level: str
    ref: str
    after: str = ""  # the code that followed it, and raised its level
    told: bool = False  # by the scheduler itself, in the line: what it does there may be set otherwise than in the table

    @property
    def of_node(self) -> bool:
        """Is a switch chip of the node meant, no card?"""
        return self.code.startswith("[")

    def json(self) -> dict[str, Any]:
        told = {"code": self.code, "after": self.after} if self.after else {"code": self.code}
        text = both(f"scheduler{'-after' if self.after else ''}{'-node' if self.of_node else ''}:{self.level}", **told)
        return {"code": self.code, "level": self.level, "text": text, "ref": self.ref}


Times = Mapping[str, tuple[float | None, ...]]
"""When each fault code was written; None where a line has no time."""


def codes(diagnosis: Diagnosis) -> Times:
    """Every fault code in the lines of what was found, and when."""
    found: dict[str, list[float | None]] = {}
    for related in diagnosis.related:
        if related.role != "context":
            for hit in related.finding.hits[:_LINES]:
                for match in _CODE.finditer(hit.place.text):
                    found.setdefault(_bare(match[0]), []).append(parsed.seconds(hit.place.time) if hit.place.time else None)
    return {code: tuple(times) for code, times in found.items()}


def levels(finding: Finding, knowledge: Knowledge, beside: Times) -> tuple[Level, ...]:
    """What the vendor's scheduler would do at the codes that stand in the lines of a finding, the strongest first."""
    if "recorded" not in finding.entry.traits and finding.entry.kind not in ("device-exception", "driver"):
        return ()
    written = dict.fromkeys(m[0] for hit in finding.hits[:_LINES] for m in _CODE.finditer(hit.place.text))
    own = _said(finding)
    return _strongest(level for code in written for level in ((own[_bare(code)],) if _bare(code) in own else _levels(code, knowledge, beside)))


_SAYS = lazy(r"faultCodes: ?(\w{8})\b.{0,20}faultLevelName: ?(\w{1,40})")
_NAMED = {"RestartRequest": "restart-job", "RestartBusiness": "restart-job", "FreeRestartNPU": "reset", "RestartNPU": "reset", "PreSeparateNPU": "isolate", "SeparateNPU": "isolate", "SubHealthFault": "sub-health"}


def _said(finding: Finding) -> dict[str, Level]:
    """The levels that the device plugin itself names beside its codes."""
    told = (match for hit in finding.hits[:_LINES] if "faultLevelName" in hit.place.text and (match := _SAYS.search(hit.place.text)))
    return {_bare(m[1]): Level(f"0x{_bare(m[1])}", _NAMED[m[2]], "", told=True) for m in told if m[2] in _NAMED}


def _levels(written: str, knowledge: Knowledge, beside: Times) -> Iterator[Level]:
    for row in knowledge.decode(written):
        if row["family"] in _FAMILIES and row.get("severity") in LEVELS:
            yield Level(row["code"], row["severity"], row.get("ref", ""))
            for rule in row.get("followed_by", ()):
                if _follows(beside.get(_bare(rule["code"]), ()), beside.get(_bare(written), ())):
                    yield Level(row["code"], rule["severity"], rule["ref"], rule["code"])


def _follows(later: tuple[float | None, ...], earlier: tuple[float | None, ...]) -> bool:
    """Does one of the later codes come within a minute of an earlier one? Where a line has no time, they stand side by side."""
    return any(a is None or b is None or 0 <= a - b <= _WITHIN_S for a in later for b in earlier)


def _bare(code: str) -> str:
    return code.upper().removeprefix("0X")


def _strongest(found: Iterable[Level]) -> tuple[Level, ...]:
    return tuple(sorted(set(found), key=lambda one: (LEVELS.index(one.level), one.code)))


def decision(diagnosis: Diagnosis, knowledge: Knowledge) -> dict[str, Any] | None:
    """None when nothing went wrong that an entry knows: then there is nothing to decide by."""
    root = next((r for r in diagnosis.roots if r.finding.entry.severity in ("fatal", "error", "warning")), None)
    if root is None:
        return None
    lead = root.finding
    explained = frozenset(root.explains)
    beside = [r.finding for r in diagnosis.related if r.finding.entry.code in explained or _same_card(lead, r)]
    when = codes(diagnosis)
    told = _strongest(level for finding in (lead, *beside) for level in levels(finding, knowledge, when))
    own = {level.code for level in told if level.told}
    told = tuple(level for level in told if level.told or level.code not in own)
    action, why = _by_level(lead, told[0]) if told and told[0].level in LEVELS[:3] else _by_kind(lead.entry)
    status = _STATUS[notation.surety(grounds.confidence(root))] if lead.entry.role == "cause" else "suggested"
    again = _failed_alike(lead, diagnosis)
    if again > 1 and action == "retry":
        action, why, status = "stop", "again", "supported"
    if action == "isolate" and status != "proven":
        action, why = "stop", "not-proven"
    scope = lead.instances[0].scope
    card = action == "isolate" or (told and action == "fix-and-retry")
    return {
        "action": action,
        "status": status,
        "rests_on": lead.entry.code,
        "target": {"node": scope.node, "device": scope.device} if card and scope.device is not None else None,
        "why": both(f"decision-why:{why}", entry=lead.entry.code, code=told[0].code + (f" + {told[0].after}" if told[0].after else "") if told else "", n=again),
        "scheduler": [level.json() for level in told],
    }


def _same_card(lead: Finding, other: Related) -> bool:
    """Does a tool name a code for the card whose hardware is at fault? A line that names no card contradicts nothing."""
    if "recorded" not in lead.entry.traits or other.role == "context":
        return False
    a, b = lead.instances[0].scope.device, other.finding.instances[0].scope.device
    return a is None or b is None or a == b


def _by_level(lead: Finding, level: Level) -> tuple[str, str]:
    if level.level == "isolate" and level.of_node:
        return "stop", "switch"
    if level.level == "isolate":
        return ("isolate", "isolate") if lead.instances[0].scope.device is not None else ("stop", "no-card")
    return ("fix-and-retry", "reset") if level.level == "reset" else ("retry", "restart")


def _by_kind(entry: Entry) -> tuple[str, str]:
    if "stopped" in entry.traits or "restarts" in entry.traits:
        return "retry", "stopped"
    if entry.kind in ("hardware-fault", "device-lost"):
        return "stop", "hardware"
    if entry.role in ("symptom", "wrapper"):
        return "retry", "symptom"
    return "fix-and-retry", "cause"


def _failed_alike(lead: Finding, diagnosis: Diagnosis) -> int:
    """In how many attempts of its log the fault stands."""
    restarts = [h.place for r in diagnosis.related if "restarts" in r.finding.entry.traits for h in r.finding.hits]
    attempts = Attempts(restarts)
    return max(len({attempts.number(h.place) for h in lead.hits}), 1)
