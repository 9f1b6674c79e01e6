"""What is known of operators: a description with its counts, and what the whole log amounts to."""

from __future__ import annotations

from dataclasses import dataclass, field

from doctor.repro.call import Seen, Value
from parsers.named import NamedTuple

# Operators that compute nothing: they change the storage format or the type of a tensor for their neighbours.
CONVERSIONS = ("TransData", "Cast", "TransDataRNN", "FormatCast", "Transpose", "AsStrided", "ViewCopy", "TensorMove")


class Change(NamedTuple):
    """What differs between an operator's inputs and those it was compiled for before."""

    number: int  # of the input, -1 when no single one
    what: str  # shape | dtype | format | inputs | attribute
    before: str
    after: str


@dataclass(slots=True)
class Kind:
    """One distinct description of an operator: type, tensors, attributes. Counts grow while the log is read."""

    type: str
    inputs: tuple[Seen, ...]
    outputs: tuple[Seen, ...]
    attrs: tuple[tuple[str, Value], ...]
    first_step: int
    order: int
    calls: int = 0
    runs: int = 0
    compiled: int = 0
    again: int = 0  # compiled after the first step although the type was compiled for other inputs before
    again_step: int = 0
    changes: tuple[Change, ...] = ()
    folded: bool = False  # all further descriptions of the type, beyond the limit


@dataclass(slots=True)
class Summary:
    """The whole answer. `steps_by` tells how far step numbers can be trusted: marker, estimate, or none."""

    kinds: list[Kind] = field(default_factory=list)
    steps: int = 1
    steps_by: str = "none"
    processes: int = 0
    bytes: int = 0
    files: int = 0

    @property
    def again(self) -> list[Kind]:
        return sorted((k for k in self.kinds if k.again), key=lambda k: (-k.again, k.order))

    @property
    def calls(self) -> int:
        return sum(k.calls + k.runs for k in self.kinds)

    @property
    def folded(self) -> int:
        """Calls of descriptions beyond the limit."""
        return sum(k.calls + k.runs for k in self.kinds if k.folded)

    def conversions(self) -> list[tuple[str, int, int]]:
        """(type, calls, distinct descriptions) of the converting operators, most calls first."""
        found: dict[str, list[int]] = {}
        for kind in self.kinds:
            if kind.type in CONVERSIONS:
                counts = found.setdefault(kind.type, [0, 0])
                counts[0] += kind.calls + kind.runs
                counts[1] += not kind.folded
        return sorted(((n, c[0], c[1]) for n, c in found.items()), key=lambda row: (-row[1], row[0]))


class Table(NamedTuple):
    """A torch profiler's printed table, one step for each time it was printed."""

    operators: dict[str, int]  # name -> calls
    shapes: dict[str, tuple[str, ...]]  # name -> distinct input shapes, first ones first
    dynamic: dict[str, tuple[str, ...]]  # name -> shapes that first came after the first step
    steps: int
    has_shapes: bool
