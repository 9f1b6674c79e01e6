"""Modules in their context, with hooks: tells the first layer whose output or gradient differs between CPU and device.

Use it when the operator alone is right and the model is not: weights, autocast and the layers around it matter too.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable
from typing import Any

from kb.repro._frame import Session, main
from kb.repro._tensors import UnusableError, dtype_named, torch

# >>> slots: change these to change what is run
MODULES: list[Any] = [
    {"name": "Conv2d", "args": [3, 16, 3], "kwargs": {"padding": 1}},
    {"name": "BatchNorm2d", "args": [16], "kwargs": {}},
    {"name": "ReLU", "args": [], "kwargs": {}},
    {"name": "MaxPool2d", "args": [2], "kwargs": {}},
    {"name": "Flatten", "args": [], "kwargs": {}},
    {"name": "Linear", "args": [1024, 10], "kwargs": {}},
]
INPUT: dict[str, Any] = {"tensor": {"dtype": "float32", "shape": [4, 3, 16, 16]}}
EXPECT: str = ""
NOTES: list[str] = []
# <<< slots


def build() -> Any:
    layers = []
    for one in MODULES:
        kind = getattr(torch.nn, one["name"], None)
        if not (isinstance(kind, type) and issubclass(kind, torch.nn.Module)):
            raise UnusableError(f"torch.nn has no module {one['name']}")
        layers.append(kind(*one["args"], **one["kwargs"]))
    return torch.nn.Sequential(*layers)


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--autocast", default="", metavar="DTYPE", help="run the forward pass under autocast")


def reproduce(session: Session) -> None:
    weights = build().state_dict()
    batch = session.plan(INPUT)

    def work(place: Callable[[Any], Any]) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        inputs = place(batch).detach()
        model = build()
        model.load_state_dict(weights)
        model = model.to(inputs.device).to(inputs.dtype if inputs.is_floating_point() else torch.float32)
        if inputs.is_floating_point():
            inputs.requires_grad_()
        for name, layer in model.named_children():
            layer.register_forward_hook(keep(seen, f"forward {name} {type(layer).__name__}"))
        wanted = session.options.autocast
        device = inputs.device.type
        with torch.autocast(device, dtype=dtype_named(wanted)) if wanted else contextlib.nullcontext():
            result = model(inputs)
        result.float().pow(2).mean().backward()
        for name, weight in reversed(list(model.named_parameters())):
            if weight.grad is not None:
                seen[f"gradient {name}"] = weight.grad.detach()
        if inputs.grad is not None:
            seen["gradient of the input"] = inputs.grad.detach()
        return seen

    expected, actual = session.reference(work), session.on_device(work)
    first = ""
    for name, value in actual.items():
        good = session.check(name, None if expected is None else expected.get(name), value)
        first = first or ("" if good else name)
    if first:
        print(f"the first difference is at: {first}")


def keep(seen: dict[str, Any], name: str) -> Callable[[Any, Any, Any], None]:
    def hook(_module: Any, _inputs: Any, output: Any) -> None:
        if isinstance(output, torch.Tensor):
            seen[name] = output.detach().clone()

    return hook


if __name__ == "__main__":
    names = ", ".join(one["name"] for one in MODULES)
    raise SystemExit(main(reproduce, f"Modules in context: {names}", NOTES, EXPECT, options))
