"""The gate between log text and scripts: every value of a slot is of a known kind and size before it is written.

Values reach a script as `repr` of what passes here. The name of an operator is the one text that is looked up when the
script runs, so only operators' namespaces are let through, and no function that reads, writes or compiles.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from doctor.repro.call import Value
from doctor.repro.dtypes import TORCH
from doctor.repro.operator_table import load
from doctor.repro.word_sets import words

MAX_NODES = 20_000
MAX_DEPTH = 10
MAX_TEXT = 400
MAX_SIZE = 1 << 40

_OPERATOR = re.compile(
    r"torch\.(?:(?:Tensor|nn\.functional|linalg|fft|special)\.)?(?P<plain>[A-Za-z_]\w{0,80})"
    r"|torch\.ops\.(?P<namespace>[A-Za-z]\w{0,40})\.(?P<op>[A-Za-z_]\w{0,80})(?:\.[A-Za-z_]\w{0,60})?"
    r"|torch_npu\.(?P<npu>npu_\w{1,80})"
)
_DENIED = words(
    "load save compile from_file import_ir_module import_ir_module_from_buffer apply_ map_ register_hook "
    "share_memory_ set_default_device set_default_dtype set_num_threads set_num_interop_threads "
    "use_deterministic_algorithms tofile vmap typename is_storage"
)
_DENIED_NAMESPACES = frozenset(
    ("prim", "prims", "profiler", "inductor", "debugprims", "symm_mem", "rngprims", "higher_order")
)
_NAME = re.compile(r"[A-Za-z_]\w{0,60}")
_DEVICE = re.compile(r"(?:cpu|npu(?::\d{1,3})?)")
_ID = re.compile(r"[A-Za-z]\w{0,15}")

COLLECTIVES = (
    "all_reduce",
    "broadcast",
    "all_gather",
    "reduce_scatter",
    "all_to_all",
    "reduce",
    "send_recv",
    "barrier",
)
INSIDES = ("", "item", "synchronize", "copy", "stream")  # of a captured region
DIFFERENCES = ("", "count", "dtype", "collective")  # of the last rank
MODULES = words(
    "Conv1d Conv2d Conv3d ConvTranspose2d Linear BatchNorm1d BatchNorm2d BatchNorm3d LayerNorm GroupNorm "
    "InstanceNorm2d ReLU GELU SiLU Sigmoid Tanh Softmax Dropout MaxPool2d AvgPool2d AdaptiveAvgPool2d Flatten "
    "Embedding LSTM GRU Identity TransformerEncoderLayer Upsample Hardswish LeakyReLU"
)


class SlotError(ValueError):
    """A value that no script may hold: which slot, and why."""


class IncompleteError(SlotError):
    """A call of which the log tells too little to write it."""


def operator(value: Value) -> str:
    if not isinstance(value, str) or (found := _OPERATOR.fullmatch(value)) is None:
        raise SlotError(
            "no operator of torch: write torch.NAME, torch.nn.functional.NAME, torch.ops.NAMESPACE.NAME or torch_npu.npu_NAME"
        )
    name = found["plain"] or found["op"] or found["npu"]
    if name in _DENIED or name.startswith("__") or found["namespace"] in _DENIED_NAMESPACES:
        raise SlotError(f"{value} is no operator that may be called here")
    private = name.startswith("_") and not found["op"] and not name.startswith("_foreach_")
    if private and value not in {row.call for row in load().rows}:
        raise SlotError(f"{value} is private to torch")
    return value


def text(value: Value) -> str:
    if not isinstance(value, str):
        raise SlotError("no text")
    return value[:MAX_TEXT]


def texts(value: Value) -> list[str]:
    if not isinstance(value, list) or len(value) > 100:
        raise SlotError("no list of texts")
    return [text(v) for v in value]


def device(value: Value) -> str:
    if not isinstance(value, str) or not _DEVICE.fullmatch(value):
        raise SlotError("no device: write cpu or npu:0")
    return value


def dtype(value: Value) -> str:
    if not isinstance(value, str) or value not in TORCH:
        raise SlotError(f"no tensor type: {str(value)[:40]!r}")
    return value


def dtypes(value: Value) -> list[str]:
    if not isinstance(value, list) or not 0 < len(value) <= 32:
        raise SlotError("no list of tensor types")
    return [dtype(v) for v in value]


def whole(value: Value) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_SIZE:
        raise SlotError("no whole number in range")
    return value


def sizes(value: Value) -> list[int]:
    if not isinstance(value, list) or len(value) > 16:
        raise SlotError("no list of sizes")
    return [whole(v) for v in value]


def truth(value: Value) -> bool:
    if not isinstance(value, bool):
        raise SlotError("neither True nor False")
    return value


def _one_of(words: tuple[str, ...]) -> Callable[[Value], str]:
    def check(value: Value) -> str:
        if not isinstance(value, str) or value not in words:
            raise SlotError(f"none of {', '.join(words)}")
        return value

    return check


def optional_operator(value: Value) -> str:
    return "" if value == "" else operator(value)


class _Tree:
    """Arguments: literals, lists, and the marked dictionaries that stand for tensors and torch's own values."""

    def __init__(self) -> None:
        self.nodes = 0

    def check(self, value: Value, depth: int = 0) -> Value:
        self.nodes += 1
        if self.nodes > MAX_NODES or depth > MAX_DEPTH:
            raise SlotError("too many or too deep arguments")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            if not -(1 << 63) <= value < 1 << 64:
                raise SlotError("a number that no operator takes")
            return value
        if isinstance(value, float):
            return value if value == value and abs(value) != float("inf") else {"float": repr(value)}
        if isinstance(value, str):
            return text(value)
        if isinstance(value, list):
            return [self.check(v, depth + 1) for v in value]
        if not isinstance(value, dict):
            raise SlotError("no literal")
        return self.marked(value, depth)

    def marked(self, value: Mapping[str, Value], depth: int) -> Value:
        if len(value) != 1:
            raise SlotError("an argument must be a literal, a list or one marked value")
        ((kind, inner),) = value.items()
        if kind == "tensor" and isinstance(inner, dict):
            return {"tensor": tensor(inner)}
        if kind == "tuple" and isinstance(inner, list):
            return {"tuple": self.check(inner, depth + 1)}
        if kind == "dtype":
            return {"dtype": dtype(inner)}
        if kind == "device":
            return {"device": device(inner)}
        if (
            kind in ("memory_format", "layout")
            and isinstance(inner, str)
            and _NAME.fullmatch(inner)
            and not inner.startswith("_")
        ):
            return {kind: inner}
        if kind == "float" and inner in ("inf", "-inf", "nan"):
            return {"float": inner}
        if (
            kind == "complex"
            and isinstance(inner, list)
            and len(inner) == 2
            and all(isinstance(p, (int, float)) for p in inner)
        ):
            return {"complex": [self.check(p, depth + 1) for p in inner]}
        raise SlotError(f"an argument of unknown kind {kind[:40]!r}")


