"""Does an entry's own evidence prove it? Its samples are diagnosed by the real engine: what is tested is what ships.

hit       every leaf is hit by a sample
needed    without a branch, `same` or `within_s`, some no_match sample would match
first     in each match sample of a cause, it is the first root
captures  the expected captures come out
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.findings import evaluate
from doctor.judge.diagnosis import conclude, judge, verdict_hits
from doctor.read import discover
from doctor.scan.harvest import Harvest
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge
from kb.model import Entry, Sample


class Bench:
    """Scans samples with one plan, which is made once for the whole knowledge."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self._scanner = Scanner(Plan(knowledge.signals()))

    def harvest(self, sample: Sample) -> Harvest:
        """What a sample gives, with what the analysis of the job makes of it: verdicts are leaves of entries as well."""
        found = self._scanner.scan(discover.given_text(sample.text, sample.path or "<sample>"))
        job = judge(found, self.knowledge).job
        return found._replace(hits=found.hits + verdict_hits(job, self.knowledge)) if job is not None else found

    def problems(self, entry: Entry) -> list[str]:
        """Everything that the entry's samples do not prove."""
        matches = [(s, self.harvest(s)) for s in entry.match]
        others = [(s, self.harvest(s)) for s in entry.no_match]
        found = [
            *_matching(entry, matches, others, self.knowledge),
            *_hit(entry, matches, others),
            *_needed(entry, others),
        ]
        return [f"{entry.code}: {what}" for what in found]


class _One:
    """A knowledge of a single entry, for evaluating one entry by itself."""

    def __init__(self, entry: Entry) -> None:
        self._entry = entry

    def entry(self, code: str) -> Entry | None:
        return self._entry if code == self._entry.code else None


def holds(entry: Entry, harvest: Harvest) -> evaluate.Finding | None:
    """The entry's finding in a harvest, if it has one."""
    mine = harvest._replace(hits=tuple(h for h in harvest.hits if h.entry == entry.code))
    found = evaluate.evaluate(mine, _One(entry))
    return found[0] if found else None


def _matching(
    entry: Entry, matches: list[tuple[Sample, Harvest]], others: list[tuple[Sample, Harvest]], knowledge: Knowledge
) -> Iterator[str]:
    for sample, harvest in matches:
        finding = holds(entry, harvest)
        if finding is None:
            yield f"sample '{sample.name}' should match and does not (leaves hit: {_leaves(entry, harvest)})"
            continue
        every = {k: v for i in finding.instances for k, v in i.every.items()}
        for name, wanted in sample.expect:
            got = every.get(name, ())
            if wanted not in got:
                yield f"sample '{sample.name}': {name} is {', '.join(got) or 'not captured'}, expected {wanted}"
        if entry.role in ("cause", "ambiguous"):
            roots = conclude([harvest], knowledge).roots
            if roots and roots[0].finding.entry.code != entry.code and not _read_from(entry, roots[0].finding.entry):
                yield f"sample '{sample.name}': the first root is {roots[0].finding.entry.code} ({roots[0].finding.entry.title.en[:60]})"
    for sample, harvest in others:
        if holds(entry, harvest) is not None:
            yield f"sample '{sample.name}' must not match and does"


def _read_from(entry: Entry, first: Entry) -> bool:
    """Does the first root only read more precisely what the words of the sample say?"""
    return first.domain == "meaning" and (entry.general or entry.code in first.refines)


def _leaves(entry: Entry, harvest: Harvest) -> str:
    hit = {h.signal for h in harvest.hits}
    return ", ".join(s.id for s in entry.signals if s.id in hit) or "none"


def _hit(entry: Entry, matches: list[tuple[Sample, Harvest]], others: list[tuple[Sample, Harvest]]) -> Iterator[str]:
    seen = {h.signal for _, harvest in (*matches, *others) for h in harvest.hits}
    for signal in entry.signals:
        if signal.id not in seen:
            yield f"leaf {signal.id} is hit by no sample: {signal.pattern[:80] or signal.where}"


def _needed(entry: Entry, others: list[tuple[Sample, Harvest]]) -> Iterator[str]:
    """A branch that no counter-example needs is a guess."""
    mutants: list[tuple[str, Entry]] = []
    if len(entry.condition) > 1:
        for number, part in enumerate(entry.condition):
            rest = entry.condition[:number] + entry.condition[number + 1 :]
            what = f"branch {number + 1} of the evidence" + (
                " (a 'not')" if isinstance(part, tuple) and part[0] == "not" else ""
            )
            mutants.append((what, entry._replace(condition=rest)))
    if entry.same not in ("source", "job"):
        mutants.append((f"'same: {entry.same}'", entry._replace(same="job")))
    if entry.within_s is not None:
        mutants.append(("'within_s'", entry._replace(within_s=None)))
    for what, mutant in mutants:
        if all(isinstance(p, tuple) and p[0] == "not" for p in mutant.condition):
            continue
        if not any(holds(mutant, harvest) for _, harvest in others):
            yield f"{what} is not needed: no no_match sample would match without it"
