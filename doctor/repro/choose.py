"""Which template shows a fault, and what goes into its slots."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from doctor.repro import operator_names
from doctor.repro.bind import Bound, bind
from doctor.repro.build import template, template_name
from doctor.repro.call import Call, Operator, Request, Step, Value
from doctor.repro.dtypes import torch_dtype
from doctor.repro.operator_table import Table
from doctor.repro.validate import COLLECTIVES, SlotError, slot
from kb.model import Text

EVENTS = {"memory": "memory_pressure", "hccl": "hccl_collective", "device": "device_switch"}
CONTEXT = 12
# What shows a fault of a kind whose entry names no template: those that need no operator of the log.
BY_KIND = {
    "out-of-memory": "memory_pressure", "comm-buffer": "hccl_collective", "collective-mismatch": "hccl_collective",
    "rank-table": "hccl_collective", "peer-timeout": "hccl_collective", "peer-lost": "hccl_collective", "link-fault": "hccl_collective",
    "network-config": "hccl_collective", "device-selection": "device_switch", "precision": "overflow_detection",
}  # fmt: skip
BY_OPERATOR = frozenset(("single_op", "dtype_sweep", "inplace_out", "op_dump"))  # with an operator of their own they show nothing
_RANDOM = re.compile(  # or not initialised: nothing to compare
    r"[._](?:rand(?:n|int|perm|om)?|normal|uniform|bernoulli|multinomial|exponential|geometric|cauchy|empty|dropout|rrelu)(?:_like|_strided)?_?(?=\.|$)"
)
_UNKNOWN = frozenset(("", "unknown", "none", "?"))


@dataclass(frozen=True, slots=True)
class Wish:
    """What the caller asks for beyond the log; empty parts leave the choice to the log."""

    template: str = ""
    device: str = ""
    expect: str = ""
    context: int = 0
    lang: str = "en"
    slots: tuple[tuple[str, str], ...] = ()  # what the entry of a fault gives its template


def request(operator: Operator | None, table: Table, wish: Wish, told: Mapping[str, str] | None = None) -> Request:
    """The request for an operator of the log; without one, the template's own example, and that is said."""
    told = told or {}
    if operator is None:
        operator = _named(told)
    if operator is None:
        return _example(wish, told)
    if operator.family in EVENTS:
        return _event(operator, wish, told)
    bound = bind(operator, table)
    name = template_name(wish.template) if wish.template else _suggested(operator, bound)
    if name in EVENTS.values() or name == "set_device_order":
        return _event(
            replace(operator, family=next((f for f, t in EVENTS.items() if t == name), "device")), wish, told, name
        )
    slots = {**_of_entry(name, wish), **_slots(name, operator, bound, wish)}
    notes = [_source(operator), *_set_before(wish), *bound.notes]
    guessed = list(bound.guessed)
    if "inputs" in operator.guessed:
        guessed.append(
            Text(
                "the inputs are those of the last call of this type in the log",
                "输入取自日志中该类型算子的最后一次调用",
            )
        )
    if "name" in operator.guessed:
        guessed.append(
            Text(f"the operator's name {operator.name!r} was inferred", f"算子名 {operator.name!r} 是推断出来的")
        )
    if bound.missing is not None:
        notes.append(bound.missing)
        if "INCOMPLETE" in template(name).slot_names:
            slots["INCOMPLETE"] = bound.missing.pick(wish.lang)
    parts = (
        set(bound.parts)
        | ({"ARGS"} if "inputs" in operator.guessed else set())
        | ({"OPERATOR"} if "name" in operator.guessed else set())
    )
    if parts & {"ARGS", "KWARGS"}:
        parts |= {"INPUTS", "STEPS", "INPUT", "MODULES"}
    return Request(
        name, slots, tuple(notes), tuple(guessed), frozenset(parts), wish.expect or operator.error, wish.lang
    )


