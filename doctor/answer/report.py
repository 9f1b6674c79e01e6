"""The report, version 1: the stable JSON form of a Diagnosis. `doctor/answer/report.schema.json` is its contract."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from doctor.answer import (
    action,
    advice,
    at_line,
    beside,
    callers,
    code_meaning,
    decision,
    doubts,
    grounds,
    matched,
    missing,
    said,
    situation_line,
    title_code,
)
from doctor.answer.fix_form import fix_json
from doctor.answer.named_first import named_first
from doctor.base import addresses, limits
from doctor.base.lang import LANGS
from doctor.base.notation import clean
from doctor.base.words import word
from doctor.findings.evaluate import Finding, order
from doctor.judge.diagnosis import Diagnosis
from doctor.judge.relate import Related
from doctor.scan.harvest import Caller, Cluster, Hit, Place
from doctor.version import __version__
from kb.knowledge import Knowledge
from kb.layers import BUILT_IN
from kb.model import Entry, Text

SCHEMA_VERSION = 1
MAX_FINDINGS = 500
MAX_EVIDENCE = 20
MAX_CLUSTERS = 40
MAX_SKIPPED = 500


def report(diagnosis: Diagnosis, knowledge: Knowledge) -> dict[str, Any]:
    """Everything a face needs, in both languages, in the order in which a person should read it."""
    skipped = diagnosis.skipped
    unexplained = diagnosis.unexplained[: limits.limit(limits.UNEXPLAINED, MAX_CLUSTERS)]
    unshown = len(diagnosis.unexplained) - len(unexplained)
    related = _within(diagnosis.related, limits.limit(limits.FINDINGS, MAX_FINDINGS))
    untold = len(diagnosis.related) - len(related)
    rows = skipped[: limits.limit(limits.SKIPPED, MAX_SKIPPED)]
    clusters = {c: _cluster(c, knowledge) for c in unexplained}
    codes = decision.codes(diagnosis)
    unfit = situation_line.asked_for(diagnosis.situation)
    made: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "npu-doctor", "version": __version__},
        "knowledge": {
            "entries": len(knowledge.codes_of_entries),
            "codes": knowledge.count_codes(),
            "digest": knowledge.digest,
        },
        "verdict": diagnosis.verdict,
        "situation": {
            "line": situation_line.line(diagnosis, unfit).json(),
            "facts": {fact: list(values) for fact, values in sorted(diagnosis.situation.facts.items())},
            **({"misfits": [one._asdict() for one in unfit]} if unfit else {}),
        },
        "decision": decision.decision(diagnosis, knowledge),
        "findings": [_finding(r, diagnosis, knowledge, codes) for r in related],
        "decisive": _decisive(diagnosis, clusters, knowledge),
        "unexplained": [clusters[c] for c in unexplained],
        "missing_evidence": [{"what": m.what.json(), "how": m.how.json()} for m in missing.missing(diagnosis)],
        "skipped": [{"path": clean(s.path), "reason": s.reason} for s in rows]
        + ([{"path": "...", "reason": f"{len(skipped) - len(rows)} more"}] if len(skipped) > len(rows) else [])
        + ([{"path": "...", "reason": f"{untold} more findings, of those that are told last ({limits.FINDINGS} moves that)"}] if untold else [])
        + ([{"path": "...", "reason": f"{unshown} more kinds of errors that nothing explains"}] if unshown > 0 else []),
        "stats": {
            "files": diagnosis.harvest.files,
            "bytes": diagnosis.harvest.size,
            "seconds": round(diagnosis.seconds, 3),
        },
        **({"job": _job(diagnosis)} if diagnosis.job is not None and len(diagnosis.job.processes) > 1 else {}),
    }
    return _cleaned(made)  # type: ignore[no-any-return]


def _within(related: tuple[Related, ...], most: int) -> tuple[Related, ...]:
    """The first ones, none of which names another that is not told."""
    if len(related) <= most:
        return related
    told = {r.finding.entry.code for r in related[:most]}
    return tuple(r._replace(explains=tuple(code for code in r.explains if code in told)) for r in related[:most])


def _job(diagnosis: Diagnosis) -> dict[str, Any]:
    """The job; what logs call things in it is cleaned like all text of logs."""
    from doctor.job.summary import summary

    assert diagnosis.job is not None
    made: dict[str, Any] = _cleaned(summary(diagnosis.job, [r.finding for r in diagnosis.related]))
    if made["world_size"] is None:
        made["world_size"] = diagnosis.situation.world_size(diagnosis.job.world_size or 0)
    return made


def _cleaned(value: Any) -> Any:
    """Nothing that logs, names of files, other nodes' harvests or users' entries say steers a terminal."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {k: _cleaned(v) for k, v in value.items()}
    return [_cleaned(v) for v in value] if isinstance(value, list) else value


