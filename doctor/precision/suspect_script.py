"""The suspect API alone, with the shapes and types of the comparison, as a script that compares NPU and CPU."""

from __future__ import annotations

import re

from doctor.precision.comparison import Api
from doctor.repro.call import Call, Operator, Script, Seen, Value
from doctor.repro.choose import Wish, request
from doctor.repro.dtypes import torch_dtype
from doctor.repro.operator_table import load
from doctor.repro.short import script as build
from doctor.repro.validate import SlotError

_HOME = {
    "functional": "torch.nn.functional.",
    "torch": "torch.",
    "tensor": "torch.Tensor.",
    "vf": "torch.",
    "npu": "torch_npu.",
    "distributed": "torch.distributed.",
}

_CALL = re.compile(r"^\d{1,9}_|(?:_\d{1,9})?_(?:forward|backward)$")  # what the old form adds around family and name


def api_name(api: str) -> str:
    """`Functional.conv2d.0.forward`, `Functional_conv2d_0_forward`, `67_VF_lstm_backward` as torch writes it."""
    if "." in api:
        words = [w for w in api.split(".") if w not in ("forward", "backward") and not w.isdigit()]
    else:
        words = list(_CALL.sub("", api).partition("_")[::2])
    home = _HOME.get(words[0].lower(), "") if words else ""
    return f"{home}{words[-1]}" if home and words[-1] else ""


def make(api: Api, lang: str) -> Script | None:
    """None when the API is a module, its name says no function of torch, or nothing tells what to call it with."""
    name = api_name(api.name)
    if not name:
        return None
    seen = tuple(
        Seen("", index, torch_dtype(row.dtype), row.shape)
        for index, row in enumerate(r for r in api.rows if r.side == "input" and r.shape is not None and api.way == "forward")
    )  # fmt: skip
    known = load().find(name, "torch")
    if known is None and not seen:
        return None
    tensors: tuple[Value, ...] = tuple(
        {"tensor": {"dtype": s.dtype or "float32", "shape": list(s.shape or ())}} for s in seen
    )
    call = None if known is not None or not tensors else Call(name, tensors)
    operator = Operator(name, "torch", "comparison", seen, call=call)
    try:
        return build(request(operator, load(), Wish("", "", "", 0, lang)))
    except SlotError:
        return None  # its arguments cannot be made up from shapes alone
