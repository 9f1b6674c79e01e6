"""Operators from what `doctor.record` wrote: exact types, shapes, strides and arguments, and the operators before.

Both forms are read: the JSON that a failing program completes, and the ring that a killed one leaves behind. In a ring
the operator that was running when the process died is the one without results.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from doctor.record import FORMAT, HEADER, SLOT, parse_slots
from doctor.repro.call import Call, Operator, Step, Value
from doctor.repro.dtypes import TORCH
from parsers import foreign_json

MAX_CONTEXT = 64
MARK = '"npu_doctor_record"'
# Scopes of the profiler, compiled regions, and collectives, which one process cannot repeat.
_NOT_REPLAYED = frozenset(("higher_order", "profiler", "c10d", "_c10d_functional", "inductor", "prims", "prim"))
_KEPT = ("dtype", "shape", "stride", "offset", "low", "high")


def is_record(text: str) -> bool:
    return MARK in text[:200] and text.lstrip("\ufeff \t\r\n")[:1] == "{"


def operators(text: str) -> Iterator[Operator]:
    """The operator that failed, with its context; one that returned is never said to have failed."""
    record = load(text)
    if record is None:
        return
    entries = [e for e in _list(record.get("operators")) if isinstance(e, dict) and isinstance(e.get("op"), str)]
    error = _mapping(record.get("error"))
    failed = _mapping(record.get("failed"))
    message = str(error.get("message") or "")
    if failed and (not message or message == str(_mapping(failed.get("error")).get("message"))):
        yield from _of_entry(
            failed, _context(entries, failed), str(_mapping(failed.get("error")).get("message") or ""), ()
        )
        return
    if message:
        for frame in reversed(_list(error.get("frames"))):
            call = call_of(_mapping(frame))
            if call is not None:
                yield Operator(call.operator, "torch", "record", error=_first(message), failed=True, call=call)
                return
    running = [e for e in entries if "out" not in e]
    for entry in running[-1:]:
        yield from _of_entry(entry, _context(entries, entry), message, ())
    for entry in entries[-1:] if not running else ():  # every operator returned: the last one is only the nearest
        yield from (replace(one, failed=False) for one in _of_entry(entry, _context(entries, entry), "", ("name",)))


def load(text: str) -> Mapping[str, object] | None:
    """The record, whole or pieced together from a ring; None when it is neither."""
    text = text.lstrip("\ufeff \t\r\n")
    try:
        whole = foreign_json.read(text)
    except ValueError:
        whole = None
    if isinstance(whole, dict) and whole.get("npu_doctor_record") == FORMAT and "operators" in whole:
        return whole
    data = text.encode("utf-8", "replace")
    try:
        head = foreign_json.read(data[:HEADER].split(b"\n", 1)[0])
    except ValueError:
        return None
    if not isinstance(head, dict) or head.get("npu_doctor_record") != FORMAT:
        return None
    return {**head, "operators": parse_slots(data[HEADER:], SLOT)}


def _of_entry(
    entry: Mapping[str, object], context: tuple[Step, ...], message: str, guessed: tuple[str, ...]
) -> Iterator[Operator]:
    call = _call(entry, {})
    if call is not None:
        name = str(entry["op"])
        namespace, _, rest = name.partition(".")
        written = f"{namespace}::{rest}"
        yield Operator(
            written, "aten", "record", error=_first(message), failed=True, guessed=guessed, call=call, context=context
        )


def _first(message: str) -> str:
    return " ".join(message.strip().partition("\n")[0].split())[:200]


def _context(entries: Sequence[Mapping[str, object]], last: Mapping[str, object]) -> tuple[Step, ...]:
    """The operators up to the failing one, tensors named by the storage they live in."""
    seq = last.get("seq")
    if not isinstance(seq, int):
        return ()
    chosen = [e for e in entries if isinstance(e.get("seq"), int) and int(str(e["seq"])) < seq][-(MAX_CONTEXT - 1) :]
    names: dict[int, str] = {}
    ranges: dict[str, tuple[Value, Value]] = {}  # of integers, which only the failing operator has
    for value in _list(last.get("args")):
        spec = _mapping(_mapping(value).get("tensor"))
        if "high" in spec and (name := _storage(spec.get("id"), names)):
            low, high = spec.get("low"), spec.get("high")
            ranges[name] = (low if isinstance(low, int) else 0, high if isinstance(high, int) else 10)
    steps = []
    for entry in (*chosen, last):
        call = _call(entry, names)
        if call is None or entry.get("cut"):
            continue
        for arg in call.args:
            if isinstance(arg, dict) and isinstance(told := arg.get("tensor"), dict) and told.get("id") in ranges:
                told["low"], told["high"] = ranges[str(told["id"])]
        out = tuple(_storage(o, names) or "" for o in _list(entry.get("out")) if isinstance(o, int))
        steps.append(Step(call, out))
    return tuple(steps)


def _storage(address: object, names: dict[int, str]) -> str | None:
    if not isinstance(address, int) or not address:
        return None
    return names.setdefault(address, f"s{len(names)}")


def _call(entry: Mapping[str, object], names: dict[int, str]) -> Call | None:
    name = str(entry.get("op", ""))
    parts = name.split(".")
    if len(parts) != 3 or parts[0] in _NOT_REPLAYED:
        return None
    one = _Arguments(names)
    args = tuple(one.value(a) for a in _list(entry.get("args"))[:64])
    kwargs = {str(k): one.value(v) for k, v in _mapping(entry.get("kwargs")).items() if not _dropped(v)}
    return Call(f"torch.ops.{name}", args, kwargs)


def _dropped(value: object) -> bool:
    """A keyword that cannot be made again and may be left out, such as a generator; storage of another device too."""
    return value is None or (isinstance(value, dict) and "other" in value)


class _Arguments:
    """Recorded arguments in the notation of the slots. One storage seen twice in a call is one tensor."""

    def __init__(self, names: dict[int, str]) -> None:
        self.names = names

    def value(self, written: object, depth: int = 0) -> Value:
        if isinstance(written, list) and depth < 6:
            return [self.value(v, depth + 1) for v in written if not (isinstance(v, dict) and "more" in v)]
        if isinstance(written, dict):
            if isinstance(tensor := written.get("tensor"), dict):
                return self.tensor(tensor)
            for kind in ("dtype", "memory_format", "layout", "float"):
                if isinstance(told := written.get(kind), str):
                    return {kind: told}
            if isinstance(parts := written.get("complex"), list):
                return {"complex": [p for p in parts[:2] if isinstance(p, (int, float))]}
            return {"device": "cpu"} if "device" in written else None
        return written if isinstance(written, (bool, int, float, str)) else None

    def tensor(self, told: Mapping[str, object]) -> Value:
        spec: dict[str, Value] = {
            "dtype": str(told.get("dtype", "float32")) if told.get("dtype") in TORCH else "float32"
        }
        for key in _KEPT[1:]:
            value = told.get(key)
            if isinstance(value, list):
                spec[key] = [v for v in value if isinstance(v, int)]
            elif isinstance(value, (int, float)):
                spec[key] = value
        spec.setdefault("shape", [])
        if name := _storage(told.get("id"), self.names):
            spec["id"] = name
        return {"tensor": spec}


def call_of(frame: Mapping[str, object]) -> Call | None:
    """The torch call of a recorded frame, when the record holds every value that it names."""
    values = _mapping(frame.get("values"))
    try:
        tree = ast.parse(str(frame.get("code", ""))[:2000])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (name := _torch_name(node.func)):
            try:
                args = tuple(_known(a, values) for a in node.args)
                kwargs = {k.arg: _known(k.value, values) for k in node.keywords if k.arg}
            except LookupError:
                continue
            return Call(name, args, kwargs)
    return None


def _torch_name(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    root = {"F": "torch.nn.functional", "torch": "torch", "torch_npu": "torch_npu", "nn": "torch.nn"}.get(node.id)
    return ".".join([root, *reversed(parts)]) if root and parts else ""


def _known(node: ast.expr, values: Mapping[str, object]) -> Value:
    """A literal, or a name whose value was recorded; LookupError for anything else."""
    name = node.id if isinstance(node, ast.Name) else ""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        name = f"{node.value.id}.{node.attr}"
    if name:
        if name not in values:
            raise LookupError(name)
        return _Arguments({}).value(values[name])
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_known(item, values) for item in node.elts]
    try:
        literal = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise LookupError("an expression") from None
    if literal is None or isinstance(literal, (bool, int, float, str)):
        return literal
    raise LookupError("no scalar")


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