def _nodes(finding: Finding) -> dict[str, list[str]]:
    """Every node on which it was found, where that is more than the one of the scope."""
    found = sorted({h.place.node for h in finding.hits if h.place.node})
    return {"nodes": found} if len(found) > 1 else {}


def _finding(related: Related, diagnosis: Diagnosis, knowledge: Knowledge, codes: decision.Times) -> dict[str, Any]:
    situation, caller = diagnosis.situation, callers.caller(related, diagnosis)
    finding = _of_owner(related, diagnosis, caller)
    entry, scope = finding.entry, finding.instances[0].scope
    known = code_meaning.completed(advice.values(finding, situation, beside.beside(related, diagnosis)), entry, knowledge, situation)
    advised = advice.fixes(finding, situation, known, callers.elsewhere(caller, entry, situation), callers.of_library(caller), caller.way if caller is not None else "")
    told, start = tuple(callers.counted_in(at_line.named(fix, caller), caller) for fix in advised.fixes), advice.start(advised, entry)
    times = _times(h for h in finding.hits if matched.decides(entry, h.signal)) or _times(finding.hits)
    says = said.said(related, diagnosis)
    first = named_first(related, diagnosis)
    return {
        "id": entry.code,
        "slug": entry.slug,
        "kind": entry.kind,
        "role": related.role,
        "severity": entry.severity,
        "confidence": grounds.confidence(related),
        "why": grounds.why(related, first).json(),
        "against": doubt.json() if (doubt := grounds.against(related)) is not None else None,
        "doubts": doubts.doubts(related, diagnosis),
        "note": _note(related, diagnosis),
        "title": _title(entry, title_code.as_printed(advice.prose(entry.title, known), finding), knowledge),
        "cause": advice.prose(entry.cause, known).json(),
        "says": says,
        "caller": callers.told(caller),
        "scope": {"node": scope.node, "rank": scope.rank, "device": scope.device, "pid": scope.pid, **_nodes(finding)},
        "count": finding.total,
        "first_seen": times[0] if times else None,
        "last_seen": times[-1] if times else None,
        "evidence": [{**place(h.place), "matched": clean(_matched(h, finding))} for h in _evidence(finding)],
        "explains": list(related.explains),
        "explained_by": related.explained_by,
        "rule": related.rule,
        "action": None if entry.kind == "wrapper" and says else action.action(related, told, start.fix if start.fix is not None else start.check, decision.levels(finding, knowledge, codes), first),
        "scheduler": [level.json() for level in decision.levels(finding, knowledge, codes)],
        "fixes": [fix_json(f) for f in told],
        "first_check": start.check,
        "first_fix": start.fix,
        "other_fixes": list(start.others),
        "repro": entry.repro[0] if entry.repro else None,
        "references": [{"kind": r.kind, "title": r.title, "url": r.url} for r in entry.references],
        **({"page": page} if entry.layer == BUILT_IN and (page := _page(entry.code)) else {}),
        **({} if entry.layer == BUILT_IN else {"layer": entry.layer, "replaces": knowledge.replaced(entry.code)}),
    }


def _times(hits: Iterable[Hit]) -> list[str]:
    return sorted(time for hit in hits if (time := hit.place.time))


