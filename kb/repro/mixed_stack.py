"""Inputs of different types joined by one operator: as they are, and cast to their common type.

Where the first fails and the second works, the cast before the join is the workaround. Differences of types often
come from one step before: a - b and b - a may have had different result types in old releases.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from kb.repro._frame import Session, main
from kb.repro._tensors import describe, operator, torch

# >>> slots: change these to change what is run
OPERATOR: str = "torch.stack"
INPUTS: list[Any] = [
    {"tensor": {"dtype": "float32", "shape": [64, 8]}},
    {"tensor": {"dtype": "float16", "shape": [64, 8]}},
    {"tensor": {"dtype": "float32", "shape": [64, 8]}},
    {"tensor": {"dtype": "float16", "shape": [64, 8]}},
]
KWARGS: dict[str, Any] = {"dim": -1}
EXPECT: str = ""
NOTES: list[str] = []
# <<< slots


def reproduce(session: Session) -> None:
    function = operator(OPERATOR)
    planned = session.plan(INPUTS)
    kwargs = {name: session.plan(value) for name, value in KWARGS.items()}
    common = reduce(torch.promote_types, [one.base.dtype for one in planned])

    def mixed(place: Callable[[Any], Any]) -> Any:
        return function(place(planned), **place(kwargs))

    def cast(place: Callable[[Any], Any]) -> Any:
        return function([one.to(common) for one in place(planned)], **place(kwargs))

    print(f"inputs: {describe(session.place(planned, 'cpu'))}; common type {common}")
    expected = session.reference(cast)
    session.check("cast to the common type", expected, session.on_device(cast))
    session.check("as they are", expected, session.on_device(mixed))


if __name__ == "__main__":
    raise SystemExit(main(reproduce, f"Mixed types into {OPERATOR}", NOTES, EXPECT))