def tensor(spec: Mapping[str, Value]) -> dict[str, Value]:
    made: dict[str, Value] = {
        "dtype": dtype(spec.get("dtype")),
        "shape": [whole(s) for s in sizes(spec.get("shape", []))],
    }
    for key, value in spec.items():
        if key in ("dtype", "shape"):
            continue
        if key == "stride":
            if (stride := sizes(value)) and len(stride) != len(sizes(spec.get("shape", []))):
                raise SlotError("as many strides as sizes")
            made[key] = list(stride)
        elif key == "offset":
            made[key] = whole(value)
        elif (
            (key in ("low", "high", "fill") and isinstance(value, (int, float)) and abs(value) < 1 << 63)
            or (key == "format" and isinstance(value, int) and 0 <= value < 1000)
            or (key == "id" and isinstance(value, str) and _ID.fullmatch(value))
        ):
            made[key] = value
        elif key == "requires_grad":
            made[key] = truth(value)
        else:
            raise SlotError(f"a tensor has no {key[:40]!r} like that")
    return made


def arguments(value: Value) -> Value:
    if not isinstance(value, list):
        raise SlotError("no list of arguments")
    return _Tree().check(value)


def named(value: Value) -> Value:
    if not isinstance(value, dict) or len(value) > 64:
        raise SlotError("no named arguments")
    tree = _Tree()
    made: dict[str, Value] = {}
    for name, inner in value.items():
        if not _NAME.fullmatch(name) or name.startswith("__"):
            raise SlotError(f"no name of an argument: {name[:40]!r}")
        made[name] = tree.check(inner)
    return made


def steps(value: Value) -> Value:
    if not isinstance(value, list) or len(value) > 256:
        raise SlotError("no list of steps")
    made: list[Value] = []
    for step in value:
        if not isinstance(step, dict) or set(step) != {"op", "args", "kwargs", "out"}:
            raise SlotError("a step has op, args, kwargs and out")
        out = step["out"]
        if not isinstance(out, list) or not all(isinstance(o, str) and (not o or _ID.fullmatch(o)) for o in out):
            raise SlotError("the results of a step are names")
        made.append(
            {
                "op": operator(step["op"]),
                "args": arguments(step["args"]),
                "kwargs": named(step["kwargs"]),
                "out": list(out),
            }
        )
    return made


def modules(value: Value) -> Value:
    if not isinstance(value, list) or len(value) > 64:
        raise SlotError("no list of modules")
    made: list[Value] = []
    for one in value:
        if not isinstance(one, dict) or one.get("name") not in MODULES:
            raise SlotError("no module that a script may build")
        made.append(
            {"name": one["name"], "args": arguments(one.get("args", [])), "kwargs": named(one.get("kwargs", {}))}
        )
    return made


def one_tensor(value: Value) -> Value:
    if not isinstance(value, dict) or set(value) != {"tensor"} or not isinstance(inner := value["tensor"], dict):
        raise SlotError("no tensor")
    return {"tensor": tensor(inner)}


SLOTS: Mapping[str, Callable[[Value], object]] = {
    "OPERATOR": operator,
    "INPLACE": optional_operator,
    "OUT": truth,
    "COMPARE": truth,
    "INCOMPLETE": text,
    "ARGS": arguments,
    "INPUTS": arguments,
    "KWARGS": named,
    "STEPS": steps,
    "MODULES": modules,
    "INPUT": one_tensor,
    "DTYPE": dtype,
    "DTYPES": dtypes,
    "SIZES": sizes,
    "SHAPE": sizes,
    "DIMENSION": whole,
    "SIZE": whole,
    "LIMIT": whole,
    "COUNT": whole,
    "WORLD": whole,
    "COLLECTIVE": _one_of(COLLECTIVES),
    "ORDER": _one_of(("late", "early")),
    "INSIDE": _one_of(INSIDES),
    "DIFFERS": _one_of(DIFFERENCES),
    "CHANGING": truth,
    "DEVICE": device,
    "FIRST": device,
    "SECOND": device,
    "EXPECT": text,
    "NOTES": texts,
}


def slot(name: str, value: Value) -> object:
    """The value, checked and copied; SlotError tells the slot and the reason."""
    check = SLOTS.get(name)
    if check is None:
        raise SlotError(f"no template has a slot {name[:40]!r}")
    try:
        return check(value)
    except SlotError as problem:
        raise SlotError(f"slot {name}: {problem}") from None
