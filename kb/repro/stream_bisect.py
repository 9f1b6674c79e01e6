"""A sequence of operators: first without waiting, then with a synchronisation after each, to find the one that fails.

Errors of a device arrive late: the line that raises is often innocent. Where the error stays away when every step is
waited for, the order on the streams is the cause (a tensor freed or overwritten while it is still in use), not a step.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from kb.repro._frame import ANOTHER, ERROR, MALFORMED, Session, main
from kb.repro._tensors import contiguous, each, operator, tensors, torch

# >>> slots: change these to change what is run
# A tensor with the id of an earlier result is that result; `out` names the results of a step.
STEPS: list[Any] = [
    {
        "op": "torch.sub",
        "args": [
            {"tensor": {"dtype": "float32", "shape": [224, 8], "id": "xs"}},
            {"tensor": {"dtype": "float16", "shape": [224, 8], "id": "box"}},
        ],
        "kwargs": {},
        "out": ["left"],
    },
    {
        "op": "torch.mul",
        "args": [{"tensor": {"dtype": "float32", "shape": [224, 8], "id": "left"}}, 2],
        "kwargs": {},
        "out": ["twice"],
    },
    {
        "op": "torch.sum",
        "args": [{"tensor": {"dtype": "float32", "shape": [224, 8], "id": "twice"}}],
        "kwargs": {},
        "out": ["total"],
    },
]
EXPECT: str = ""
NOTES: list[str] = []
# <<< slots


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sync", choices=("end", "each"), default="end", help="when to wait for the device")
    parser.add_argument("--no-compare", action="store_true", help="do not run the sequence on the CPU as well")


def view_of(live: Any, spec: dict[str, Any]) -> Any:
    """The earlier result as this step saw it: the same storage, perhaps another view; None when it does not fit."""
    widened = live.dtype == torch.float32 and spec["dtype"] in ("float16", "bfloat16")  # the reference's precision
    if str(live.dtype) != f"torch.{spec['dtype']}" and not widened:
        return None
    shape = tuple(spec.get("shape", ()))
    stride, offset = tuple(spec.get("stride") or contiguous(shape)), int(spec.get("offset", 0))
    if (tuple(live.shape), tuple(live.stride()), live.storage_offset()) == (shape, stride, offset):
        return live
    try:
        return live.as_strided(shape, stride, offset)
    except (RuntimeError, ValueError):
        return None


RANDOM = ("normal", "uniform", "bernoulli", "rand", "dropout", "multinomial", "exponential", "empty", "new_")


def run_steps(
    session: Session, place: Callable[[Any], Any], wait: bool, plans: dict[int, Any], before: list[Any] | None
) -> list[Any]:
    """The results of each step; `plans` keeps what was made for a node of STEPS: each run has the same inputs.

    What is random or uninitialised is taken from the run `before`, so that the steps after it can be compared.
    """
    live: dict[str, Any] = {}
    results = []

    def planned(node: Any) -> Any:
        if id(node) not in plans:
            plans[id(node)] = session.plan(node)
        return place(plans[id(node)])

    for number, step in enumerate(STEPS):

        def argument(node: Any) -> Any:
            if isinstance(node, dict) and "tensor" in node:
                spec = node["tensor"]
                name = spec.get("id")
                made = view_of(live[name], spec) if name in live else None
                if made is None:
                    made = planned(node)
                    if name is not None:
                        live[name] = made
                return made
            if isinstance(node, dict):
                inner = {key: argument(item) for key, item in node.items()}
                return tuple(inner["tuple"]) if "tuple" in inner else planned(node)
            return [argument(item) for item in node] if isinstance(node, list) else node

        name = f"step {number} {step['op']}"
        with torch.no_grad():
            args = [argument(node) for node in step["args"]]
            kwargs = {key: argument(node) for key, node in step["kwargs"].items()}
            try:
                result = operator(step["op"])(*args, **kwargs)
                if wait:
                    session.synchronize()
            except Exception as error:
                print(f"{name} raises{'' if wait else ' (or a step before it: nothing waits for the device)'}")
                raise error
        if before is not None and any(word in step["op"] for word in RANDOM):
            for made, earlier in zip(tensors(result), tensors(before[number][1])):  # noqa: B905
                made.detach().copy_(earlier)
        live.update(zip(step.get("out", []), tensors(result)))  # noqa: B905
        results.append((name, each(result, lambda leaf: leaf.clone() if isinstance(leaf, torch.Tensor) else leaf)))
    return results


def reproduce(session: Session) -> None:
    wait = session.options.sync == "each"
    plans: dict[int, Any] = {}
    expected = None
    if not session.options.no_compare:
        expected = session.reference(lambda place: run_steps(session, place, False, plans, None))
    try:
        actual = session.on_device(lambda place: run_steps(session, place, wait, plans, expected))
    except Exception as error:
        session.failed(error)
        if not wait:
            again()
        return
    for number, (name, result) in enumerate(actual):
        session.check(name, None if expected is None else expected[number][1], result)


def again() -> None:
    """The same in a fresh process, waiting after each step: a device that raised once cannot be trusted any more."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    print("--- again, waiting after each step ---", flush=True)
    code = subprocess.run([sys.executable, *sys.argv, "--sync", "each"], env=environment, check=False).returncode
    if code in (ERROR, ANOTHER, MALFORMED):
        print("--- the step named above is the one that fails ---")
    else:
        print(f"--- waiting after each step ends with exit code {code}: suspect the order on the streams ---")


if __name__ == "__main__":
    raise SystemExit(main(reproduce, f"A sequence of {len(STEPS)} operators", NOTES, EXPECT, options))
