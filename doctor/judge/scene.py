"""What a rule is, what it may look at besides two findings, and how the table of rules is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from doctor.findings.attempts import Attempts
from doctor.findings.evaluate import Finding
from doctor.job.job import Story
from doctor.judge.nature import COMES_UP
from doctor.judge.nearness import Places
from parsers.named import NamedTuple

_GOOD_NEWS = COMES_UP | {"finished"}


class Scene(NamedTuple):
    """What a rule may look at besides the two findings."""

    places: Places
    attempts: Attempts
    story: Story
    harmless: Mapping[str, str]  # findings seen in harmless lines only, and the entry that calls those harmless


EXPLAINS, KEEPS_APART = True, False
Holds = Callable[[Finding, Finding, Scene], bool]


class Rule(NamedTuple):
    """Does it hold for an effect and what may be its cause? Then it explains the one by the other, or keeps them apart."""

    holds: Holds
    explains: bool

    @property
    def name(self) -> str:
        return self.holds.__name__.replace("_", "-")


def decide(effect: Finding, cause: Finding, scene: Scene, rules: Sequence[Rule]) -> int | None:
    """The place of the rule by which the second explains the first; None when it does not."""
    for place, rule in enumerate(rules):
        if rule.holds(effect, cause, scene):
            return place if rule.explains else None
    return None


def harmless(findings: Sequence[Finding]) -> dict[str, str]:
    """Findings seen in nothing but lines that an entry of the harmless ones claims, each with that entry's code.

    Of a text whose line breaks are written out (`{'message': 'context is empty\\nctx is NULL'}`, what a service answered) the
    harmless entry claims a part, not the whole line. Good news is another thing than a harmless line: beside a step that was trained may stand a loss that is none.
    """
    claimed = {
        h.place.spot: f.entry.code for f in findings if f.entry.role == "noise" and _GOOD_NEWS.isdisjoint(f.entry.traits) for h in f.hits if "\\n" not in h.place.text
    }
    found: dict[str, str] = {}
    for finding in findings if claimed else ():
        if finding.entry.role != "noise":
            owners = [claimed.get(h.place.spot) for h in finding.hits]
            if owners[0] is not None and all(owners):
                found[finding.entry.code] = owners[0]
    return found
