"""The operator table, `kb/repro/operators.yaml`: which torch call reaches a kernel, and what its inputs are.

A row is found by the name that any layer uses; the names of one layer are tried before those of another, because
`Gather` is one operator in the graph engine and another in aclnn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

import kb
from doctor.repro import operator_names
from doctor.repro.call import Value
from doctor.repro.shapes import TensorSpec, parse

FAMILIES = ("cann", "aclnn", "aten", "torch")


@dataclass(frozen=True, slots=True)
class Row:
    """One operator: its names, the torch call, and where its arguments come from."""

    call: str
    args: tuple[Value, ...]
    kwargs: Mapping[str, Value]
    example: tuple[TensorSpec, ...]
    cann: tuple[str, ...] = ()
    aclnn: tuple[str, ...] = ()
    aten: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    template: str = "single_op"
    inplace: str = ""
    out: bool = False
    compare: bool = True
    many: bool = False  # takes a list of any number of inputs
    fits: Mapping[str, str] = field(default_factory=dict)  # a name of dimensions: the attribute that its last size must exceed
    needs: str = ""  # what a script of one process cannot have
    note: Mapping[str, str] = field(default_factory=dict)
    ref: str = ""

    def names(self, family: str) -> tuple[str, ...]:
        return {"cann": self.cann, "aclnn": self.aclnn, "aten": self.aten, "torch": (self.call,)}[family]


@dataclass(frozen=True, slots=True)
class Table:
    """All rows, and where each name leads."""

    rows: tuple[Row, ...]
    index: Mapping[str, Mapping[str, Row]]

    def find(self, name: str, family: str) -> Row | None:
        """The row for a name of one layer, else for the same name in another; None when nobody knows it."""
        order = (family, *(f for f in FAMILIES if f != family)) if family in FAMILIES else FAMILIES
        for one in order:
            for written in spellings(name, one):
                row = self.index[one].get(written)
                if row is not None:
                    return row
        return None

    def find_kernel(self, kernel: str) -> tuple[Row | None, str]:
        """The row behind a kernel's name, and the part of the name that is the operator."""
        candidates = operator_names.kernel_candidates(kernel)
        for strict in (True, False):  # an exact name later in the kernel's beats a first word that is nearly one
            for word in candidates:
                row = self.index["cann"].get(operator_names.key(word)) if strict else self.find(word, "cann")
                if row is not None:
                    return row, next((n for n in row.cann if operator_names.key(n) == operator_names.key(word)), word)
        return None, candidates[0] if candidates else ""


def spellings(name: str, family: str) -> tuple[str, ...]:
    """The keys under which a name may stand in the index of a family, exact ones first."""
    if family == "aclnn":
        base = operator_names.aclnn_base(name)
        forms: tuple[str, ...] = (name, f"aclnn{name}", base)
    elif family == "aten":
        forms = (name, operator_names.aten_base(name), operator_names.snake(operator_names.aclnn_base(name)))
    elif family == "torch":
        forms = (
            name,
            f"torch.nn.functional.{name[2:]}" if name.startswith("F.") else f"torch_npu.{operator_names.aten_base(name)}",
        )
    else:
        bare = name.rpartition("::")[2]
        forms = (bare, operator_names.without_version(bare), operator_names.without_version(bare).removesuffix("D"))
    return tuple(dict.fromkeys(operator_names.key(form) for form in forms if form))


def read(data: Mapping[str, Any]) -> Table:
    """The table of a parsed file; KeyError, ValueError or TypeError where a row is wrong."""
    rows = tuple(_row(one) for one in data["operators"])
    index: dict[str, dict[str, Row]] = {family: {} for family in FAMILIES}
    for row in rows:
        for family in FAMILIES:
            for written in _keys(row, family):
                index[family].setdefault(written, row)
    return Table(rows, index)


def _keys(row: Row, family: str) -> Iterable[str]:
    for name in row.names(family):
        if family == "aclnn":
            yield operator_names.key(name)
            yield operator_names.key(operator_names.aclnn_base(name))
        elif family == "aten":
            yield operator_names.key(operator_names.aten_base(name))
        else:
            yield operator_names.key(name)


def _row(one: Mapping[str, Any]) -> Row:
    known = {"cann", "aclnn", "aten", "call", "args", "kwargs", "example", "roles", "template", "inplace", "out", "compare",
             "many", "fits", "needs", "note", "ref"}  # fmt: skip
    if unknown := set(one) - known:
        raise KeyError(f"unknown key {sorted(unknown)} in the row of {one.get('call')}")
    return Row(
        call=one["call"],
        args=tuple(one["args"]),
        kwargs=one.get("kwargs", {}),
        example=tuple(parse(spec) for spec in one.get("example", ())),
        cann=tuple(one.get("cann", ())),
        aclnn=tuple(one.get("aclnn", ())),
        aten=tuple(one.get("aten", ())),
        roles=tuple(one.get("roles", ())),
        template=one.get("template", "single_op"),
        inplace=one.get("inplace", ""),
        out=one.get("out", False),
        compare=one.get("compare", True),
        many=one.get("many", False),
        fits=one.get("fits", {}),
        needs=one.get("needs", ""),
        note=one.get("note", {}),
        ref=one["ref"],
    )


@lru_cache(maxsize=1)
def load() -> Table:
    """The built-in table."""
    path = Path(kb.__file__).parent / "repro" / "operators.yaml"
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C loader is ten times as fast, where it was built
    return read(yaml.load(path.read_text(encoding="utf-8"), Loader=loader))  # noqa: S506 - safe loaders both
