"""The values of slots as plain Python, as a person would write them: `x0 = torch.randn(4, 8)`, `dim=1`.

Everything here went through `validate` before: names are operators of torch, texts are literals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from keyword import iskeyword
from typing import Any

HALVES = ("float16", "bfloat16")
_ND = 2


class Tensors:
    """The tensors of a call: each gets a name and one line that makes it on the CPU."""

    def __init__(self, *, widen: bool = True) -> None:
        self.lines: list[str] = []
        self.formats = False  # is any of them in a private format of the NPU?
        self.half = ""  # the half precision that the CPU computes in float32 for comparison, "" when there is none
        self._widen = widen
        self._named: dict[str, str] = {}
        self._specs: dict[str, Mapping[str, Any]] = {}

    def name(self, spec: Mapping[str, Any]) -> str:
        """The variable of a tensor; one with the id of an earlier result or tensor is that."""
        shared = spec.get("id")
        if shared is not None and shared in self._named:
            return self._named[shared]
        made = variable(str(shared)) if shared is not None else f"x{len(self.lines)}"
        self.lines.append(f"{made} = {_made(spec)}")
        self._specs[made] = spec
        if shared is not None:
            self._named[shared] = made
        if spec["dtype"] in HALVES and self._widen:
            self.half = spec["dtype"]
        return made

    def result(self, name: str) -> None:
        """From here on a tensor of this id is the result of an earlier step."""
        self._named[name] = variable(name)

    def on_device(self, spec: Mapping[str, Any]) -> str:
        """The tensor on the device of the call."""
        name = self.name(spec)
        if name not in self._specs:  # a result, which is there already
            return name
        spec = self._specs[name]
        wide = self._widen and spec["dtype"] in HALVES
        there = f"{name}.to(device, dtype)" if wide else f"{name}.to(device)"
        if "stride" in spec or "offset" in spec:
            there += f".as_strided({tuple(spec['shape'])}, {tuple(spec.get('stride') or _strides(spec['shape']))}, {spec.get('offset', 0)})"
        if spec.get("format", _ND) not in (-1, 0, _ND):
            self.formats = True
            there = f"formatted({there}, {spec['format']})"
        return there


def variable(name: str) -> str:
    """The variable of a tensor that a record names: never a word of the script itself."""
    return f"t_{name}"


def expression(value: Any, tensors: Tensors) -> str:
    """An argument as Python."""
    if isinstance(value, list):
        return "[" + ", ".join(expression(v, tensors) for v in value) + "]"
    if not isinstance(value, dict):
        return repr(value)
    ((kind, inner),) = value.items()
    if kind == "tensor":
        return tensors.on_device(inner)
    if kind == "tuple":
        return "(" + "".join(expression(v, tensors) + ", " for v in inner) + ")"
    if kind == "device":
        return "device"
    if kind in ("dtype", "memory_format", "layout"):
        return f"torch.{inner}"
    if kind == "complex":
        return f"complex({inner[0]!r}, {inner[1]!r})"
    return f"float({inner!r})"


def arguments(args: Sequence[Any], kwargs: Mapping[str, Any], tensors: Tensors) -> str:
    """What stands between the parentheses of a call."""
    plain = [expression(a, tensors) for a in args]
    named = {k: expression(v, tensors) for k, v in kwargs.items()}
    return ", ".join(
        [
            *plain,
            *(f"**{{{k!r}: {v}}}" if iskeyword(k) else f"{k}={v}" for k, v in named.items()),
        ]
    )


def _made(spec: Mapping[str, Any]) -> str:
    kind, shape = spec["dtype"], tuple(spec["shape"])
    size = _storage(spec)
    wanted = f"{size}" if size is not None else ", ".join(map(str, shape)) or "()"
    whole = f"({size},)" if size is not None else f"{shape}"
    low, high = spec.get("low"), spec.get("high")
    if "fill" in spec:
        return f"torch.full({whole}, {spec['fill']!r}, dtype=torch.{kind})"
    if kind == "bool":
        return f"torch.randint(0, 2, {whole}).bool()"
    if "int" in kind:
        first = 0 if low is None else int(low)
        last = max(first + 1, first + 10 if high is None else int(high))
        return f"torch.randint({first}, {last}, {whole}, dtype=torch.{kind})"
    if low is not None and high is not None:
        made = f"torch.rand({wanted}) * {high - low!r} + {low!r}"
        return made if kind == "float32" else f"({made}).to(torch.{kind})"
    if kind in ("float32", "float64", "complex64", "complex128"):
        return f"torch.randn({wanted})" if kind == "float32" else f"torch.randn({wanted}, dtype=torch.{kind})"
    return f"torch.randn({wanted}).to(torch.{kind})"


def _storage(spec: Mapping[str, Any]) -> int | None:
    """How many elements lie beneath a view with gaps; None for a tensor that is as it stands."""
    if "stride" not in spec and "offset" not in spec:
        return None
    shape, strides = spec["shape"], spec.get("stride") or _strides(spec["shape"])
    span = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    return int(spec.get("offset", 0)) + span


def _strides(shape: Sequence[int]) -> list[int]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return strides[::-1]
