"""An operator that is described on the command line: `--op`, `--input`, `--attr`; what is told there is as good as read."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from doctor.base.errors import UsageError
from doctor.repro.call import Call, Operator, Seen, Value
from doctor.repro.call_values import on_device
from doctor.repro.operator_table import load
from doctor.repro.shapes import limit, parse
from doctor.repro.values import scalar


def described(name: str, inputs: Sequence[str], written_attrs: Sequence[str]) -> Operator:
    """The operator of these options."""
    seen = []
    for index, written in enumerate(inputs):
        try:
            spec = parse(written)
        except ValueError as problem:
            raise UsageError(
                str(problem), "for example --input 'float16[4,8]' or --input 'int64[16] 0..100'"
            ) from problem
        if any(dim.name for dim in spec.dims):
            raise UsageError(
                f"'{written}' names a size without a number", "write numbers, for example --input 'float16[4,8]'"
            )
        seen.append(
            Seen("", index, spec.dtype, spec.shape({}), low=limit(spec.low, {}, {}), high=limit(spec.high, {}, {}))
        )
    attrs = tuple(_attribute(written) for written in written_attrs)
    family = _family(name)
    if family != "torch" or not (seen or attrs):
        return Operator(name, family, "command line", tuple(seen), attrs)
    call = _written_call(name, tuple(seen), dict(attrs))
    return Operator(name, family, "command line", tuple(seen), attrs, call=call)


def _written_call(name: str, seen: Sequence[Seen], attrs: dict[str, Value]) -> Call:
    """A torch call as it is written: inputs in their order, attributes by name or by place, nothing added.

    Where the table knows the operator, an attribute that stands between the inputs of its schema is put there.
    """
    row = load().find(name, "torch")
    tensors: list[Value] = [{"tensor": _tensor(s)} for s in seen]
    pending: list[Value] = [tensors] if row is not None and row.many else tensors
    order = ["equation", *["in"] * len(pending)] if name.rpartition(".")[2] == "einsum" else [str(a) for a in row.args] if row is not None else []
    if name.rpartition(".")[2] == "einsum":
        pending = tensors
    args: list[Value] = []
    for source in order:
        names = source.partition("=")[0].removeprefix("attr").replace("?", "").strip().split(",")
        told = next((n.strip() for n in names if n.strip() in attrs), None)
        if str(len(args)) in attrs:
            args.append(attrs.pop(str(len(args))))
        elif told is not None:
            args.append(attrs.pop(told))
        elif source.startswith(("in", "[in")) and pending:
            args.append(pending.pop(0))
        else:
            break
    args += pending
    while str(len(args)) in attrs:
        args.append(attrs.pop(str(len(args))))
    if placed := [n for n in attrs if n.isdigit()]:
        raise UsageError(
            f"there is no argument number {placed[0]} to set: the call has {len(args)} before it", "places count from 0, inputs included; --attr dim=1 sets one by its name"
        )
    return on_device(Call(f"torch.nn.functional.{name[2:]}" if name.startswith("F.") else name, tuple(args), attrs))


def _tensor(seen: Seen) -> dict[str, Value]:
    spec: dict[str, Value] = {"dtype": seen.dtype or "float32", "shape": list(seen.shape or ())}
    if seen.low is not None or seen.high is not None:
        spec.update(low=seen.low or 0, high=seen.high or 10)
    return spec


def _attribute(written: str) -> tuple[str, Value]:
    name, sign, value = written.partition("=")
    if not sign or not name.strip():
        raise UsageError(
            f"'{written}' is no attribute", "write NAME=VALUE, for example --attr dim=1 or --attr kernel_size=[3,3]"
        )
    return name.strip(), _literal(value.strip())


def _literal(text: str) -> Value:
    """None, a number, a truth value, a list of them, or a text; a bare word needs no quotes."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        value = ast.literal_eval(text[:4000])
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        if text.startswith("[") and text.endswith("]"):
            return [scalar(part) for part in text[1:-1].split(",") if part.strip()]
        return scalar(text)
    return _plain(value)


def _plain(value: object) -> Value:
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _family(name: str) -> str:
    if name.startswith(("torch.", "torch_npu.", "F.")):
        return "torch"
    return "aclnn" if name.startswith("aclnn") else "aten" if "::" in name else "cann"
