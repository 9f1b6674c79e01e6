"""The whole way from sources to a Diagnosis, without any face."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence

from doctor.findings import evaluate
from doctor.findings.loads import with_states
from doctor.findings.quoted import without_quoted
from doctor.findings.situation import UNKNOWN, Situation, situation
from doctor.findings.timely import part, without_states
from doctor.findings.variants import decided
from doctor.job.job import NO_STORY, Job, Story
from doctor.job.plausible import sound
from doctor.judge import relate, unclaimed
from doctor.judge.certainty import with_doubts
from doctor.judge.decisive import decisive
from doctor.judge.nature import COMES_UP, heads, tried_again, went_well_after
from doctor.judge.suspects import rows, suspected
from doctor.read.source import Skipped
from doctor.scan.harvest import CONCLUDED, Cluster, Harvest, Hit, merge
from doctor.scan.packed import only
from kb.knowledge import Knowledge
from parsers.named import NamedTuple


class Diagnosis(NamedTuple):
    """Findings in reading order, what stays unexplained, and what the verdict rests on."""

    verdict: str  # findings | clean | inconclusive
    related: tuple[relate.Related, ...]
    unexplained: tuple[Cluster, ...]
    skipped: tuple[Skipped, ...]
    harvest: Harvest
    seconds: float = 0.0
    job: Job | None = None
    situation: Situation = UNKNOWN
    decisive: Cluster | None = None  # the line nearest to the origin, where no entry explains it
    general: str | None = None  # the entry that is only what is known in general of it
    survived: frozenset[Cluster] = frozenset()  # of what is unexplained, what stands before a good end

    @property
    def roots(self) -> tuple[relate.Related, ...]:
        return tuple(r for r in self.related if r.role == "root" and r.finding.entry.role != "noise")


def conclude(
    harvests: Iterable[Harvest], knowledge: Knowledge, seconds: float = 0.0, skipped: Sequence[Skipped] = ()
) -> Diagnosis:
    """Merges what was harvested and draws the conclusions."""
    harvest = sound(merge((*harvests, Harvest(skipped=tuple(skipped))) if skipped else harvests))
    found = _concluded(harvest, knowledge, seconds)
    suspects = _suspects(found, knowledge)
    return _concluded(harvest, knowledge, seconds, suspects) if suspects is not None else found


def _suspects(found: Diagnosis, knowledge: Knowledge) -> Harvest | None:
    if found.verdict == "clean":
        return None
    return suspected(found.roots, found.decisive, found.unexplained, found.situation, knowledge)


def _concluded(harvest: Harvest, knowledge: Knowledge, seconds: float, suspects: Harvest | None = None) -> Diagnosis:
    """`suspects`: what the situation shows, where no line tells more."""
    job: Job | None
    try:
        findings, job, apart = judge(harvest, knowledge)
        if suspects is not None:
            findings = (*findings, *evaluate.evaluate(suspects, knowledge))
        related = (*relate.relate(findings, _story(job, findings)), *map(relate.beside, apart))
    except Exception as error:
        if os.environ.get("NPU_DOCTOR_DEBUG"):
            raise
        # What single processes say stands, whatever kept the job as a whole from being understood.
        job, related = None, relate.relate(evaluate.evaluate(harvest, knowledge))
        note = f"the job as a whole was not analysed, internal error: {type(error).__name__}: {error}"
        harvest = harvest._replace(skipped=(*harvest.skipped, Skipped("...", note[:300])))
    worked = any((COMES_UP | {"finished"}) & set(r.finding.entry.traits) for r in related)
    up = [r.finding for r in related if not COMES_UP.isdisjoint(r.finding.entry.traits)]
    related = tuple(r for r in related if r.explains or COMES_UP.isdisjoint(r.finding.entry.traits))  # else nobody has to be told
    # What is kept is what was read: whoever merges it with that of other nodes finds anew what no entry claims.
    open_still = unclaimed.give_back(harvest, (r.finding for r in related))
    unexplained = tuple(sorted(open_still.clusters, key=lambda c: (c.first.time or "~", c.first.path, c.first.line)))
    related = with_doubts(related, unexplained)
    # Of several alike the last may stand below the end; of a message that is known, its heading is no failure of its own.
    cleared = relate.cleared(related)
    survived = frozenset(c for c in unexplained if (c.total == 1 and (any(went_well_after(c.first, r.finding) for r in related) or any(tried_again(c.first, one) for one in up))) or heads(c.first, cleared))
    line, general = decisive(related, [c for c in unexplained if c not in survived], harvest.files <= evaluate.FEW_FILES)
    at = situation(harvest, knowledge.situation(), knowledge.frameworks(), knowledge.published())
    related = relate.doubted_last(related, tuple(r._replace(finding=decided(r.finding, at)) for r in related))
    verdict = _verdict(related, open_still._replace(errors=max(0, open_still.errors - sum(c.total for c in survived))))
    if verdict == "clean" and not worked and at.first("driver_pair") == "older":
        verdict = "inconclusive"  # what hangs prints no error, and nothing says that it came up
    return Diagnosis(
        verdict,
        related,
        unexplained,
        (*(Skipped(one.node, f"{one.state}: {one.reason}" if one.reason else one.state) for one in harvest.absent), *harvest.skipped),
        harvest,
        max(0.0, seconds),  # a clock may be set back meanwhile
        job,
        at,
        line,
        general,
        survived,
    )


class Judged(NamedTuple):
    """What holds at the time of the failure, the job when there is one, and what is of another time."""

    findings: tuple[evaluate.Finding, ...]
    job: Job | None
    apart: tuple[evaluate.Finding, ...]


def judge(harvest: Harvest, knowledge: Knowledge) -> Judged:
    """What holds, and the job when there is one: its verdicts are findings like any other."""
    harvest = with_states(harvest._replace(hits=tuple(h for h in harvest.hits if h.place.module not in CONCLUDED)))
    harvest, findings, beside = part(harvest, evaluate.evaluate(harvest, knowledge), knowledge)
    findings, states = without_states(findings)
    findings, past = without_quoted(findings, harvest)
    beside = (*beside, *states, *past)
    if harvest.dumps:
        findings = (*findings, *_of_dumps(harvest, knowledge))
    if not harvest.facts:  # most logs are of one process and tell nothing about others
        return Judged(findings, None, beside)
    from doctor.job.analyse import analyse, locate

    made = analyse(_first_run(harvest), findings)
    if made is None:
        return Judged(findings, None, beside)
    job, who = made
    verdicts = verdict_hits(job, knowledge)
    if verdicts:
        findings = (
            *findings,
            *evaluate.evaluate(Harvest(hits=verdicts, counts=Counter(h.signal for h in verdicts)), knowledge),
        )
    return Judged(locate(findings, job, who), job, beside)


def _first_run(harvest: Harvest) -> Harvest:
    """Without what a file tells that says of itself that it is the same run once more: its processes are of another job."""
    again = {said.path for said in harvest.situation if (said.fact, said.value) == ("seen", "run-again")}
    first = only(harvest.facts, lambda fact: fact.place.path not in again)
    if not again or not first:
        return harvest
    return harvest._replace(
        facts=first,
        hits=tuple(hit for hit in harvest.hits if hit.place.path not in again),
        spans=only(harvest.spans, lambda span: span.path not in again),
        clusters=tuple(cluster for cluster in harvest.clusters if cluster.first.path not in again),
    )


def dump_hits(harvest: Harvest, knowledge: Knowledge) -> tuple[Hit, ...]:
    """The hits that dumps of processes make."""
    from doctor.judge.dumps import hits

    return hits(harvest.dumps, knowledge.sought().rows)


def _of_dumps(harvest: Harvest, knowledge: Knowledge) -> tuple[evaluate.Finding, ...]:
    made = dump_hits(harvest, knowledge)
    return evaluate.evaluate(Harvest(hits=made, counts=Counter(h.signal for h in made)), knowledge)


def verdict_hits(job: Job, knowledge: Knowledge) -> tuple[Hit, ...]:
    """The hits that the verdicts of a job make."""
    from doctor.job.analyse import hits

    return hits(job, knowledge.sought().rows) if any(r.verdict != "fault" for r in job.roots) else ()


def stack_hits(harvest: Harvest, knowledge: Knowledge) -> tuple[Hit, ...]:
    """The hits that the situation makes, where no line tells more."""
    if not any(rows(situation(harvest, knowledge.situation(), knowledge.frameworks(), knowledge.published()))):
        return ()
    suspects = _suspects(_concluded(harvest, knowledge, 0.0), knowledge)
    return suspects.hits if suspects is not None else ()


def _story(job: Job | None, findings: Sequence[evaluate.Finding]) -> Story:
    if job is None:
        return NO_STORY
    from doctor.job.story import story

    return story(job, findings)


def _verdict(related: tuple[relate.Related, ...], harvest: Harvest) -> str:
    """A cause or a symptom is a finding; a remark, a lone wrapper or an unknown error is no answer."""
    real = [
        r
        for r in related
        if r.role == "root"
        and r.finding.entry.role in ("cause", "ambiguous", "symptom")
        and r.finding.entry.severity != "info"
    ]
    if real:
        return "findings"
    after = {code for r in related if "stopped" in r.finding.entry.traits for code in r.explains}
    wrapped = any(r.finding.entry.role == "wrapper" and r.finding.entry.code not in after for r in related)
    if wrapped or harvest.errors:
        return "inconclusive"
    ours = (
        any(kind in harvest.kinds for kind in ("plog", "message", "launcher", "table", "kernel", "dump"))
        or related
        or harvest.counts
    )
    return "clean" if ours and not harvest.absent else "inconclusive"
