"""From an operator that a log tells of to a call that can be run: what is not in the log is guessed, and said so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from doctor.repro import operator_names
from doctor.repro.call import Call, Operator, Seen, Value
from doctor.repro.call_values import (
    as_embedding,
    from_table,
    joined,
    on_device,
    plain,
    tensor_spec,
    transposed,
)
from doctor.repro.dtypes import torch_dtype
from doctor.repro.operator_table import Row, Table
from kb.model import Text

# Which input a parameter's name means where the row does not say: first, second, third.
ALIASES: tuple[frozenset[str], ...] = (
    frozenset(("self", "input", "x", "x1", "selfref", "query", "mat1", "tensor1", "a", "in", "data", "inputx", "var")),
    frozenset(
        ("other", "mat2", "x2", "index", "indices", "weight", "filter", "src", "target", "key", "b", "end", "mask")
    ),
    frozenset(("bias", "biasoptional", "value", "values", "source", "updates", "tensor2")),
)
_SOURCE = re.compile(r"(?P<kind>in(?P<index>\d{1,2})(?P<optional>\?)?|ins|attr\??|hw|pads|dtype|t|shape|nd)(?:\b|\(|(?<=\?))")
_MAX_GUESSED = 1 << 16  # of a size that is made to fit an attribute
_FLOATS = frozenset(("float16", "bfloat16", "float32", "float64"))


@dataclass(frozen=True, slots=True)
class Bound:
    """A call, and in words what of it was guessed. `missing` says why the call cannot be completed."""

    call: Call
    row: Row | None
    guessed: tuple[Text, ...] = ()
    missing: Text | None = None
    notes: tuple[Text, ...] = ()
    parts: frozenset[str] = frozenset()  # which of OPERATOR, ARGS, KWARGS hold a guess


def bind(operator: Operator, table: Table) -> Bound:
    """The torch call for an operator; exact for a recorded one."""
    if operator.call is not None:
        return Bound(operator.call, table.find(operator.call.operator.removeprefix("torch.ops."), "aten"))
    row = table.find(operator.name, operator.family)
    if row is None:
        return _unknown(operator)
    return _Binder(operator, row).bound()


def _unknown(operator: Operator) -> Bound:
    """No row: the name may still be one of torch's, and the tensors are passed in the order of the log."""
    base = operator_names.snake(operator_names.aclnn_base(operator.name)) if operator.family in ("aclnn", "cann") else operator.name
    if operator.family == "aten":
        call = "torch.ops." + operator.name.replace("::", ".").partition(".out")[0]
    elif operator.family == "torch" and operator.name.startswith(("torch.", "torch_npu.")):
        call = operator.name
    else:
        call = f"torch.{base}" if operator_names.is_identifier(base) else "torch.unknown_operator"
    seen = [s for s in operator.inputs if s.shape is not None or s.dtype is not None]
    args: tuple[Value, ...] = tuple({"tensor": tensor_spec(s, None, {}, {})} for s in seen)
    guessed = [
        Text(
            f"the operator table does not know {operator.name!r}: {call} is a guess from its name",
            f"算子表中没有 {operator.name!r}：{call} 只是根据名字猜测的",
        )
    ]
    missing = None
    if not args:
        missing = Text(
            f"neither the inputs of {operator.name!r} nor its torch call are known",
            f"{operator.name!r} 的输入和对应的 torch 调用都未知",
        )
    return Bound(Call(call, args), None, tuple(guessed), missing, parts=frozenset(("OPERATOR", "ARGS")))