def filled(slots: Sequence[tuple[str, str]], values: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """An entry's `with`, its placeholders filled: `{kernel|unknown}` is the capture, else the word behind the bar."""
    made = []
    for name, written in slots:
        key, _, default = written.strip("{}").partition("|") if written.startswith("{") else ("", "", written)
        made.append((name, values.get(key, default)))
    return tuple(made)


def _of_entry(name: str, wish: Wish) -> dict[str, Value]:
    """The slots that the entry of the fault fills; a captured value that the slot does not take is left out."""
    made: dict[str, Value] = {}
    for key, written in wish.slots:
        slot_name = key.upper()
        if slot_name not in template(name).slot_names:
            continue
        value: Value = torch_dtype(written) or written if slot_name == "DTYPE" else int(written) if written.isdecimal() else written
        try:
            slot(slot_name, value)
        except SlotError:
            continue
        made[slot_name] = value
    return made


def _set_before(wish: Wish) -> tuple[Text, ...]:
    """The variable that the fault needs in the environment of the script."""
    return tuple(Text(f"run it with {written} in the environment", f"运行前设置环境变量 {written}") for key, written in wish.slots if key == "env")


def fitting(operator: Operator) -> tuple[str, ...]:
    """The templates of an entry that say more than the operator of a log alone: how it was called, in a graph or by which ranks."""
    if operator.family in EVENTS:
        return (EVENTS[operator.family],)
    return () if operator.how == "record" else ("graph_capture", "graph_compile")


def shows_something(wish: Wish, told: Mapping[str, str]) -> bool:
    """Is there more to run than the example of a template that lives by its operator?"""
    by_operator = wish.template in BY_OPERATOR or any(key == "op" for key, _ in wish.slots)
    return bool(wish.template and not by_operator) or _named(told) is not None


def _suggested(operator: Operator, bound: Bound) -> str:
    if bound.missing is not None:
        return "single_op"  # the one that can say what is missing
    row = bound.row
    written = operator.name.rpartition("::")[2]
    if operator.how == "record":
        return "single_op"  # exactly what failed
    if row is not None and row.template != "single_op":
        return row.template
    if (
        row is not None
        and row.inplace
        and (written.startswith("aclnnInplace") or written.partition(".")[0].endswith("_") or written.endswith(".out"))
    ):
        return "inplace_out"
    kinds = {s.dtype for s in operator.inputs if s.dtype}
    if row is not None and row.many and len(kinds) > 1:
        return "mixed_stack"
    return "single_op"


def _slots(name: str, operator: Operator, bound: Bound, wish: Wish) -> dict[str, Value]:
    call, row = bound.call, bound.row
    wanted = template(name).slot_names
    args, kwargs = list(call.args), dict(call.kwargs)
    slots: dict[str, Value] = {}
    if "STEPS" in wanted:
        context = operator.context[-(wish.context or CONTEXT) :] or (Step(call),)
        slots["STEPS"] = [_step(step) for step in context]
        return slots
    if "MODULES" in wanted:
        return _modules(call)
    if "INPUTS" in wanted:
        first: Value = args[0] if args and isinstance(args[0], list) else [a for a in args if isinstance(a, dict)]
        slots["INPUTS"], slots["OPERATOR"] = first, call.operator if row is not None and row.many else "torch.stack"
        if row is not None and row.many:
            slots["KWARGS"] = {**({"dim": args[1]} if len(args) > 1 else {}), **kwargs}
        return slots
    slots.update(OPERATOR=call.operator, ARGS=args, KWARGS=kwargs)
    if "COMPARE" in wanted and ((row is not None and not row.compare) or _RANDOM.search(call.operator)):
        slots["COMPARE"] = False
    if "INPLACE" in wanted:
        slots["INPLACE"], slots["OUT"] = (row.inplace, row.out) if row is not None else ("", False)
        if call.operator.startswith("torch.Tensor.") and call.operator.endswith("_"):
            slots["OPERATOR"], slots["INPLACE"] = call.operator[:-1], call.operator
    if "SIZES" in wanted and (shape := _first_shape(args)):
        dimension = max(range(len(shape)), key=lambda i: shape[i])
        size = shape[dimension]
        slots["DIMENSION"] = dimension
        slots["SIZES"] = [size, size + 1, size + 2, size + 3, 2 * size, 2 * size + 1, max(size // 2, 1)]
    return {k: v for k, v in slots.items() if k in wanted}


def _step(step: Step) -> Value:
    return {
        "op": step.call.operator,
        "args": list(step.call.args),
        "kwargs": dict(step.call.kwargs),
        "out": list(step.out),
    }


def _modules(call: Call) -> dict[str, Value]:
    """One module for a convolution or a linear layer whose weight is known; else the template's own."""
    shapes = [_first_shape([a]) for a in call.args]
    if len(shapes) < 2 or not shapes[0] or not shapes[1]:
        return {}
    first, weight = call.args[0], shapes[1]
    known = call.operator.rpartition(".")[2]
    if known in ("conv1d", "conv2d", "conv3d") and len(weight) > 2:
        module: dict[str, Value] = {
            "name": f"Conv{known[4:]}",
            "args": [weight[1], weight[0], list(weight[2:])],
            "kwargs": {},
        }
    elif known == "linear" and len(weight) == 2:
        module = {"name": "Linear", "args": [weight[1], weight[0]], "kwargs": {}}
    else:
        return {}
    return {"MODULES": [module, {"name": "ReLU", "args": [], "kwargs": {}}], "INPUT": first}


def _first_shape(args: list[Value]) -> list[int]:
    for arg in args:
        if isinstance(arg, list) and (inner := _first_shape(arg)):
            return inner
        if (
            isinstance(arg, dict)
            and isinstance(spec := arg.get("tensor"), dict)
            and isinstance(shape := spec.get("shape"), list)
        ):
            return [s for s in shape if isinstance(s, int)]
    return []


def _event(operator: Operator, wish: Wish, told: Mapping[str, str], forced: str = "") -> Request:
    name = forced or (template_name(wish.template) if wish.template else EVENTS[operator.family])
    attrs = dict(operator.attrs)
    slots = _of_entry(name, wish)
    guessed: list[Text] = []
    wanted = template(name).slot_names
    if name == "memory_pressure" and isinstance(size := attrs.get("size"), int):
        slots["SIZE"] = size
        slots["LIMIT"] = max(size * 2, 1 << 20)
    if name == "hccl_collective":
        if operator.name in COLLECTIVES:
            slots["COLLECTIVE"] = operator.name
        dtype = torch_dtype(str(attrs.get("dtype") or ""))
        count = attrs.get("count")
        if dtype is None or not isinstance(count, int):
            guessed.append(Text("count or type of the elements are not in the log", "日志中没有元素个数或数据类型"))
        slots.update({"DTYPE": dtype} if dtype else {}, **({"COUNT": count} if isinstance(count, int) else {}))
    if wish.device and "DEVICE" in wanted:
        slots["DEVICE"] = wish.device
    del told
    return Request(
        name,
        slots,
        (_source(operator), *_set_before(wish)),
        tuple(guessed),
        frozenset(slots) if guessed else frozenset(),
        wish.expect or operator.error,
        wish.lang,
    )


def _named(told: Mapping[str, str]) -> Operator | None:
    """An operator that a finding names in its captures: `op`, `kernel` or `aclnn`."""
    for key in ("op", "kernel", "operator", "aclnn", "api", "optype", "op_type"):
        name = told.get(key, "").strip()
        if name.lower() in _UNKNOWN:
            continue
        if name.startswith("aclnn"):
            return Operator(name, "aclnn", "finding", failed=True)
        if "::" in name:
            return Operator(name, "aten", "finding", failed=True)
        candidates = operator_names.kernel_candidates(name)
        if candidates:
            return Operator(candidates[0], "cann", "finding", failed=True)
    return None


def _example(wish: Wish, told: Mapping[str, str]) -> Request:
    if not wish.template:
        raise SlotError("no operator was found in these logs, and no template was asked for")
    name = template_name(wish.template)
    note = Text(
        "the values below are an example: no log was given that tells them",
        "以下取值为示例：没有日志给出实际取值",
    )
    del told
    slots = {**_of_entry(name, wish), **({"DEVICE": wish.device} if wish.device and "DEVICE" in template(name).slot_names else {})}
    return Request(
        name, slots, _set_before(wish), (note,), frozenset(template(name).slot_names) - {"NOTES", "EXPECT"}, wish.expect, wish.lang
    )


def _source(operator: Operator) -> Text:
    """Where the operator was read."""
    # The file's name without its folder: scripts are passed on, paths tell of people and machines.
    place = f"{PurePath(operator.path).name}:{operator.line}" if operator.path else f"line {operator.line}"
    at = f", {place}" if operator.line else ""
    at_zh = f"，{place}" if operator.line else ""
    device = f", device {operator.device}" if operator.device is not None else ""
    device_zh = f"，设备 {operator.device}" if operator.device is not None else ""
    return Text(
        f"operator {operator.name!r} ({operator.how}{at}{device})",
        f"算子 {operator.name!r}（{operator.how}{at_zh}{device_zh}）",
    )
