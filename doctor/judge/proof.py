"""Does an entry's own evidence prove it? Its samples are diagnosed by the real engine: what is tested is what ships.

hit       every leaf is hit by a sample
needed    without any part of the condition, however deep, or `same` or `within_s`, some no_match sample would match;
          without any alternative, some match sample (or a part of one in which no other alternative stands) would not
near      each leaf misses the lines it is hit by once a word of them is another: it is looked for by more than a stray word
first     in each match sample of a cause, it is the first root
captures  the expected captures come out
alone     no other entry holds in a match sample unless the two are related
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from doctor.findings import evaluate
from doctor.findings.loads import with_states
from doctor.judge.diagnosis import conclude, dump_hits, judge, stack_hits, verdict_hits
from doctor.judge.mutation import Mutant, mutants, twins, wording_alone
from doctor.read import discover
from doctor.scan.harvest import Harvest, Hit
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge
from kb.model import Entry, Sample

Seen = list[tuple[Sample, Harvest]]


class Bench:
    """Scans samples with one plan, which is made once for the whole knowledge."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self.tried = Counter[str]()  # counter-examples and mutants, over all entries
        self._scanner = Scanner(Plan(knowledge.sought()))

    def harvest(self, sample: Sample) -> Harvest:
        """What a sample gives, with what the analysis of the job makes of it: verdicts are leaves of entries as well."""
        found = with_states(self._scanner.scan(discover.given_text(sample.text, sample.path or "<sample>")))
        job = judge(found, self.knowledge).job
        if found.dumps:
            found = found._replace(hits=found.hits + dump_hits(found, self.knowledge))
        found = found._replace(hits=found.hits + stack_hits(found, self.knowledge))
        return found._replace(hits=found.hits + verdict_hits(job, self.knowledge)) if job is not None else found

    def problems(self, entry: Entry) -> list[str]:
        """Everything that the entry's samples do not prove."""
        matches = [(s, self.harvest(s)) for s in entry.match]
        others = [(s, self.harvest(s)) for s in entry.no_match]
        found = [
            *_matching(entry, matches, others, self.knowledge),
            *_hit(entry, matches, others),
            *self._needed(entry, matches, others),
            *self._near(entry, matches),
            *self._alone(entry, matches),
        ]
        self.tried["counter-examples"] += len(entry.no_match)
        return [f"{entry.code}: {what}" for what in found]

    def _needed(self, entry: Entry, matches: Seen, others: Seen) -> Iterator[str]:
        """A part of the condition that no sample needs is a guess."""
        for mutant in mutants(entry):
            self.tried["mutants"] += 1
            if mutant.weaker:
                if not any(holds(mutant.entry, harvest) for _, harvest in others):
                    yield f"{mutant.what} is not needed: no no_match sample would match without it"
            elif not any(self._misses(entry, mutant, sample, harvest) for sample, harvest in matches):
                yield f"{mutant.what} is not needed: whatever it sees, another one sees as well"

    def _misses(self, entry: Entry, mutant: Mutant, sample: Sample, harvest: Harvest) -> bool:
        """Is something of a sample lost without an alternative: the finding, or what it captures?"""
        parts = [_alone(entry, mutant, harvest)]
        if (text := wording_alone(entry, mutant, sample.text)) is not None:
            parts.append(self.harvest(sample._replace(text=text)))
        for part in parts:
            whole, without = holds(entry, part), holds(mutant.entry, part)
            if whole and (without is None or [i.captures for i in whole.instances] != [i.captures for i in without.instances]):
                return True
        return False

    def _near(self, entry: Entry, matches: Seen) -> Iterator[str]:
        """Counter-examples made of the samples: a line in which one word is another is no longer the fault's."""
        for signal in entry.signals:
            tried, missed = 0, 0
            for sample, harvest in matches:
                if any(h.signal == signal.id for h in harvest.hits):
                    for seen in twins(signal, sample.text):
                        tried, missed = tried + 1, missed + (not seen)
            self.tried["near counter-examples"] += tried
            if tried and not missed:
                yield f"leaf {signal.id} matches whatever its words are: none of {tried} lines with one word changed is missed"


    def _alone(self, entry: Entry, matches: Seen) -> Iterator[str]:
        """No other entry speaks of what this one's samples show, unless one of the two says how they belong together."""
        for sample, harvest in matches:
            for code in sorted({h.entry for h in harvest.hits} - {entry.code}):
                other = self.knowledge.entry(code)
                if other is not None and not _related(entry, other) and holds(other, harvest):
                    yield f"sample '{sample.name}' is spoken of by {code} as well: name it in refines, symptom_of or caused_by"


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


def _related(a: Entry, b: Entry) -> bool:
    """May entry `b` fire on a sample of entry `a`?"""
    if a.role in ("symptom", "wrapper", "noise") or b.role in ("symptom", "wrapper", "noise"):
        return True
    for x, y in ((a, b), (b, a)):
        if y.code in x.refines or any(e.entry == y.code or e.kind == y.kind for e in (*x.symptom_of, *x.caused_by)):
            return True
    return b.role == "ambiguous" or (a.kind == b.kind and bool(set(a.refines) & set(b.refines)))


def _matching(
    entry: Entry, matches: Seen, others: Seen, knowledge: Knowledge
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


def _hit(entry: Entry, matches: Seen, others: Seen) -> Iterator[str]:
    seen = {h.signal for _, harvest in (*matches, *others) for h in harvest.hits}
    for signal in entry.signals:
        if signal.id not in seen:
            yield f"leaf {signal.id} is hit by no sample: {signal.pattern[:80] or signal.where}"


def _alone(entry: Entry, mutant: Mutant, harvest: Harvest) -> Harvest:
    """What is left of a sample without the lines in which only the other alternatives stand."""
    mine = [h for h in harvest.hits if h.entry == entry.code]
    lines = {(h.place.path, h.place.line) for h in mine if _leaf(h) in mutant.kept}
    kept = (h for h in mine if _leaf(h) not in mutant.others or (h.place.path, h.place.line) in lines)
    return harvest._replace(hits=tuple(kept))


def _leaf(hit: Hit) -> int:
    return int(hit.signal.partition("/")[2])
