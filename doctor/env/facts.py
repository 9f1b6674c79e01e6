"""What is known of a machine: flat facts, each with the place where it stands. They are compared, checked and written as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from doctor.base.notation import clean
from doctor.read.source import Skipped
from parsers.named import NamedTuple

MAX_VALUE = 2000  # characters of one fact
MAX_FACTS = 5000  # of one machine


class Fact(NamedTuple):
    """`driver.version` is `24.1.rc3`; and the line that says so."""

    name: str
    value: str
    path: str = ""
    line: int = 1
    text: str = ""


class Machine(NamedTuple):
    """A machine as far as it could be looked at. What could not be read is named."""

    facts: Mapping[str, Fact]
    skipped: tuple[Skipped, ...] = ()
    where: str = "/"
    seconds: float = 0.0

    def value(self, name: str) -> str:
        """The value of a fact; empty when nothing is known."""
        fact = self.facts.get(name)
        return fact.value if fact is not None else ""

    def under(self, prefix: str) -> tuple[Fact, ...]:
        """The facts whose names begin so, in their order."""
        return tuple(fact for name, fact in self.facts.items() if name.startswith(prefix))


def table(told: Iterable[Fact]) -> dict[str, Fact]:
    """Facts by name: what was told first holds, and nothing in a value steers a terminal."""
    found: dict[str, Fact] = {}
    for fact in told:
        if len(found) >= MAX_FACTS:
            break
        value = clean(fact.value.strip())[:MAX_VALUE]
        if value and fact.name not in found:
            name = clean(fact.name)
            found[name] = Fact(name, value, clean(fact.path), fact.line, clean(fact.text)[:MAX_VALUE])
    return found


def plain(machine: Machine) -> dict[str, str]:
    """Names and values alone."""
    return {name: fact.value for name, fact in machine.facts.items()}


def from_values(values: Mapping[str, Any]) -> Machine:
    """A machine of which only names and values are known: a recorded one, a sample of a check."""
    return Machine(table(Fact(str(name), str(value)) for name, value in values.items()))
