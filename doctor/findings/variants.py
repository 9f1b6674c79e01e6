"""What an entry says where a fact of the situation, or of its own lines, decides between its causes."""

from __future__ import annotations

from doctor.findings.evaluate import Finding
from doctor.findings.situation import Situation
from doctor.scan.harvest import Place
from kb.model import SAID, Condition, Entry, Variant
from parsers.lazy import lazy


def decided(finding: Finding, situation: Situation) -> Finding:
    """The finding with what the first variant that holds says instead; itself where none does."""
    entry = finding.entry
    captures = finding.instances[0].captures
    if _of_newcomers(entry):
        captures = {**situation.newcomer(captures), **captures}
        first = finding.instances[0]._replace(captures=captures)
        finding = finding._replace(instances=(first, *finding.instances[1:]))
    for variant in entry.variants:
        if situation.fits(variant.when, captures) is True:
            said = entry._replace(title=variant.title or entry.title, cause=variant.cause or entry.cause, fixes=variant.fixes or entry.fixes)
            turned = finding._replace(entry=said._replace(role=variant.role or entry.role, confidence=variant.confidence or entry.confidence))
            return _shown_by(turned, variant) if variant.title is not None else turned
    return finding


def _of_newcomers(entry: Entry) -> bool:
    """Does it say from which release on a model, or a line of source, is known?"""
    return any(fact in _SINCE for variant in entry.variants for fact, _ in variant.when)


_SINCE = frozenset({f"{SAID}transformers_since", f"{SAID}vllm_since", f"{SAID}python_since"})
_FAILS = lazy(r"(?i)\b(?:\w*error|fail\w*|fatal|not|cannot|can't|un\w+ed|illegal|invalid|exception|refus\w+|missing|no|only|must|should|exceed\w*|expect\w*|killed|times? out|timeout)\b|失败|错误")
_ERRORS = ("error", "fatal", "critical")
# A frame, behind whatever prefix, says where something is, and a command what somebody wanted, whatever words stand in them.
_ASIDE = lazy(r"(?:^|\s)File \"[^\"\n]{1,300}\", line \d{1,8}, in \w+\s*$|(?:[\s'\"\[,]{1,4}(?:--[\w-]+[ =][^\s',]+|\+?[a-z_]\w{0,40}(?:\.\w{1,60}){1,6}=[^\s',]*)){2}")


def _tells_of_failure(place: Place) -> bool:
    return _ASIDE.search(place.text) is None and (_FAILS.search(place.text) is not None or place.level in _ERRORS)


def _shown_by(finding: Finding, variant: Variant) -> Finding:
    """What a title of its own rests on are the lines that told the variant's words: the others only add to it.

    But for what says nothing of a failure: a command, a listing, a step of a build.
    """
    words = {fact.removeprefix(SAID) for fact, _ in variant.when if fact.startswith(SAID)}
    tell = {hit.signal for hit in finding.hits if any(name in words for name, _ in hit.captures) and _tells_of_failure(hit.place)}
    if not tell:
        return finding
    aside: tuple[Condition, ...] = tuple(number for number, signal in enumerate(finding.entry.signals) if signal.id not in tell)
    return finding._replace(entry=finding.entry._replace(also=aside))
