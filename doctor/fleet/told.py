"""What is told of a run beside its report: who is missing and why, and what it cost. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from doctor.base.notation import folded, size
from doctor.base.words import word
from doctor.base.words.told import told
from doctor.fleet.outcome import PARTIAL, SCANNED, STATES, Outcome

MOST = 200  # characters of names in one line
NODE = "NODE"  # in a reason that is the same of several nodes but for their names


def lines(outcomes: Mapping[str, Outcome], language: str) -> Iterator[str]:
    """One line a state, the reasons beneath it; those that were scanned only by their number."""
    for state in STATES:
        reasons: dict[str, list[str]] = {}
        for name, outcome in outcomes.items():
            if outcome.state == state:
                reasons.setdefault(outcome.reason.replace(name, NODE), []).append(name)
        if not reasons:
            continue
        names = [name for group in reasons.values() for name in group]
        yield word("fleet.row", language, state=word(f"fleet.state:{state}", language), count=len(names), names=_short(names))
        if state != SCANNED:
            for reason, group in sorted(reasons.items(), key=lambda row: (-len(row[1]), row[0])):
                why = told(reason.replace(NODE, group[0]) if len(group) == 1 else reason, language)
                yield f"  {_short(group)}: {why}" if len(reasons) > 1 else f"  {why}"
    received = sum(o.received for o in outcomes.values())
    heard = [o.received for o in outcomes.values() if o.state in (SCANNED, PARTIAL)]
    yield word("fleet.traffic", language, received=size(received), each=size(sum(heard) // len(heard)) if heard else "-", sent=size(sum(o.sent for o in outcomes.values())))


def _short(names: list[str]) -> str:
    told = folded(names)
    return told if len(told) <= MOST else f"{told[:MOST]}..."
