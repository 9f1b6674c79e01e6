"""The values of a call: tensors as slots write them, two mentions of one tensor joined, literals of the operator table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from doctor.repro.call import Call, Seen, Value
from doctor.repro.shapes import TensorSpec, limit


def as_embedding(call: Call) -> Call:
    """index_select takes one dimension of indices; a kernel that got more of them was called by embedding."""
    if call.operator != "torch.index_select" or len(call.args) != 3 or call.args[1] != 0 or call.kwargs:
        return call
    table, _, index = call.args
    rows, looked_up = _shape(table), _shape(index)
    return Call("torch.nn.functional.embedding", (index, table)) if len(rows) == 2 and len(looked_up) > 1 else call


CREATING = frozenset("arange linspace logspace eye full zeros ones empty rand randn randint randperm range tril_indices triu_indices hann_window".split())  # noqa: SIM905


def on_device(call: Call) -> Call:
    """A call that takes no tensor makes one: on the device, or it would run on the CPU alone."""
    made = call.operator.rpartition(".")[2] in CREATING and call.operator.startswith("torch.") and "device" not in call.kwargs
    return Call(call.operator, call.args, {**call.kwargs, "device": {"device": "cpu"}}) if made else call


def _shape(value: Value) -> list[Value]:
    """The sizes of a tensor; none of anything else."""
    spec = value.get("tensor") if isinstance(value, dict) else None
    shape = spec.get("shape") if isinstance(spec, dict) else None
    return shape if isinstance(shape, list) else []


def joined(one: Seen, other: Seen) -> Seen:
    """Two mentions of one tensor: the first that tells a thing is believed."""
    return replace(
        one,
        dtype=one.dtype or other.dtype,
        shape=one.shape if one.shape is not None else other.shape,
        number_format=one.number_format if one.number_format is not None else other.number_format,
        low=one.low if one.low is not None else other.low,
        high=one.high if one.high is not None else other.high,
    )


def tensor_spec(
    seen: Seen | None,
    example: TensorSpec | None,
    bound: dict[str, tuple[int, ...]],
    defaults: dict[str, tuple[int, ...]],
    like: str | None = None,
) -> dict[str, Value]:
    """One tensor for the slots: what was seen, then what the example says, with its dimensions bound by the others."""
    dtype = (seen.dtype if seen else None) or like or (example.dtype if example else "float32")
    if seen is not None and seen.shape is not None:
        shape = seen.shape
    else:
        shape = example.shape({**defaults, **bound}) if example else (4, 4)
    spec: dict[str, Value] = {"dtype": dtype, "shape": list(shape)}
    low = seen.low if seen and seen.low is not None else limit(example.low, bound, defaults) if example else None
    high = seen.high if seen and seen.high is not None else limit(example.high, bound, defaults) if example else None
    if low is not None or high is not None:
        spec["low"], spec["high"] = low if low is not None else 0, high if high is not None else 10
    if seen is not None and seen.number_format not in (None, -1, 0, 2):
        spec["format"] = seen.number_format
    return spec


def transposed(spec: Mapping[str, Value]) -> dict[str, Value]:
    """The same memory read as its transpose."""
    shape = spec["shape"]
    if not isinstance(shape, list) or len(shape) < 2:
        return dict(spec)
    sizes = [s for s in shape if isinstance(s, int)]
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= max(size, 1)
    strides.reverse()
    swapped: list[Value] = [*sizes[:-2], sizes[-1], sizes[-2]]
    order: list[Value] = [*strides[:-2], strides[-1], strides[-2]]
    return {**spec, "shape": swapped, "stride": order}


def from_table(written: str) -> Value:
    try:
        value: Value = json.loads(written)
    except ValueError:
        return written
    return value


def plain(value: object) -> Value:
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"no literal: {value!r}")
