"""Findings to a tree: which are roots, which were only printed because of them, and in which order to read them.

What explains what is decided by the table of `rules`, which root comes first by `reading_order`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from doctor.base.notation import duration
from doctor.base.words import word
from doctor.findings.attempts import Attempts
from doctor.findings.evaluate import Finding
from doctor.job.job import NO_STORY, Story
from doctor.judge.nature import COMES_UP
from doctor.judge.nearness import Places
from doctor.judge.reading_order import first_attempt_first, likeliest_first, most_urgent_first
from doctor.judge.rules import RULES
from doctor.judge.scene import Rule, Scene, decide, harmless
from doctor.scan.harvest import Place
from kb.model import Text
from parsers.named import NamedTuple


class Related(NamedTuple):
    """A finding in its place: `explained_by` is the code of the finding above it, `explains` those beneath."""

    finding: Finding
    role: str  # root | symptom | context
    explained_by: str | None
    explains: tuple[str, ...]
    note: Text | None = None  # what the whole job says for it
    rule: str | None = None  # the name of the rule by which it is explained
    against: Place | None = None  # of a root: a line that nobody explains and that stands nearer to the origin


MOST_COMPARED = 100  # findings of which each is compared with each; more in one log is knowledge gone wrong
LEADERS = 4  # of the likeliest, with which the others are compared


def beside(finding: Finding) -> Related:
    """A finding of another time, or of none: it explains nothing, and nothing explains it."""
    apart = finding.apart
    assert apart is not None
    return Related(finding, "context", None, (), Text(*(word(f"apart-{apart.why}", lang, by=duration(apart.by, lang)) for lang in ("en", "zh"))))


def cleared(related: Sequence[Related]) -> frozenset[tuple[str, int]]:
    """The lines that are known and no fault of this run: harmless ones, and what a program came up or ended well in spite of."""
    well = {r.finding.entry.code for r in related if not (COMES_UP | {"finished"}).isdisjoint(r.finding.entry.traits)}
    found = (r.finding for r in related if r.explained_by in well or (r.finding.entry.role == "noise" and r.finding.entry.code not in well))
    return frozenset((hit.place.path, hit.place.line) for finding in found for hit in finding.hits)


class _Parent(NamedTuple):
    code: str
    rule: str


def relate(findings: Iterable[Finding], story: Story = NO_STORY, rules: Sequence[Rule] = RULES) -> tuple[Related, ...]:
    """Roots in reading order, each followed by what it explains; noise last."""
    findings = tuple(findings)
    attempts = Attempts(h.place for f in findings if "restarts" in f.entry.traits for h in f.hits)
    ranked = likeliest_first(findings, story, attempts)
    above = _parents(ranked, Scene(Places(), attempts, story, harmless(ranked)), rules)
    below: dict[str, list[Finding]] = {}
    for finding in ranked:
        if finding.entry.code in above:
            below.setdefault(_top(finding.entry.code, above), []).append(finding)
    out: list[Related] = []
    likely = first_attempt_first([f for f in ranked if f.entry.code not in above], story)
    for root in most_urgent_first(likely, story):
        folded = below.get(root.entry.code, [])
        explains = tuple(f.entry.code for f in folded)
        out.append(Related(root, "root", None, explains, story.notes.get(root.entry.code)))
        for finding in folded:
            parent = above[finding.entry.code]
            out.append(Related(finding, "symptom", parent.code, (), rule=parent.rule))
    return tuple(out)


def doubted_last(before: Sequence[Related], decided: Sequence[Related]) -> tuple[Related, ...]:
    """A root that a fact of the situation made one of several stands, with what it explains, behind roots that are still causes."""
    doubted = {new.finding.entry.code for old, new in zip(before, decided, strict=True) if new.role == "root" and (old.finding.entry.role, new.finding.entry.role) == ("cause", "ambiguous")}
    if not doubted or not any(r.role == "root" and r.finding.entry.role == "cause" and r.finding.entry.severity in ("error", "fatal") for r in decided):
        return tuple(decided)
    blocks: list[list[Related]] = []
    for one in decided:
        if one.role == "root" or not blocks:
            blocks.append([])
        blocks[-1].append(one)
    last = max((n for n, block in enumerate(blocks) if block[0].finding.entry.role == "cause"), default=0)
    moved = sorted(blocks[: last + 1], key=lambda block: block[0].finding.entry.code in doubted)
    return tuple(one for block in (*moved, *blocks[last + 1 :]) for one in block)


def _parents(ranked: Sequence[Finding], scene: Scene, rules: Sequence[Rule]) -> dict[str, _Parent]:
    """What explains each finding. The least likely root first, so that chains end at the best one."""
    above: dict[str, _Parent] = {}
    for number, finding in reversed(tuple(enumerate(ranked))):
        best: tuple[int, Finding] | None = None
        for other in ranked[: MOST_COMPARED if number < MOST_COMPARED else LEADERS]:
            if other is finding or _reaches(other.entry.code, finding.entry.code, above):
                continue
            place = decide(finding, other, scene, rules)
            if place is not None and (best is None or place < best[0]):
                best = (place, other)
        if best is not None:
            above[finding.entry.code] = _Parent(best[1].entry.code, rules[best[0]].name)
    return above


def _reaches(code: str, target: str, above: Mapping[str, _Parent]) -> bool:
    """Is the second above the first already?"""
    while code in above:
        code = above[code].code
        if code == target:
            return True
    return False


def _top(code: str, above: Mapping[str, _Parent]) -> str:
    while code in above:
        code = above[code].code
    return code