def _of_owner(related: Related, diagnosis: Diagnosis, caller: Caller | None) -> Finding:
    """What failed on the device is told with whose kernel it is, and what did not fit with the line that made it."""
    if related.finding.entry.kind == "out-of-memory" and caller is not None:
        from doctor.answer import tensors  # few logs tell of memory

        return tensors.told(related.finding, caller, diagnosis.situation)
    if related.finding.entry.kind not in ("device-exception", "device-timeout"):
        return related.finding
    from doctor.answer import kernel_owners, own_kernel  # few logs tell of a kernel

    return own_kernel.told(related, diagnosis) or kernel_owners.told(related)


def _note(related: Related, diagnosis: Diagnosis) -> dict[str, str] | None:
    """What the whole job says for it; else what a dump that lies beside the logs shows of it: who holds the memory that was missing."""
    if related.note is not None and related.note.en:
        return related.note.json()
    for other in diagnosis.related if related.role == "root" else ():
        if other.explained_by == related.finding.entry.code and any((h.place.kind, h.place.module) == ("table", "memory") for h in other.finding.hits):
            return title_code.as_printed(advice.prose(other.finding.entry.title, advice.values(other.finding, diagnosis.situation)), other.finding).json()
    return None


def _page(code: str) -> dict[str, str]:
    """Its page on the site that the reader named, in both languages; empty where there is none."""
    found = {language: addresses.page("entry", code, language) for language in LANGS}
    return found if all(found.values()) else {}


def _title(entry: Entry, told: Text, knowledge: Knowledge) -> dict[str, str]:
    """The title, with whose word it is where that is not ours: every format shows titles."""
    if entry.layer == BUILT_IN:
        return told.json()
    how = "replacing" if knowledge.replaced(entry.code) else "foreign"
    return {language: f"{told.pick(language)} {word(how, language, layer=entry.layer)}" for language in ("en", "zh")}


def _evidence(finding: Finding) -> list[Hit]:
    """The first place of every signal, then further ones, each line once, in order."""
    chosen: dict[tuple[str, int], Hit] = {}
    most = limits.limit(limits.EVIDENCE, MAX_EVIDENCE)
    for instance in finding.instances:
        seen: set[str] = set()
        for hit in instance.hits:
            if hit.signal not in seen and len(chosen) < most:
                seen.add(hit.signal)
                chosen.setdefault((hit.place.path, hit.place.line), hit)
    return sorted(chosen.values(), key=lambda hit: order(hit.place))


def _matched(hit: Hit, finding: Finding) -> str:
    """What of the line matched, where it took part in the decision."""
    return matched.matched(hit, finding.entry) if matched.decides(finding.entry, hit.signal) else ""


def place(one: Place) -> dict[str, Any]:
    return {
        "path": clean(one.path),
        "line": one.line,
        "end_line": one.end_line,
        "time": one.time,
        "level": one.level,
        "module": one.module,
        "text": "\n".join(clean(row) for row in one.text.split("\n")),
    }


def _decisive(
    diagnosis: Diagnosis, clusters: Mapping[Cluster, dict[str, Any]], knowledge: Knowledge
) -> dict[str, Any] | None:
    """The line that is the answer where no entry is: with the general entry that only stands beside it."""
    line = diagnosis.decisive
    if line is None:
        return None
    caller = callers.told(callers.of_line(line.first, diagnosis))
    return {**(clusters.get(line) or _cluster(line, knowledge)), "general": diagnosis.general, "caller": caller}


def _cluster(cluster: Cluster, knowledge: Knowledge) -> dict[str, Any]:
    codes = []
    for written in cluster.codes[:8]:
        rows = knowledge.decode(written)
        codes.append(
            {
                "code": written,
                "name": rows[0].get("name") if rows else None,
                "meaning": rows[0]["meaning"] if rows else None,
            }
        )
    from doctor.lookup.nearest import nearest  # only what nobody knows is compared with everything

    return {
        "template": clean(cluster.template),
        "count": cluster.total,
        "level": cluster.first.level,
        "module": cluster.first.module,
        "codes": codes,
        "nearest": nearest(cluster.first.text, knowledge),
        "evidence": place(cluster.first),
    }
