"""Arguments of operators as JSON: types, shapes, strides, storages, scalars; never contents."""

from __future__ import annotations

import json
import math
from typing import Any

FEW = 16  # members of a list that are written one by one


class Arguments:
    """Writes arguments. By hand and with a memory, because it runs for every operator."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.plain: tuple[type, ...] = (torch.Tensor, torch.nn.Parameter)
        self.heads: dict[Any, str] = {}

    def text(self, value: Any) -> str:
        """One argument as JSON."""
        kind = type(value)
        if kind in self.plain:
            return self.tensor(value)
        if kind is bool:
            return "true" if value else "false"
        if kind is int:
            return str(value)
        if value is None:
            return "null"
        if kind is float:
            return repr(value) if math.isfinite(value) else f'{{"float":"{value!r}"}}'
        if kind is list or kind is tuple or isinstance(value, (list, tuple)):
            inner = [self.text(item) for item in value[:FEW]]
            if len(value) > FEW:
                inner.append(f'{{"more":{len(value) - FEW}}}')
            return f"[{','.join(inner)}]"
        return json.dumps(self.special(value))

    def tensor(self, value: Any) -> str:
        try:
            offset = value.storage_offset()
            key = (value.dtype, value.shape, value.stride(), offset, value.device)
            base = value.data_ptr()
        except Exception:  # noqa: BLE001 - a sparse tensor has neither strides nor a storage
            return json.dumps({"tensor": describe(value)})
        head = self.heads.get(key)
        if head is None:
            if len(self.heads) > 4096:
                self.heads.clear()
            head = self.heads[key] = json.dumps({"tensor": describe(value)})[:-2]
        if offset:
            base -= offset * value.element_size()
        return f'{head},"id":{base}}}}}' if base else head + "}}"

    def special(self, value: Any) -> Any:
        torch = self.torch
        if isinstance(value, torch.Tensor):
            return {"tensor": {**describe(value), "subclass": type(value).__name__}}
        if isinstance(value, torch.dtype):
            return {"dtype": str(value).rpartition(".")[2]}
        if isinstance(value, torch.device):
            return {"device": str(value)}
        if isinstance(value, torch.memory_format):
            return {"memory_format": str(value).rpartition(".")[2]}
        if isinstance(value, torch.layout):
            return {"layout": str(value).rpartition(".")[2]}
        if isinstance(value, complex):
            return {"complex": [value.real, value.imag]}
        if isinstance(value, str):
            return value[:200]
        if isinstance(value, (torch.SymInt, torch.SymFloat)):
            return str(value)
        return {"other": type(value).__name__}

    def storage(self, value: Any) -> int:
        try:
            offset, base = int(value.storage_offset()), int(value.data_ptr())
        except Exception:  # noqa: BLE001 - as above
            return 0
        return base - offset * int(value.element_size()) if offset else base

    def ranges(self, value: Any, written: Any) -> None:
        """Adds the range of integers, which tells an index out of bounds."""
        if isinstance(value, (list, tuple)):
            for one, inner in zip(value, written):  # noqa: B905 - Python 3.8
                self.ranges(one, inner)
        elif isinstance(value, self.torch.Tensor) and value.device.type == "cpu" and 0 < value.numel() <= 1 << 24:
            kind = value.dtype
            if not (kind.is_floating_point or kind.is_complex or kind == self.torch.bool or value.is_quantized):
                with self.torch.utils._python_dispatch._disable_current_modes():
                    low, high = value.min().item(), value.max().item()
                written["tensor"].update(low=int(low), high=int(high) + 1)


def describe(tensor: Any) -> dict[str, Any]:
    told: dict[str, Any] = {
        "dtype": str(tensor.dtype).rpartition(".")[2],
        "shape": [int(size) for size in tensor.shape],
    }
    if str(tensor.layout) != "torch.strided":
        told["layout"] = str(tensor.layout).rpartition(".")[2]
        return told
    try:
        if not tensor.is_contiguous():
            told["stride"] = [int(step) for step in tensor.stride()]
        if tensor.storage_offset():
            told["offset"] = int(tensor.storage_offset())
    except Exception:  # noqa: BLE001 - a subclass need not answer
        told["subclass"] = type(tensor).__name__
    if tensor.device.type != "cpu":
        told["device"] = str(tensor.device)
    return told
