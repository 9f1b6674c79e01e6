"""A row of a comparison, the API it belongs to, and the answer."""

from __future__ import annotations

from dataclasses import dataclass, field

from parsers.named import NamedTuple


class Limits(NamedTuple):
    """A tensor is suspect below this cosine similarity and above this largest absolute error, both; or beyond either of the far ones."""

    cosine: float = 0.99
    max_abs_err: float = 0.001
    low_cosine: float = 0.9
    high_error: float = 1.0


class Row(NamedTuple):
    """One compared tensor. Numbers are None where the tool wrote none (unsupported, N/A, shape unmatched)."""

    name: str
    api: str  # the name up to and with its direction: Functional.conv2d.0.forward
    way: str  # forward | backward
    side: str  # input | output
    dtype: str
    shape: tuple[int, ...] | None
    cosine: float | None
    max_abs_err: float | None
    verdict: str  # the tool's own: Yes, No, Warning, Different, ...
    message: str
    stack: str
    line: int


@dataclass(slots=True)
class Api:
    """A suspect API: its rows, which of them deviate, and whether it got its inputs right."""

    name: str
    way: str
    rows: list[Row] = field(default_factory=list)
    suspects: list[tuple[Row, str]] = field(default_factory=list)  # (row, why)

    @property
    def inherited(self) -> bool:
        """Its inputs deviate already: what made them is before it, or was not dumped."""
        return any(row.side == "input" for row, _ in self.suspects)

    @property
    def dumped(self) -> bool:
        """Does the comparison hold its inputs at all?"""
        return any(row.side == "input" for row in self.rows)


@dataclass(slots=True)
class Verdict:
    """What a comparison amounts to. `found` are the suspect APIs in the order of the file, the first ones of each way."""

    mode: str  # values | statistics | md5
    tool: str  # ptdbg_ascend | msprobe
    rows: int = 0
    judged: int = 0
    apis: int = 0
    suspects: dict[str, int] = field(default_factory=lambda: {"forward": 0, "backward": 0})
    found: list[Api] = field(default_factory=list)

    def first(self, way: str) -> Api | None:
        """The first suspect API of a direction, in the order of the file."""
        return next((api for api in self.found if api.way == way), None)

    def origin(self, way: str) -> Api | None:
        """The first one that deviates although its inputs, which were dumped, are right."""
        return next((api for api in self.found if api.way == way and api.dumped and not api.inherited), None)
