"""One operator near the limits of its type: infinities and NaN on the device and on the CPU, and the room left.

Three cases: the exact result does not fit the type (then CPU and device agree, and the model needs scaling or
bfloat16); the device alone overflows (a kernel that adds in half precision); the device stops at the largest number
instead of infinity (saturation mode, INF_NAN_MODE_ENABLE=0).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kb.repro._frame import MISMATCH, Session, main
from kb.repro._tensors import operator, tensors, torch

# >>> slots: change these to change what is run
OPERATOR: str = "torch.mul"
ARGS: list[Any] = [
    {"tensor": {"dtype": "float16", "shape": [64, 64], "low": 0, "high": 4000}},
    {"tensor": {"dtype": "float16", "shape": [64, 64], "low": 0, "high": 20}},
]
KWARGS: dict[str, Any] = {}
EXPECT: str = ""
NOTES: list[str] = []
# <<< slots


def odd(tensor: Any) -> Any:
    return ~tensor.detach().cpu().isfinite()


def reproduce(session: Session) -> None:
    function = operator(OPERATOR)
    args, kwargs = session.plan(ARGS), {name: session.plan(value) for name, value in KWARGS.items()}

    def work(place: Callable[[Any], Any]) -> Any:
        positional, named = place((args, kwargs))
        return function(*positional, **named)

    exact = session.reference(work)  # half precision is computed in float32 here
    actual = tensors(session.on_device(work))
    references = tensors(exact) if exact is not None else [None] * len(actual)
    for number, (wide, narrow) in enumerate(zip(references, actual)):  # noqa: B905
        if not narrow.is_floating_point():
            continue
        largest = torch.finfo(narrow.dtype).max
        found = odd(narrow)
        saturated = (narrow.detach().cpu().abs() == largest).sum().item()
        print(f"{OPERATOR}[{number}] {narrow.dtype}: {int(found.sum())} of {found.numel()} not finite, ", end="")
        print(f"{saturated} at the largest number {largest:.6g}")
        if wide is None:
            continue
        needed = wide.detach()[wide.isfinite()].abs().max().item() if wide.isfinite().any() else float("nan")
        expected = odd(wide.to(narrow.dtype))
        print(f"  the largest exact value is {needed:.6g}: {needed / largest:.2%} of what the type can hold")
        if bool((found & ~expected).any()):
            print("  the device overflows where the exact result fits: the kernel, not the data")
            session.judge(MISMATCH)
        elif bool((expected & ~found).any()):
            print("  the device saturates where the CPU gives infinity: see INF_NAN_MODE_ENABLE")
            session.judge(MISMATCH)
        elif bool(expected.any()):
            print("  the exact result does not fit the type: scale the inputs or use a wider type")
    if session.options.device.startswith("npu") and actual:
        print(f"torch_npu.npu.utils.npu_check_overflow: {torch.npu.utils.npu_check_overflow(actual[0])}")
    session.check(OPERATOR, exact, actual)


if __name__ == "__main__":
    raise SystemExit(main(reproduce, f"Overflow of {OPERATOR}", NOTES, EXPECT))
