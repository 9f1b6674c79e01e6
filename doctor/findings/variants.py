"""What an entry says where a fact of the situation, or of its own lines, decides between its causes."""

from __future__ import annotations

from doctor.findings.evaluate import Finding
from doctor.findings.situation import Situation


def decided(finding: Finding, situation: Situation) -> Finding:
    """The finding with what the first variant that holds says instead; itself where none does."""
    entry = finding.entry
    captures = finding.instances[0].captures
    for variant in entry.variants:
        if situation.fits(variant.when, captures) is True:
            said = entry._replace(title=variant.title or entry.title, cause=variant.cause or entry.cause, fixes=variant.fixes or entry.fixes)
            return finding._replace(entry=said._replace(role=variant.role or entry.role, confidence=variant.confidence or entry.confidence))
    return finding
