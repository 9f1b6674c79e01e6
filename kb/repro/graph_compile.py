"""One operator through torch.compile: on an NPU with torchair, on the CPU with a backend that only traces.

What the graph engine refuses is raised at the first call; a result that differs from the one without a graph is told.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from kb.repro._frame import Session, main
from kb.repro._tensors import UnusableError, operator, torch

# >>> slots: change these to change what is run
OPERATOR: str = "torch.nn.functional.gelu"
ARGS: list[Any] = [{"tensor": {"dtype": "float16", "shape": [8, 64]}}]
KWARGS: dict[str, Any] = {}
CHANGING: bool = False  # compile for shapes that change
INCOMPLETE: str = ""  # what has to be filled in before this can run
EXPECT: str = ""
NOTES: list[str] = []
# <<< slots


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--backend", default="", help="another backend of torch.compile (default: torchair, aot_eager on the CPU)")


def backend(session: Session) -> Any:
    if session.options.backend:
        return session.options.backend
    if not session.device.startswith("npu"):
        return "aot_eager"
    try:
        import torchair
    except ImportError as problem:
        raise UnusableError(f"torchair is not installed ({problem}): --backend names another one") from None
    return torchair.get_npu_backend(compiler_config=torchair.CompilerConfig())


def reproduce(session: Session) -> None:
    if INCOMPLETE:
        raise UnusableError(INCOMPLETE)
    function = operator(OPERATOR)
    args, kwargs = session.plan(ARGS), {name: session.plan(value) for name, value in KWARGS.items()}

    def call(positional: Any, named: Any) -> Any:
        return function(*positional, **named)

    compiled = torch.compile(call, backend=backend(session), dynamic=CHANGING, fullgraph=True)
    expected = session.reference(lambda place: call(*place((args, kwargs)))) if not OPERATOR.startswith("torch_npu.") else None

    def work(place: Callable[[Any], Any]) -> Any:
        return compiled(*place((args, kwargs)))

    session.check(f"{OPERATOR}, compiled", expected, session.on_device(work))


if __name__ == "__main__":
    raise SystemExit(main(reproduce, f"torch.compile of {OPERATOR}", NOTES, EXPECT, options))
