"""Tensors of the reproduction scripts: how inputs are made, and how two results are compared.

Written for Python 3.8 and torch 2.1, because the script runs where the fault is, not where npu-doctor is installed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

try:
    import torch as _torch
except Exception as problem:  # a torch_npu that cannot be loaded makes `import torch` itself fail since torch 2.5
    print(f"environment not usable: PyTorch cannot be imported: {problem}")
    raise SystemExit(3) from None
try:
    import torch_npu as _torch_npu
except Exception as problem:
    _torch_npu = None
    NPU_PROBLEM = f"torch_npu cannot be imported: {problem}"
else:
    NPU_PROBLEM = ""
torch: Any = _torch
torch_npu: Any = _torch_npu
# Relative and absolute error that a kernel may make, by the type of its result. Integers and booleans must be equal.
TOLERANCES: dict[str, tuple[float, float]] = {
    "float64": (1e-7, 1e-9),
    "float32": (1e-4, 1e-5),
    "float16": (2e-3, 1e-3),
    "bfloat16": (1.6e-2, 8e-3),
    "complex64": (1e-4, 1e-5),
    "complex128": (1e-7, 1e-9),
}
ALLOWED_SHARE = 1e-3  # of the elements of a floating result may lie outside: sums are added in another order


class UnusableError(Exception):
    """This machine cannot run the script; says nothing about the operator."""


def operator(name: str) -> Callable[..., Any]:
    """The function behind a dotted name, looked up in torch and torch_npu alone."""
    root, *path = name.split(".")
    found: Any = {"torch": torch, "torch_npu": torch_npu}.get(root)
    if root == "torch_npu" and found is None:
        raise UnusableError(f"{name} needs torch_npu. {NPU_PROBLEM}")
    for part in path:
        try:
            found = getattr(found, part)
        except AttributeError:
            raise UnusableError(f"torch {torch.__version__} has no {name}: put the right name into OPERATOR") from None
    if not callable(found) or isinstance(found, type):
        raise UnusableError(f"{name} is no operator: put the name of a function into OPERATOR")
    function: Callable[..., Any] = found
    return function


class Blueprint(NamedTuple):
    """A tensor before it goes to a device: its storage, and the view of it that the operator sees."""

    base: Any
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    number_format: int  # an NPU storage format such as 29 (FRACTAL_NZ); 2 (ND) is the ordinary one
    requires_grad: bool

    def make(self, device: str, dtype: Any = None) -> Any:
        base = self.base.clone() if dtype is None else self.base.to(dtype)
        tensor = base.to(device).as_strided(self.shape, self.stride, self.offset)
        if self.number_format not in (-1, 0, 2) and device.startswith("npu"):
            tensor = torch_npu.npu_format_cast(tensor, self.number_format)
        return tensor.requires_grad_() if self.requires_grad else tensor


def dtype_named(name: str) -> Any:
    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype):
        raise UnusableError(f"torch {torch.__version__} has no type {name!r}")
    return dtype


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def blueprint(spec: Mapping[str, Any], generator: Any, dtype: str = "") -> Blueprint:
    """Random contents for a tensor that is described by type, shape, and where known strides and range of values."""
    kind = dtype_named(dtype if dtype and dtype_named(spec["dtype"]).is_floating_point else spec["dtype"])
    shape = tuple(spec.get("shape", ()))
    stride = tuple(spec.get("stride") or contiguous(shape))
    offset = int(spec.get("offset", 0))
    empty = 0 in shape
    size = offset + (0 if empty else 1 + sum((n - 1) * s for n, s in zip(shape, stride)))  # noqa: B905
    if size * kind.itemsize > available_bytes():
        raise UnusableError(
            f"an input of type {kind} and shape {list(shape)} does not fit into the memory of this host"
        )
    low, high = spec.get("low"), spec.get("high")
    if kind.is_floating_point or kind.is_complex:
        wide = torch.complex64 if kind.is_complex else torch.float32
        base = torch.randn(size, generator=generator, dtype=wide)
        if low is not None and high is not None:
            base = torch.rand(size, generator=generator) * (high - low) + low
    elif kind == torch.bool:
        base = torch.randint(0, 2, (size,), generator=generator)
    else:
        first = 0 if low is None else int(low)
        last = max(first + 1, first + 10 if high is None else int(high))
        base = torch.randint(first, last, (size,), generator=generator)
        if high is not None and size:
            base[-1] = last - 1  # the largest value that the log shows is always among them
    if "fill" in spec:
        base = torch.full((size,), spec["fill"])
    number_format = int(spec.get("format", 2))
    return Blueprint(base.to(kind), shape, stride, offset, number_format, bool(spec.get("requires_grad", False)))


def available_bytes() -> int:
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024 * 3 // 4
    except (OSError, ValueError):
        pass
    return 1 << 33


def each(value: Any, change: Callable[[Any], Any]) -> Any:
    """The same tree of lists, tuples and dictionaries, with every leaf changed."""
    if isinstance(value, Blueprint) or not isinstance(value, (list, tuple, dict)):
        return change(value)
    if isinstance(value, dict):
        return {key: each(item, change) for key, item in value.items()}
    items = [each(item, change) for item in value]
    try:
        return type(value)(items)  # torch's own result types are made from one sequence, like a tuple
    except TypeError:
        return tuple(items)


def tensors(value: Any) -> list[Any]:
    """Every tensor of a result, in order; a result without any is made a tensor of its numbers."""
    found: list[Any] = []

    def keep(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            found.append(leaf)
        elif isinstance(leaf, (bool, int, float)):
            found.append(torch.tensor(leaf))
        return leaf

    each(tuple(value) if isinstance(value, tuple) else value, keep)
    return found


class Figures(NamedTuple):
    """How far two tensors are apart."""

    same: bool
    max_abs: float
    cosine: float
    share: float
    note: str

    def __str__(self) -> str:
        text = f"max abs error {self.max_abs:.3g}, cosine {self.cosine:.6f}, mismatch share {self.share:.3%}"
        return f"{'same' if self.same else 'MISMATCH'}: {text}{self.note}"


def compare(expected: Any, actual: Any) -> Figures:
    """Figures for one tensor pair; `expected` may be of a wider type than `actual`."""
    expected, actual = expected.detach().cpu(), actual.detach().cpu()
    if expected.shape != actual.shape:
        return Figures(False, math.inf, 0.0, 1.0, f" (shapes {list(expected.shape)} and {list(actual.shape)})")
    note = "" if expected.dtype == actual.dtype else f" (types {expected.dtype} and {actual.dtype})"
    if expected.numel() == 0:
        return Figures(True, 0.0, 1.0, 0.0, " (no elements)")
    exact = not (actual.is_floating_point() or actual.is_complex())
    rtol, atol = TOLERANCES.get(str(actual.dtype).rpartition(".")[2], (0.1, 0.1))
    wide = torch.complex128 if expected.is_complex() or actual.is_complex() else torch.float64
    if actual.is_floating_point() and expected.is_floating_point() and expected.dtype != actual.dtype:
        expected = expected.to(actual.dtype)  # a reference beyond the range of the type is infinite in it
    left, right = expected.to(wide).flatten(), actual.to(wide).flatten()
    agree = left == right
    if not exact:
        agree |= (left - right).abs() <= atol + rtol * left.abs()
        agree |= left.isnan() & right.isnan()
    share = 1.0 - agree.double().mean().item()
    finite = left.isfinite() & right.isfinite()
    distance = (left - right).abs()[finite]
    largest = distance.max().item() if distance.numel() else 0.0
    one, two = left[finite], right[finite]
    norms = (one.norm() * two.norm()).item()
    cosine = (one.conj() * two).sum().real.item() / norms if norms else float(bool((one == two).all()))
    same = share == 0.0 if exact else share <= ALLOWED_SHARE
    if not same:
        place = int((~agree).nonzero()[0].item())
        note += f" (first at flat index {place}: {left[place].item():.6g} against {right[place].item():.6g})"
    return Figures(same, largest, cosine, share, note)


def spoil(leaf: Any) -> Any:
    if not isinstance(leaf, torch.Tensor) or not leaf.numel():
        return leaf
    if leaf.dtype == torch.bool:
        return ~leaf
    return leaf.detach() + 1 + leaf.detach().abs() if leaf.is_floating_point() else leaf + 1


def describe(found: Sequence[Any]) -> str:
    return ", ".join(f"{str(one.dtype).rpartition('.')[2]}{list(one.shape)}" for one in found) or "no tensor"
