"""What a set of ranks is: every odd one, one whole node, all but one. A list of numbers hides what they have in common."""

from __future__ import annotations

import re
from collections.abc import Iterable

from doctor.base.notation import spans
from doctor.base.words import both
from parsers.named import NamedTuple

NODES = (8, 16, 4)  # ranks of a node, the usual ones first
SMALLEST = 3  # ranks of which it is worth saying what they have in common


class RankSet(NamedTuple):
    """A set in words, with the name of the rule that found them."""

    rule: str
    text: dict[str, str]


def described(ranks: Iterable[int], size: int | None) -> RankSet | None:
    """What the ranks have in common within a job of that size; None when they are any."""
    found = sorted(set(ranks))
    if len(found) < SMALLEST or found[0] < 0:
        return None
    if size is not None and found[-1] < size:
        others = sorted(set(range(size)) - set(found)) if size <= 1 << 16 else []
        if len(others) == 1:
            return RankSet("all-but-one", both("ranks-are:all-but", n=others[0]))
        if len(found) == size:
            return RankSet("all", both("ranks-are:all"))
        for node in NODES:
            if size > node and size % node == 0 and _whole_nodes(found, node):
                return RankSet("nodes", both("ranks-are:nodes", n=node, nodes=spans(r // node for r in found)))
        for parity, name in ((1, "odd"), (0, "even")):
            if found == [r for r in range(size) if r % 2 == parity]:
                return RankSet(name, both(f"ranks-are:{name}"))
    for node in NODES:
        if len({r % node for r in found}) == 1:
            return RankSet("place", both("ranks-are:place", n=found[0] % node, node=node))
    return None


def absent(came: Iterable[str], size: int, counted: int | None) -> tuple[int, ...]:
    """The ranks of a job that are not among those listed; none where a part of the list is not there."""
    here = {int(n) for text in came for n in re.findall(r"[0-9]{1,16}", text)}
    whole = here and (counted is None or counted == len(here)) and size <= 1 << 16
    return tuple(sorted(set(range(size)) - here)) if whole else ()


def _whole_nodes(ranks: list[int], node: int) -> bool:
    """Is every node of which a rank is among them among them whole?"""
    return all(r in ranks for n in {r // node for r in ranks} for r in range(n * node, (n + 1) * node)) if len(ranks) <= 4096 else False
