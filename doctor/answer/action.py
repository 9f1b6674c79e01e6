"""What has to be done about one finding, in a word: by the vendor's table where a code of it stands in the log, else by the kind of the fault.

The word says who acts: nobody (start again), whoever set things up, whoever wrote the program, whoever runs the machines,
whoever maintains the software.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from doctor.answer import grounds
from doctor.answer.decision import Level
from doctor.base import notation
from doctor.base.words import word
from doctor.findings.evaluate import Finding
from doctor.judge.relate import Related
from kb.model import Entry, Fix

_BY_VENDOR = {"isolate": "isolate", "reset": "reset", "restart-job": "retry"}
_BY_TRAIT = (
    ("stopped", "retry"), ("restarts", "retry"), ("mended_by_reset", "reset"), ("mended_by_hardware", "hardware"),
    ("mended_in_code", "code"), ("mended_upstream", "report"),
)  # fmt: skip
_OURS = ("config", "code", "report")  # where the fix itself says more than the kind
_PROGRAMS = ("python", "c", "cpp", "c++")  # code in other languages is a setting


def action(related: Related, fixes: Sequence[Fix], first: int | None, found: Sequence[Level], named: bool = False) -> dict[str, Any] | None:
    """None where nothing is to be done about it: what is harmless, of another time or machine, or only follows."""
    finding = related.finding
    entry = finding.entry
    if related.role != "root" or entry.role == "noise" or "elsewhere" in entry.traits:
        return None
    ours = next((name for trait, name in _BY_TRAIT if trait in entry.traits), "config")
    by_vendor = _BY_VENDOR.get(found[0].level) if found else None
    if by_vendor == "isolate" and not _proven(related):
        return _told("hardware", "vendor", finding)
    if by_vendor and (found[0].told or by_vendor != "retry" or ours not in ("hardware", "reset")):  # where it restarts the job, the card stays as it is
        return _told(by_vendor, "vendor", finding)
    if entry.role in ("symptom", "wrapper"):
        return _told("locate" if named else "collect", "role", finding)
    return _told(*_by_fix(fixes[first] if first is not None else None, ours, entry), finding)


def _proven(related: Related) -> bool:
    """No card is taken out for what is only likely."""
    return related.finding.entry.role == "cause" and notation.surety(grounds.confidence(related)) == "high"


def _by_fix(fix: Fix | None, ours: str, entry: Entry) -> tuple[str, str]:
    """What the fix to try first changes; a look changes nothing, and comes before all else while several causes are open."""
    if fix is None or ours in ("hardware", "retry"):
        return ours, "kind"
    if fix.goal == "locate":
        return ("locate", "fix") if entry.role == "ambiguous" else (ours, "kind")
    if ours not in _OURS:
        return ours, "kind"
    if fix.code is not None and not fix.env:
        return ("code" if fix.code.lang in _PROGRAMS else "config"), "fix"
    return ("config", "fix") if fix.env or any(c.changes is not None for c in fix.commands) else (ours, "kind")


def _told(name: str, by: str, finding: Finding) -> dict[str, Any]:
    first = finding.instances[0]
    card = {lang: f"{word('device', lang)} {first.scope.device}" for lang in ("en", "zh")}
    if first.scope.device is None:
        npu = first.captures.get("npu")
        card = {lang: f"NPU {npu}" if npu else word("this-card", lang) for lang in card}
    text = {lang: word(f"action:{name}", lang, card=card[lang]) for lang in card}
    return {"class": name, "by": by, "text": text}
