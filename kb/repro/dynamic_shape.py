"""One operator with a changing shape: the first call with each shape against the second shows what is compiled anew.

A first call that takes many times the second means that the kernel (or its tiling) is built for each shape: pad to few
shapes, or use an operator that has a dynamic kernel. torch.npu.set_compile_mode(jit_compile=False) selects the latter.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

from kb.repro._frame import Session, main
from kb.repro._tensors import UnusableError, operator, torch

# >>> slots: change these to change what is run
OPERATOR: str = "torch.softmax"
ARGS: list[Any] = [{"tensor": {"dtype": "float32", "shape": [4, 128]}}, -1]
KWARGS: dict[str, Any] = {}
SIZES: list[int] = [128, 129, 130, 131, 160, 192, 256, 257]  # what the changing dimension becomes in turn
DIMENSION: int = 1  # of the first tensor; every other dimension of that size changes with it
EXPECT: str = ""
NOTES: list[str] = []
# <<< slots


def resized(node: Any, old: int, new: int) -> Any:
    if isinstance(node, list):
        return [resized(item, old, new) for item in node]
    if isinstance(node, dict):
        if "shape" in node:
            kept = {key: item for key, item in node.items() if key not in ("stride", "offset")}
            return {**kept, "shape": [new if size == old else size for size in node["shape"]]}
        return {key: resized(item, old, new) for key, item in node.items()}
    return node


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--jit-compile", choices=("on", "off"), help="torch.npu.set_compile_mode(jit_compile=...)")


def first_shape(node: Any) -> list[int]:
    if isinstance(node, dict):
        return node["shape"] if "shape" in node else first_shape(list(node.values()))
    if isinstance(node, list):
        return next((found for found in map(first_shape, node) if found), [])
    return []


def reproduce(session: Session) -> None:
    if session.options.jit_compile and session.device.startswith("npu"):
        torch.npu.set_compile_mode(jit_compile=session.options.jit_compile == "on")
    function = operator(OPERATOR)
    shape = first_shape([ARGS, list(KWARGS.values())])
    if len(shape) <= DIMENSION:
        raise UnusableError(f"the first tensor has no dimension {DIMENSION}")
    slow = 0
    for size in SIZES:
        args, named = session.plan(resized([ARGS, list(KWARGS.values())], shape[DIMENSION], size))

        def work(place: Callable[[Any], Any], args: Any = args, named: Any = named) -> Any:
            return function(*place(args), **dict(zip(KWARGS, place(named))))  # noqa: B905

        expected, times = session.reference(work), []
        for _ in range(3):
            begin = time.perf_counter()
            actual = session.on_device(work)
            times.append((time.perf_counter() - begin) * 1000)
        built = times[0] > 10 * min(times[1:]) and times[0] > 20
        slow += built
        print(f"size {size}: first {times[0]:.2f} ms, then {min(times[1:]):.2f} ms{'  <- built anew' if built else ''}")
        session.check(f"size {size}", expected, actual)
    print(f"{slow} of {len(SIZES)} shapes were built anew" + (" (the first one always is)" if slow == 1 else ""))


if __name__ == "__main__":
    raise SystemExit(main(reproduce, f"Changing shapes of {OPERATOR}", NOTES, EXPECT, options))
