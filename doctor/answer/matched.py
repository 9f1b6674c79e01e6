"""Which part of a line of evidence matched: what a reader should look at first."""

from __future__ import annotations

import re

from doctor.scan.harvest import Hit
from doctor.scan.plan import PLAIN, REGEX_TIMEOUT_S
from kb.model import RAISED, Condition, Entry, Signal

MOST = 400  # characters of a match that are told


def matched(hit: Hit, entry: Entry) -> str:
    """The text that the leaf matched; empty for a row of a table and for what the kept text does not hold."""
    signal = next((s for s in entry.signals if s.id == hit.signal), None)
    if signal is None or signal.form == "fields":
        return ""
    text = hit.place.text[:PLAIN]
    if signal.form == RAISED:  # beneath the place that raised
        return next((line for line in text.split("\n") if line[:1].strip()), "").strip()[:MOST]
    found = _found(signal, text).split("\n")[0].strip()
    return found[:MOST] if found else max((a for a in signal.anchors if a in text), key=len, default="")


def _found(signal: Signal, text: str) -> str:
    if signal.form == "text":
        return signal.pattern if signal.pattern in text else ""
    if signal.trusted:
        told = re.search(signal.pattern, text)
        return told[0] if told else ""
    from kb.limited import search  # most users have no knowledge of their own

    try:
        told = search(signal.pattern, text, REGEX_TIMEOUT_S)
    except TimeoutError:
        return ""
    return str(told[0]) if told else ""


def decides(entry: Entry, signal: str) -> bool:
    """Does the leaf take part in the decision? What only adds captures is no evidence to show alone."""
    number = signal.rpartition("/")[2]
    return not number.isdigit() or int(number) not in _leaves(entry.also)


def _leaves(conditions: tuple[Condition, ...]) -> frozenset[int]:
    found: set[int] = set()
    for one in conditions:
        found |= {one} if isinstance(one, int) else _leaves(one[1])
    return frozenset(found)
