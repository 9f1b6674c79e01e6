"""Autograd before set_device: the first backward pass starts the engine's threads with the device of that moment.

`--order late` runs a backward pass and selects the device afterwards (the order that failed), `--order early` selects
it first (the remedy). Without set_device, device 0 is used, and a later switch may be refused.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from kb.repro._frame import Session, main
from kb.repro._tensors import torch

# >>> slots: change these to change what is run
DEVICE: str = "npu:1"  # the device that the program selects, used when --device is not given
ORDER: str = "late"
SHAPE: list[int] = [200, 100]
DTYPE: str = "float32"
EXPECT: str = ""
NOTES: list[str] = []
# <<< slots


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--order", choices=("late", "early"), default=ORDER)
    if hasattr(torch, "npu"):
        parser.set_defaults(device=DEVICE)


def gradient(tensor: Any) -> Any:
    leaf = tensor.detach().requires_grad_()
    result = leaf.pow(2).sum()
    result.backward(torch.ones_like(result))
    return leaf.grad


def reproduce(session: Session) -> None:
    data = session.plan({"tensor": {"dtype": DTYPE, "shape": SHAPE}})

    def select() -> None:
        if session.device.startswith("npu"):
            torch.npu.set_device(session.device)

    def work(place: Callable[[Any], Any]) -> Any:
        return gradient(place(data))

    if session.options.order == "early":
        select()
    expected = session.reference(work)  # this backward pass comes before set_device when the order is late
    print(f"set_device comes {'before' if session.options.order == 'early' else 'after'} the first backward pass")
    if session.options.order == "late":
        select()
    session.check("gradient", expected, session.on_device(work))


if __name__ == "__main__":
    raise SystemExit(main(reproduce, f"Backward pass and set_device({DEVICE}), {ORDER}", NOTES, EXPECT, options))
