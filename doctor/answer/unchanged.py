"""Advice against a lack of memory that changes nothing for this reader: weights in 8 bits for who loads 4, a division that is there, a share that is the default.

    8 NPUs, TP=8, Kimi-K2 in W4A8: out of memory while the weights are loaded
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.findings.evaluate import Finding
from doctor.findings.situation import Situation
from doctor.findings.weights import quantised
from kb.model import Fix
from parsers.lazy import lazy

_IN_EIGHT = lazy(r"\bMODEL[-_]W8A8\b")
_WAYS = lazy(r"--(?:tensor-parallel-size|tp-size|tp)[ =](?P<n>\d{1,3}) or more")
_SHARE = "gpu-memory-utilization"
_DEFAULT = lazy(rf"vllm serve MODEL --{_SHARE} 0\.90?\s*$")
_DIVIDED = ("tensor-parallel-size", "tp-size", "tp")


def makes_no_room(fix: Fix, situation: Situation, finding: Finding) -> bool | None:
    """True: all of it is there, or takes more; None: a part of it is; False: it may help, as far as the logs tell."""
    if finding.entry.kind != "out-of-memory" or fix.goal == "locate":
        return False
    runs = [command.run for command in fix.commands if command.changes is not None]
    if runs and all(_IN_EIGHT.search(run) for run in runs) and _loads_few_bits(situation):
        return True
    if runs and all(map(_DEFAULT.match, runs)) and "second-engine" not in situation.facts.get("seen", ()):
        shares = {one.option(_SHARE) for one in situation.started if one.kind in ("vllm", "llm")}
        return False if shares - {None, "0.9", "0.90"} else True if shares else None
    asked = [int(found["n"]) for step in fix.steps for found in _WAYS.finditer(step.en)]
    return None if asked and max(_ways(situation), default=0) >= max(*asked, 8) else False


def _loads_few_bits(situation: Situation) -> bool:
    names = [one.model for one in situation.started if one.model]
    return "quantised" in situation.facts.get("option", ()) or any(map(quantised, names))


def _ways(situation: Situation) -> Iterator[int]:
    """Among how many cards the reader's words, or a command, say that the weights are divided."""
    told = [*situation.facts.get("tp_said", ()), *(value for one in situation.started for name in _DIVIDED if (value := one.option(name)) is not None)]
    return (int(value) for value in told if value.isdecimal() and len(value) < 5)
