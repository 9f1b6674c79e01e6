"""One operator captured into an NPU graph and replayed: what the capture refuses, and whether the replay is right.

A CPU has no such graphs: there the call runs as it is, which proves the call and not the capture.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kb.repro._frame import Session, main
from kb.repro._tensors import UnusableError, operator, tensors, torch

# >>> slots: change these to change what is run
OPERATOR: str = "torch.nn.functional.linear"
ARGS: list[Any] = [
    {"tensor": {"dtype": "float16", "shape": [8, 64]}},
    {"tensor": {"dtype": "float16", "shape": [64, 64]}},
]
KWARGS: dict[str, Any] = {}
INSIDE: str = ""  # what else is captured: item, synchronize, copy (of memory that is not pinned), stream (another one)
INCOMPLETE: str = ""  # what has to be filled in before this can run
EXPECT: str = ""
NOTES: list[str] = []
# <<< slots


def inside(session: Session, result: Any) -> None:
    """What a captured region must not hold."""
    first = tensors(result)[0]
    if INSIDE == "item":
        first.flatten()[0].item()
    if INSIDE == "synchronize":
        session.synchronize()
    if INSIDE == "stream" and session.device.startswith("npu"):
        with torch.npu.stream(torch.npu.Stream()):
            first + 1
    if INSIDE == "copy":
        torch.ones(first.shape, dtype=first.dtype).to(session.device)


def reproduce(session: Session) -> None:
    if INCOMPLETE:
        raise UnusableError(INCOMPLETE)
    function = operator(OPERATOR)
    args, kwargs = session.plan(ARGS), {name: session.plan(value) for name, value in KWARGS.items()}

    def work(place: Callable[[Any], Any]) -> Any:
        positional, named = place((args, kwargs))
        return function(*positional, **named)

    def captured(place: Callable[[Any], Any]) -> Any:
        positional, named = place((args, kwargs))
        if not session.device.startswith("npu"):
            print("a CPU captures nothing: the call runs as it is")
            result = function(*positional, **named)
            inside(session, result)
            return result
        torch.npu.set_device(session.device)
        side = torch.npu.Stream()
        side.wait_stream(torch.npu.current_stream())
        with torch.npu.stream(side):  # what is compiled or allocated at the first call must not be captured
            function(*positional, **named)
        torch.npu.current_stream().wait_stream(side)
        torch.npu.synchronize()
        graph = torch.npu.NPUGraph()
        with torch.npu.graph(graph):
            result = function(*positional, **named)
            inside(session, result)
        graph.replay()
        return result

    expected = session.reference(work) if not OPERATOR.startswith("torch_npu.") else None
    session.check(f"{OPERATOR}, replayed", expected, session.on_device(captured))


if __name__ == "__main__":
    raise SystemExit(main(reproduce, f"Capture of {OPERATOR}", NOTES, EXPECT))
