"""A report on a machine with pseudonyms: names of hosts and people, addresses, paths below homes. Versions stay: they only look like addresses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from doctor.answer.redact import Redactor, of_texts
from kb.knowledge import Knowledge

Json = dict[str, Any]
_VERSIONS = re.compile(r"^(?:driver|firmware|cann|kernels|nnal|mindie|mxvision|fits|wanted|source|chips?|npu_smi|pci|limit|shm)\.|^python\.(?!prefix|chosen_by)")
_PATH = re.compile(r"^(?:cann\.(?:path|dead|half|chosen)|driver\.library)")


def redacted(made: Json, known: Knowledge, own: Iterable[str] = ()) -> tuple[Json, Redactor]:
    """The report as it may be shown to others, and what stands for what."""
    using = of_texts(known, own=own)
    name = made["environment"]["facts"].get("machine.host", "")
    facts = made["environment"]["facts"]
    versions = {n: v for n, v in facts.items() if _VERSIONS.search(n) and not _PATH.search(n)}
    others = {n: v for n, v in facts.items() if n not in versions}
    if len(name) >= 3:
        others["machine.host"] = f"hostname: {name}"
    hidden = using.report({"others": others, "skipped": made["skipped"], "places": made["environment"]["places"]})
    if "machine.host" in others:
        hidden["others"]["machine.host"] = str(hidden["others"]["machine.host"]).removeprefix("hostname: ")
    environment = {**made["environment"], "facts": {n: versions.get(n, hidden["others"].get(n, "")) for n in facts}, "places": hidden["places"]}
    environment["where"] = using.text(environment["where"])
    for group in environment["groups"]:
        if group["name"] in ("network", "host"):
            group["line"] = using.text(group["line"])
    findings = [_finding(f, using.text) if f["id"].startswith("CHK") else f for f in made["findings"]]
    redacted = using.told
    return {**made, "environment": environment, "findings": findings, "skipped": hidden["skipped"], "redacted": redacted}, using


def _finding(finding: Json, hide: Any) -> Json:
    """Of a finding what stands on the machine; of versions nothing is hidden."""
    version = finding["id"].startswith(("CHK1", "CHK2", "CHK3"))
    shown = dict(finding)
    shown["scope"] = {**finding["scope"], "node": None}
    shown["evidence"] = [{**e, "path": hide(e["path"]), "text": e["text"] if version else hide(e["text"])} for e in finding["evidence"]]
    if not version:
        for key in ("title", "cause", "why"):
            shown[key] = {lang: hide(text) for lang, text in finding[key].items()}
    return shown
