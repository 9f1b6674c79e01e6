"""One operator in its three forms: a new result, in place, and into `out=`; each compared with the CPU.

A kernel that is right when it makes its own result may be wrong when it writes into a tensor that exists: the result
aliases an input, or `out=` is a view with gaps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kb.repro._frame import Session, main
from kb.repro._tensors import operator, tensors, torch

# >>> slots: change these to change what is run
OPERATOR: str = "torch.add"
INPLACE: str = "torch.Tensor.add_"  # empty: there is no such form
OUT: bool = True
ARGS: list[Any] = [
    {"tensor": {"dtype": "float32", "shape": [8, 16]}},
    {"tensor": {"dtype": "float32", "shape": [8, 16]}},
]
KWARGS: dict[str, Any] = {}
EXPECT: str = ""
NOTES: list[str] = []
# <<< slots


def spaced(result: Any) -> Any:
    """A tensor of the same shape and type that is every second column of a wider one."""
    if not result.dim():
        return torch.empty_like(result)
    wide = torch.empty([*result.shape[:-1], result.shape[-1] * 2], dtype=result.dtype, device=result.device)
    return wide[..., ::2]


def reproduce(session: Session) -> None:
    plain = operator(OPERATOR)
    args, kwargs = session.plan(ARGS), {name: session.plan(value) for name, value in KWARGS.items()}

    def new_result(place: Callable[[Any], Any]) -> Any:
        positional, named = place((args, kwargs))
        return plain(*positional, **named)

    def in_place(place: Callable[[Any], Any]) -> Any:
        positional, named = place((args, kwargs))
        operator(INPLACE)(*positional, **named)
        return positional[0]  # what was written, not what was returned

    def into(make: Callable[[Any], Any]) -> Callable[[Callable[[Any], Any]], Any]:
        def work(place: Callable[[Any], Any]) -> Any:
            positional, named = place((args, kwargs))
            outs = [make(one) for one in tensors(plain(*positional, **named))]
            plain(*positional, **named, out=outs[0] if len(outs) == 1 else tuple(outs))
            return outs

        return work

    expected = session.reference(new_result)
    session.check("new result", expected, session.on_device(new_result))
    if INPLACE:
        session.check("in place", session.reference(in_place), session.on_device(in_place))
    if OUT:
        session.check("out=", expected, session.on_device(into(torch.empty_like)))
        session.check("out= with gaps", expected, session.on_device(into(spaced)))


if __name__ == "__main__":
    raise SystemExit(main(reproduce, f"In-place and out= forms of {OPERATOR}", NOTES, EXPECT))
