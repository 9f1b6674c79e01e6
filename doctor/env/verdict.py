"""Checks against facts. A check whose facts are not known says nothing; one that fails names the facts and where they stand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

from doctor.answer.advice import Values
from doctor.env.facts import Fact, Machine
from doctor.env.releases import compare
from doctor.scan.tablescan import condition
from kb.check import GROUPS, Check
from parsers.named import NamedTuple

HOLDS, FAILS, UNKNOWN, ELSEWHERE = "holds", "fails", "not known", "not for it"
_ORDERED: tuple[tuple[str, Callable[[int], bool]], ...] = (
    (">=", lambda n: n >= 0), ("<=", lambda n: n <= 0), (">", lambda n: n > 0), ("<", lambda n: n < 0),
)  # fmt: skip


class Result(NamedTuple):
    """What came out of one check, and the facts by which it did."""

    check: Check
    state: str
    facts: tuple[Fact, ...] = ()

    @property
    def fails(self) -> bool:
        return self.state == FAILS


def met(wanted: str, value: str, trusted: bool = True) -> bool:
    """`>= 24.1.rc1` by versions; `OK`, `!= OK`, `in a, b`, `~ regex` as in entries. A regex that takes too long is not met."""
    wanted = wanted.strip()
    for sign, holds in _ORDERED:
        if wanted.startswith(sign):
            if value == "unlimited":
                return holds(1)
            return value[:1].isdigit() and holds(compare(value, wanted[len(sign) :].strip()))
    try:
        return condition(wanted, value, trusted)
    except TimeoutError:
        return False


def judge(check: Check, machine: Machine) -> Result:
    """One check of one machine."""
    trusted = check.layer == "built-in"
    for name, wanted in check.when:
        about = _named(machine, name)
        if not any(met(wanted, fact.value, trusted) for fact in about):
            return Result(check, ELSEWHERE)
    held: list[Fact] = []
    failed: list[Fact] = []
    for name, wanted in check.wants:
        for fact in _named(machine, name):
            if fact.value == "not known":
                continue
            (held if met(wanted, fact.value, trusted) else failed).append(fact)
    if failed:
        return Result(check, FAILS, tuple(failed))
    return Result(check, HOLDS, tuple(held)) if held else Result(check, UNKNOWN)


def _named(machine: Machine, name: str) -> tuple[Fact, ...]:
    if "*" not in name:
        fact = machine.facts.get(name)
        return (fact,) if fact is not None else ()
    head = name.partition("*")[0]
    return tuple(f for f in machine.under(head) if fnmatchcase(f.name, name) and f.name.count(".") == name.count("."))


def results(machine: Machine, checks: Iterable[Check]) -> tuple[Result, ...]:
    """All checks, in the order of their codes."""
    return tuple(judge(check, machine) for check in checks if check.status != "deprecated")


_SEVERITY = {"fatal": 0, "error": 1, "warning": 2, "info": 3}


def failures(found: Iterable[Result]) -> tuple[Result, ...]:
    """What failed, the worst first, then from the driver upwards."""
    return tuple(sorted((r for r in found if r.fails), key=lambda r: (_SEVERITY[r.check.severity], GROUPS.index(r.check.group), r.check.code)))


def light(found: Iterable[Result], group: str) -> str:
    """The light of a group: red, yellow, green; grey where nothing is known."""
    mine = [r for r in found if r.check.group == group]
    severities = {r.check.severity for r in mine if r.fails}
    if severities & {"fatal", "error"}:
        return "red"
    if severities & {"warning"}:
        return "yellow"
    return "green" if any(r.state == HOLDS for r in mine) else "grey"


def values(result: Result, machine: Machine) -> Values:
    """What the texts of a check may name: every fact by its name with `_` for each dot; of several that fail, `which`."""
    one = {re.sub(r"\W", "_", name): fact.value[:300] for name, fact in machine.facts.items()}
    parts = [_which(fact.name) for fact in result.facts]
    which = tuple(dict.fromkeys(p for p in parts if p))
    if which:
        one["which"] = ", ".join(which[:16])
        if which[0].isdigit():
            one["device"] = which[0]
    if result.facts:
        one["value"] = result.facts[0].value[:300]
    every = {"which": which} if which else {}
    return Values(one, every)


def _which(name: str) -> str:
    """`3` of `chip.3.health`."""
    parts = name.split(".")
    return parts[1] if len(parts) == 3 else ""
