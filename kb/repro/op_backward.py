"""One operator forward and backward: the result and the gradient of every floating input, on the CPU and on the device.

For a failing gradient kernel (a name that ends in Grad or Backprop): autograd alone reaches it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kb.repro._frame import Session, main
from kb.repro._tensors import each, operator, tensors, torch

# >>> slots: change these to change what is run
OPERATOR: str = "torch.nn.functional.max_pool2d"
ARGS: list[Any] = [{"tensor": {"dtype": "float32", "shape": [2, 3, 16, 16]}}, 2]
KWARGS: dict[str, Any] = {"stride": 2}
EXPECT: str = ""
NOTES: list[str] = []
# <<< slots


def reproduce(session: Session) -> None:
    function = operator(OPERATOR)
    args, kwargs = session.plan(ARGS), {name: session.plan(value) for name, value in KWARGS.items()}

    def work(place: Callable[[Any], Any]) -> Any:
        leaves: list[Any] = []

        def require(leaf: Any) -> Any:
            if isinstance(leaf, torch.Tensor) and (leaf.is_floating_point() or leaf.is_complex()):
                leaf = leaf.detach().requires_grad_()
                leaves.append(leaf)
            return leaf

        positional, named = each(place((args, kwargs)), require)
        outputs = [one for one in tensors(function(*positional, **named)) if one.requires_grad]
        if not outputs:
            raise RuntimeError(f"{OPERATOR} has no gradient for these inputs")
        seeds = [cotangent(one) for one in outputs]
        gradients = torch.autograd.grad(outputs, leaves, seeds, allow_unused=True)
        return outputs, [one for one in gradients if one is not None]

    expected, actual = session.reference(work), session.on_device(work)
    for number, name in enumerate(("forward", "gradient")):
        session.check(name, None if expected is None else expected[number], actual[number])


def cotangent(result: Any) -> Any:
    """The same incoming gradient on every device: it depends on the shape alone."""
    generator = torch.Generator().manual_seed(1)
    kind = torch.complex64 if result.is_complex() else torch.float32
    return torch.randn(result.shape, generator=generator, dtype=kind).to(result.dtype).to(result.device)


if __name__ == "__main__":
    raise SystemExit(main(reproduce, f"Forward and backward of {OPERATOR}", NOTES, EXPECT))
