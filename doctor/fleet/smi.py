"""The cards of many nodes in one table, those that stand out first. Of the facts that `npu-doctor env` finds; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from doctor.base.notation import clean, folded
from doctor.base.words import word
from parsers.named import NamedTuple

HOT = 15.0  # degrees above the median of all cards
HELD = 10.0  # percent of HBM that a card without a process holds beyond the median of such cards
MAX_ROWS = 60  # of cards that stand out
_CARD = re.compile(r"chip\.(\d{1,5})\.(\w+)")
_LINK = re.compile(r"network\.(\d{1,5})\.(link|net_health)")
_FINE = ("ok", "up", "success", "init", "receive success", "")


class Card(NamedTuple):
    """One card, as its node's npu-smi shows it, and why it stands out."""

    node: str
    device: int
    health: str
    temp: float | None
    hbm: float | None
    busy: str
    why: tuple[str, ...] = ()


class Table(NamedTuple):
    """All cards, and the nodes that show none or fewer than the others, with why."""

    cards: tuple[Card, ...]
    nodes: tuple[tuple[str, str], ...]

    @property
    def odd(self) -> tuple[Card, ...]:
        return tuple(card for card in self.cards if card.why)


def table(machines: Sequence[tuple[str, Mapping[str, str]]], language: str = "en") -> Table:
    """The cards of nodes by their facts; those that stand out first."""
    cards = [card for node, facts in machines for card in _cards(node, facts)]
    heat = median([c.temp for c in cards if c.temp is not None] or [0.0])
    idle = median([c.hbm for c in cards if c.hbm is not None and c.busy == "no"] or [0.0])
    links = {(node, int(m[1])): (m[2], value) for node, facts in machines for name, value in facts.items() if (m := _LINK.fullmatch(name))}
    told = [card._replace(why=tuple(_why(card, heat, idle, links.get((card.node, card.device)), language))) for card in cards]
    counts = _counts(told, machines)
    usual = max(set(counts), key=lambda n: (counts.count(n), n), default=0)
    nodes = [(node, said) for (node, facts), count in zip(machines, counts, strict=True) if (said := _of_node(facts, count, usual, language))]
    told.sort(key=lambda c: (not c.why, -len(c.why), c.node, c.device))
    return Table(tuple(told), tuple(nodes))


def _counts(cards: Sequence[Card], machines: Sequence[tuple[str, Mapping[str, str]]]) -> list[int]:
    found: dict[str, int] = {}
    for card in cards:
        found[card.node] = found.get(card.node, 0) + 1
    return [found.get(node, 0) for node, _ in machines]


def _cards(node: str, facts: Mapping[str, str]) -> Iterator[Card]:
    of: dict[int, dict[str, str]] = {}
    for name, value in facts.items():
        if found := _CARD.fullmatch(name):
            of.setdefault(int(found[1]), {})[found[2]] = value
    for device, said in sorted(of.items()):
        yield Card(node, device, clean(said.get("health", "")), _number(said.get("temp")), _number(said.get("hbm_percent")), said.get("has_process", "unknown"))


def _number(written: str | None) -> float | None:
    return float(written) if written and re.fullmatch(r"-?\d{1,6}(?:\.\d{1,6})?", written) else None


def _why(card: Card, heat: float, idle: float, link: tuple[str, str] | None, language: str) -> Iterator[str]:
    if card.health.lower() != "ok":
        yield word("fleet.smi-health", language, health=card.health or "?")
    if card.temp is not None and card.temp > heat + HOT:
        yield word("fleet.smi-hot", language, temp=f"{card.temp:.0f}", usual=f"{heat:.0f}")
    if card.busy == "no" and card.hbm is not None and card.hbm > idle + HELD:
        yield word("fleet.smi-held", language, held=f"{card.hbm:.0f}")
    if link is not None and link[1].strip().lower() not in _FINE:
        yield f"{link[0]} {clean(link[1])}"


def _of_node(facts: Mapping[str, str], count: int, usual: int, language: str) -> str:
    state = facts.get("npu_smi.state", "absent")
    if not count:
        return word("fleet.smi-none", language, state=clean(facts.get("npu_smi.said", "") or state))
    missing = facts.get("chips.missing", "none")
    if missing not in ("none", ""):
        return word("fleet.smi-missing", language, missing=clean(missing))
    return word("fleet.smi-fewer", language, count=count, usual=usual) if count < usual else ""


def text(made: Table, absent: Sequence[tuple[str, str]], language: str) -> str:
    """The table for people: nodes first, then cards that stand out, then what the others are like."""
    odd = made.odd
    rows = [word("fleet.smi-head", language, cards=len(made.cards), nodes=len({c.node for c in made.cards}), odd=len(odd)), ""]
    rows += [f"{node:16} {said}" for node, said in (*absent, *made.nodes)]
    rows += [""] if absent or made.nodes else []
    for card in odd[:MAX_ROWS]:
        rows.append(f"{card.node:16} {card.device:3}  {card.health or '?':8} {_shown(card.temp, ' °C'):>7} {_shown(card.hbm, '%'):>5}  {'; '.join(card.why)}")
    if len(odd) > MAX_ROWS:
        rows.append(word("fleet.smi-more", language, cards=len(odd) - MAX_ROWS))
    rest = [card for card in made.cards if not card.why]
    if rest:
        rows += [""] if odd else []
        rows.append(word("fleet.smi-rest", language, cards=len(rest), names=folded(sorted({c.node for c in rest})), temp=_span([c.temp for c in rest]), hbm=_span([c.hbm for c in rest])))
    return "\n".join(rows) + "\n"


def _shown(value: float | None, unit: str) -> str:
    return "-" if value is None else f"{value:.0f}{unit}"


def _span(values: Sequence[float | None]) -> str:
    known = [v for v in values if v is not None]
    return f"{min(known):.0f}-{max(known):.0f}" if known else "-"


def as_json(made: Table, absent: Sequence[tuple[str, str]]) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "cards": [{**card._asdict(), "why": list(card.why)} for card in made.cards],
        "nodes": [{"node": node, "why": said} for node, said in made.nodes],
        "absent": [{"node": node, "why": said} for node, said in absent],
    }
