"""What passes between the stages: an operator as the log tells it, the call that is made of it, the finished script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Union

from kb.model import Text

# What a slot of a template may hold: the literals of Python and lists and string-keyed dictionaries of them.
Value = Union[None, bool, int, float, str, list["Value"], dict[str, "Value"]]


@dataclass(frozen=True, slots=True)
class Seen:
    """One tensor as a log describes it; `None` means that the log does not say."""

    role: str = ""  # the parameter's name in the log: self, mat2, x1, "tensor 1"
    index: int | None = None
    dtype: str | None = None  # torch's name
    shape: tuple[int, ...] | None = None
    number_format: int | None = None  # ACL's number; 2 is ND
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a torch operator, in the notation of the slots (see `kb/repro/_frame.py`, `Session.plan`)."""

    operator: str
    args: tuple[Value, ...] = ()
    kwargs: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """One recorded operator in its context; `out` names its results for the steps after it."""

    call: Call
    out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Operator:
    """What a text tells of one operator. Empty and `None` fields are not in the text; `guessed` names those inferred."""

    name: str  # as the text writes it
    family: str  # cann | aclnn | aten | torch | hccl
    how: str  # the kind of line that told: aclop, aclnn, aicore, fallback, traceback, record, ...
    inputs: tuple[Seen, ...] = ()
    attrs: tuple[tuple[str, Value], ...] = ()
    device: int | None = None
    error: str = ""  # a piece of the error's text that does not change from run to run
    line: int = 0
    path: str = ""
    failed: bool = False  # the text says that this operator failed; else it was only mentioned
    guessed: tuple[str, ...] = ()
    call: Call | None = None  # exact, from a recording
    line_call: str = ""  # the torch call of the source line that failed
    literals: tuple[tuple[str, Value], ...] = ()  # what that line writes out: `@1` by place, else by name
    context: tuple[Step, ...] = ()  # the recorded operators up to and including this one

    @property
    def known(self) -> int:
        """How much the text tells: the measure by which two mentions of one operator are ranked."""
        told = sum((s.dtype is not None) + 2 * (s.shape is not None) for s in self.inputs)
        return told + len(self.attrs) + (100 if self.call else 0)


@dataclass(frozen=True, slots=True)
class Request:
    """Which template, and values for its slots; what stands here was validated when the script is built, not before."""

    template: str
    slots: Mapping[str, Value]
    notes: tuple[Text, ...] = ()
    guessed: tuple[Text, ...] = ()
    guessed_slots: frozenset[str] = frozenset()
    expect: str = ""
    lang: str = "en"


@dataclass(frozen=True, slots=True)
class Script:
    text: str
    filename: str
    guessed: tuple[Text, ...]
    tried: Text | None = None  # what a trial without an NPU said of its call
