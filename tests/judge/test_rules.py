"""Every rule of explanation is needed: without it goes wrong what its docstring names."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from doctor.job.job import NO_STORY
from doctor.job.story import story
from doctor.judge.diagnosis import conclude
from doctor.judge.proof import Bench
from doctor.judge.relate import Related, relate
from doctor.judge.rules import RULES
from doctor.judge.scene import Rule
from doctor.read import discover
from doctor.scan.harvest import Harvest
from kb.model import Entry
from tests.simulate.jobs import simulate

INCIDENTS = Path(__file__).parent.parent / "data" / "incidents"
CLAIM = re.compile(
    r"Without it: (incident|sample|simulated job) (\S+): (\w+) is (?:(read first)|(a root)|put beneath (\w+))\."
)


class Claim(NamedTuple):
    """What goes wrong where, as a rule's docstring says it."""

    kind: str
    where: str
    code: str
    first: bool
    root: bool
    beneath: str

    def holds(self, related: tuple[Related, ...]) -> bool:
        if self.first:
            return related[0].finding.entry.code == self.code
        mine = next(r for r in related if r.finding.entry.code == self.code)
        return mine.role == "root" if self.root else mine.explained_by == self.beneath


def claims(rule: Rule) -> list[Claim]:
    text = " ".join((inspect.getdoc(rule.holds) or "").split())
    return [Claim(a, b, c, bool(d), bool(e), f or "") for a, b, c, d, e, f in CLAIM.findall(text)]


@pytest.fixture(scope="module")
def harvest(bench: Bench, entries: list[Entry]) -> Callable[[Claim], list[Harvest]]:
    """The harvests of what a claim names."""
    samples = {f"{e.code}/{s.name}": s for e in entries for s in (*e.match, *e.no_match)}

    def scan(name: str, text: str) -> Harvest:
        return bench._scanner.scan(discover.given_text(text, name))

    def of(claim: Claim) -> list[Harvest]:
        if claim.kind == "incident":
            path = next((INCIDENTS / claim.where).glob("input.*"))
            return [bench._scanner.scan(source) for source in discover.discover([str(path)]).sources]
        if claim.kind == "sample":
            sample = samples[claim.where]
            return [scan(sample.path or "<sample>", sample.text)]
        fault, seed, *hidden = claim.where.split("/")
        return [scan(name, text) for name, text in simulate(int(seed), 16, fault, hide=bool(hidden)).files.items()]

    return of


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_is_needed(rule: Rule, harvest: Callable[[Claim], list[Harvest]], bench: Bench) -> None:
    """With it all is as it should be; switched off, what its docstring claims comes about."""
    told = claims(rule)
    assert told, f"the docstring of {rule.holds.__name__} does not say what goes wrong without it: {CLAIM.pattern}"
    without = tuple(r for r in RULES if r is not rule)
    for claim in told:
        whole = conclude(harvest(claim), bench.knowledge)
        findings = [r.finding for r in whole.related]
        known = story(whole.job, findings) if whole.job is not None else NO_STORY
        assert not claim.holds(whole.related), claim
        assert claim.holds(relate(findings, known, without)), claim


def test_rules_have_names_of_their_own() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)


def test_what_is_explained_tells_by_which_rule(bench: Bench) -> None:
    """Roots by none; everything else by a rule of the table that explains."""
    text = (INCIDENTS / "order-restart-after-kernel-exception" / "input.txt").read_text()
    related = conclude([bench._scanner.scan(discover.given_text(text, "a.log"))], bench.knowledge).related
    explaining = {rule.name for rule in RULES if rule.explains}
    assert {r.rule for r in related if r.role == "root"} == {None}
    assert {r.rule for r in related if r.role != "root"} <= explaining
    assert any(r.rule for r in related)