class _Binder:
    """One operator and its row; collects what it guesses."""

    def __init__(self, operator: Operator, row: Row) -> None:
        self.operator, self.row = operator, row
        self.attrs = {name.lower().strip("_"): value for name, value in operator.attrs}
        self.literals = dict(operator.literals)
        self.spent: set[str] = set()  # attributes and literals that went into the call
        example = row.example
        if row.many and len(operator.inputs) > 1:
            example = tuple(row.example[min(i, 1)] for i in range(len(operator.inputs)))
        self.example = example
        self.seen = self._assign()
        self.names: dict[str, tuple[int, ...]] = {}
        self.defaults = {dim.name: dim.default for spec in example for dim in spec.dims if dim.default}
        for name, value in operator.attrs:  # a size that a message tells without the shape, as ("size:r", 4096)
            if name.startswith("size:") and isinstance(value, int):
                self.names[name[5:]] = (value,)
        for spec, seen in zip(example, self.seen, strict=True):
            if seen is not None and seen.shape is not None:
                spec.unify(seen.shape, self.names)
        if "d" in self.names:  # heads of values are as wide as those of keys, unless the log says otherwise
            self.names.setdefault("dv", self.names["d"])
        for name, attribute in row.fits.items():
            least = self._attr(attribute)
            if isinstance(least, int) and not isinstance(least, bool) and name in self.defaults and name not in self.names:
                *front, last = self.defaults[name]
                self.defaults[name] = (*front, max(last, min(2 * least, _MAX_GUESSED)))
        self.guessed_inputs: dict[str, list[str]] = {"shape": [], "dtype": []}
        self.guessed_attrs: list[str] = []
        self.used: set[int] = set()

    def bound(self) -> Bound:
        row = self.row
        args = [self._at(place, a) for place, a in enumerate(row.args)]
        if self._is_line_call():
            args += self._further(len(row.args)) if not row.kwargs else []
        parts = {"ARGS"} if self._guesses() else set()
        before = self._guesses()
        kwargs = {name: value for name, source in row.kwargs.items() if (value := self.source(source)) is not _ABSENT}
        if self._is_line_call():
            kwargs.update(self._further_names(kwargs))
        while args and args[-1] is _ABSENT:
            args.pop()
        made = tuple(None if a is _ABSENT else a for a in args)
        call = on_device(as_embedding(Call(row.call, tuple(map(plain, made)), {k: plain(v) for k, v in kwargs.items()})))
        missing = None
        if row.needs:
            note = row.note
            missing = Text(
                f"{row.call} {note.get('en', 'cannot be called from one process with what the log tells')}",
                f"{row.call}：{note.get('zh', '仅凭日志内容无法在单个进程中调用')}",
            )
        parts |= {"KWARGS"} if self._guesses() > before else set()
        told = (Text(row.note["en"], row.note["zh"]),) if row.note and not row.needs else ()
        return Bound(call, row, tuple(self._notes()), missing, (*told, *self._unused()), frozenset(parts))

    def _is_line_call(self) -> bool:
        """Is the call of the row the very one of the source line, so that all of its literals fit?"""
        return bool(self.operator.line_call) and self.operator.line_call.replace("torch.Tensor.", "torch.") == self.row.call

    def _at(self, place: int, source: Value) -> object:
        """One positional argument: what the source line writes there, else what the row says."""
        written = f"@{place}"
        tensors = isinstance(source, str) and source.startswith(("in", "[in"))
        if written in self.literals and not tensors and self._is_line_call():
            self.spent.add(written)
            return self.literals[written]
        return self.source(source)

    def _further(self, place: int) -> list[object]:
        """Literals of the source line behind the arguments that the row knows."""
        found: list[object] = []
        while (written := f"@{place}") in self.literals:
            self.spent.add(written)
            found.append(self.literals[written])
            place += 1
        return found

    def _further_names(self, kwargs: Mapping[str, object]) -> dict[str, object]:
        """Keywords of the source line that the row does not know."""
        left = {n: v for n, v in self.literals.items() if not n.startswith("@") and n not in self.spent and n not in kwargs and v is not None}
        self.spent |= set(left)
        return {n: {"dtype": v} if n == "dtype" else v for n, v in left.items() if n != "dtype" or torch_dtype(str(v)) == v}

    def _unused(self) -> tuple[Text, ...]:
        """Names what the log tells of the call and the call does not take."""
        told = {**{n: v for n, v in self.operator.attrs if ":" not in n}, **{n: v for n, v in self.literals.items() if not n.startswith("@")}}
        left = [f"{n}={v}" for n, v in told.items() if n.lower().strip("_") not in self.spent and n not in self.spent][:8]
        if not left:
            return ()
        return (Text(f"told by the log and not used: {', '.join(left)}", f"日志中有而未使用的属性：{'、'.join(left)}"),)

    def _guesses(self) -> int:
        """How many things had to be guessed so far: attributes, and the shape or type of each input in use."""
        blank = sum(
            (s is None or s.shape is None) + (s is None or s.dtype is None) for s in (self.seen[i] for i in self.used)
        )
        return len(self.guessed_attrs) + blank

    def _assign(self) -> tuple[Seen | None, ...]:
        """Which tensor of the log is which input of the row: by number, by name, else in order."""
        places: list[Seen | None] = [None] * len(self.example)
        rest = []
        for seen in self.operator.inputs:
            index = seen.index if seen.index is not None else self._role(seen.role)
            if index is not None and index < len(places):
                before = places[index]
                places[index] = seen if before is None else joined(before, seen)
            elif index is None:
                rest.append(seen)
        for seen in rest:
            free = next((i for i, place in enumerate(places) if place is None), None)
            if free is not None:
                places[free] = seen
        return tuple(places)

    def _role(self, written: str) -> int | None:
        role = re.sub(r"[^a-z0-9]", "", written.lower())
        if not role:
            return None
        if numbered := re.fullmatch(r"(?:tensor|input)(\d{1,2})", role):
            return int(numbered[1])
        own = [re.sub(r"[^a-z0-9]", "", r.lower()) for r in self.row.roles]
        for form in (role, role.removesuffix("optional"), role.removesuffix("tensor"), role.removesuffix("ref")):
            if form in own:
                return own.index(form)
        for i, alias in enumerate(ALIASES):
            if (
                role in alias
                and i < len(self.example)
                and not (own and i < len(own) and own[i] in alias and role in own)
            ):
                return i
        return None

    def tensor(self, index: int) -> dict[str, Value]:
        self.used.add(index)
        return tensor_spec(self.seen[index], self.example[index], self.names, self.defaults, self._like(index))

    def _like(self, index: int) -> str | None:
        """The type of another input, where the row's example gives both the same floating type."""
        mine = self.example[index].dtype
        if mine not in _FLOATS:
            return None
        return next(
            (s.dtype for s, e in zip(self.seen, self.example, strict=True) if s and s.dtype and e.dtype == mine), None
        )

    def source(self, source: object) -> object:
        """The value that a source of the row stands for."""
        if isinstance(source, list):
            return [None if (v := self.source(item)) is _ABSENT else v for item in source]
        if not isinstance(source, str):
            return source
        if source.startswith("="):
            return source[1:]
        if source.startswith("["):
            return [self.source(part.strip()) for part in source.strip("[]").split(",")]
        kind = _SOURCE.match(source)
        if kind is None:
            return from_table(source)
        if kind["index"] is not None:
            index = int(kind["index"])
            if kind["optional"] and (index >= len(self.seen) or self.seen[index] is None):
                return _ABSENT
            return {"tensor": self.tensor(index)}
        if source == "ins":
            return [{"tensor": self.tensor(i)} for i in range(len(self.example))]
        rest = source[len(kind["kind"]) :].strip(" ()")
        return self._derived(kind["kind"], rest)

    def _derived(self, kind: str, rest: str) -> object:
        if kind == "t":
            which, _, wanted = rest.partition(",")
            spec = self.tensor(int(which[2:]))
            return {"tensor": transposed(spec) if self._attr(wanted) in (True, 1) else spec}
        if kind == "shape":
            return self.tensor(int(rest[2:]))["shape"]
        if kind == "nd":
            return self._coordinates(int(rest[2:]))
        names_, _, default = rest.lstrip("?").partition("=")
        if kind == "dtype":
            written = self._attr(names_.removeprefix("attr")) if "=" in rest else rest
            known = torch_dtype(str(written)) if written is not None else None
            if known is None:
                known = torch_dtype(default.strip() or rest) or "float32"
                self.guessed_attrs.append(f"dtype={known}")
            return {"dtype": known}
        told = self._attr(names_)
        if told is None and kind == "attr?":
            return _ABSENT
        if told is None:
            value = from_table(default.strip())
            self.guessed_attrs.append(f"{names_.split(',')[0].strip()}={value}")
            return value
        if kind == "hw" and isinstance(told, list) and len(told) == 4:
            return told[2:]  # N, C, H, W
        if kind == "pads" and isinstance(told, list) and len(told) == 4:
            return [told[0], told[2]]  # top, bottom, left, right
        return told

    def _coordinates(self, index: int) -> list[Value]:
        """Indices of ScatterNd and its like: the last dimension counts the dimensions that each of them addresses."""
        spec = self.tensor(index)
        shape = spec["shape"]
        if not isinstance(shape, list) or not shape:
            return [{"tensor": spec}]
        count = shape[-1] if isinstance(shape[-1], int) and 0 < shape[-1] <= 8 else 1
        table = self.tensor(0)["shape"]
        sizes = table if isinstance(table, list) else []
        made: list[Value] = []
        for i in range(count):
            one: dict[str, Value] = {**spec, "shape": shape[:-1]}
            if i < len(sizes) and i:
                one["high"] = sizes[i]
            made.append({"tensor": one})
        return made

    def _attr(self, written: str) -> Value:
        for name in written.split(","):
            plain = name.strip().lower().strip("_")
            told = self.attrs.get(plain)
            if told is not None:
                self.spent.add(plain)
                return told
            if self.literals.get(name.strip()) is not None:
                self.spent.add(name.strip())
                return self.literals[name.strip()]
        return None

    def _notes(self) -> list[Text]:
        notes = []
        asked = self.operator.how == "command line"
        absent = Text("not given", "命令行未给出的") if asked else Text("not in the log", "日志中没有的")
        for index in sorted(self.used):
            seen, name = self.seen[index], f"in{index}"
            label = self.row.roles[index] if index < len(self.row.roles) else name
            if seen is None or seen.shape is None:
                self.guessed_inputs["shape"].append(label)
            if seen is None or seen.dtype is None:
                self.guessed_inputs["dtype"].append(label)
        if shapes := self.guessed_inputs["shape"]:
            notes.append(Text(f"shapes {absent.en}: {', '.join(shapes)}", f"{absent.zh}形状：{'、'.join(shapes)}"))
        if kinds := self.guessed_inputs["dtype"]:
            notes.append(Text(f"types {absent.en}: {', '.join(kinds)}", f"{absent.zh}数据类型：{'、'.join(kinds)}"))
        if self.guessed_attrs:
            shown = ", ".join(dict.fromkeys(self.guessed_attrs))
            notes.append(Text(f"attributes {absent.en}: {shown}", f"{absent.zh}属性：{shown}"))
        return notes


_ABSENT = object()
