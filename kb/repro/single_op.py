"""One operator: the same inputs on the CPU and on the device, compared with a tolerance that fits the type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kb.repro._frame import Session, main
from kb.repro._tensors import UnusableError, operator

# >>> slots: change these to change what is run
OPERATOR: str = "torch.max"
ARGS: list[Any] = [{"tensor": {"dtype": "int64", "shape": [10, 20]}}]
KWARGS: dict[str, Any] = {"dim": 1}
COMPARE: bool = True  # False for an operator whose result is random
INCOMPLETE: str = ""  # what has to be filled in before this can run
EXPECT: str = ""
NOTES: list[str] = []
# <<< slots


def reproduce(session: Session) -> None:
    if INCOMPLETE:
        raise UnusableError(INCOMPLETE)
    function = operator(OPERATOR)
    args, kwargs = session.plan(ARGS), {name: session.plan(value) for name, value in KWARGS.items()}

    def work(place: Callable[[Any], Any]) -> Any:
        positional, named = place((args, kwargs))
        return function(*positional, **named)

    expected = session.reference(work) if COMPARE and not OPERATOR.startswith("torch_npu.") else None
    session.check(OPERATOR, expected, session.on_device(work))


if __name__ == "__main__":
    raise SystemExit(main(reproduce, f"Reproduction of {OPERATOR}", NOTES, EXPECT))
