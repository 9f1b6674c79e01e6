"""Numbers that a fix may name, worked out from those that a finding and the reader's command tell: a limit, a degree, a length."""

from __future__ import annotations

from collections.abc import Mapping

from doctor.answer.own_command import served
from doctor.answer.sizes import derived
from doctor.findings.evaluate import Instance
from doctor.findings.situation import Situation
from doctor.findings.weights import divided
from parsers.lazy import lazy

LOGITS = 4.0  # GiB that leave room for the copies which a loss makes of them
_SHORTEST = 512
_GIB = lazy(r"(?P<n>\d{1,4}(?:\.\d{1,2})?) GiB$")


def worked_out(known: Mapping[str, str], first: Instance, situation: Situation) -> dict[str, str]:
    """What is known, with what follows from it."""
    found = {**derived(known), **shorter(known), **accumulated(known), **known}
    return {**found, **divided(first.captures, served(situation.started, first.paths), situation.facts)} if "tp" in known else found


def accumulated(known: Mapping[str, str]) -> dict[str, str]:
    """How many steps make a global {batch} of a {micro} batch on some {ranks}; where none do, the batch nearest to it. How many {ids} are listed.

    >>> accumulated({"batch": "256", "micro": "8", "ranks": "4"}), accumulated({"batch": "100", "micro": "8", "ranks": "3"})
    ({'steps_fit': '8', 'batch_fit': '256'}, {'steps_fit': '4', 'batch_fit': '96'})
    >>> accumulated({"ids": "0,1,2,3"})
    {'world_fit': '4'}
    """
    if ids := known.get("ids"):
        return {"world_fit": str(ids.count(",") + 1)}
    told = [known.get(name, "") for name in ("batch", "micro", "ranks")]
    if not all(one.isdecimal() and int(one) for one in told):
        return {}
    batch, micro, ranks = map(int, told)
    steps = max(1, round(batch / (micro * ranks)))
    return {"steps_fit": str(steps), "batch_fit": str(steps * micro * ranks)}


def shorter(known: Mapping[str, str]) -> dict[str, str]:
    """`length_fit`: the power of two at which what grows with the {length} is some GiB, where {tried} of it were asked for.

    >>> shorter({"tried": "74.19 GiB", "length": "262144"}), shorter({"tried": "2.00 GiB", "length": "4096"})
    ({'length_fit': '8192'}, {'length_fit': '2048'})
    """
    size, length = _GIB.match(known.get("tried", "")), known.get("length", "")
    if size is None or not length.isdecimal() or not _SHORTEST < int(length) < 1 << 24:
        return {}
    most = min(int(length) * LOGITS / max(float(size["n"]), 1e-2), int(length) / 2)
    return {"length_fit": str(max(1 << (int(most).bit_length() - 1), _SHORTEST))}
