"""The notation of tensors in the operator table and on the command line: `float32[m=8,k=16] -1..1`.

A dimension is a number, a name with a default (`m=8`), or a name alone that stands elsewhere. `*s=4x8` stands for any
number of dimensions. The range bounds integer contents, upper end excluded; its ends may be names of dimensions.

>>> parse("int64[j=5] 0..r").dims
(Dim(name='j', default=(5,), many=False),)
>>> names = {}
>>> parse("float32[*b=2x8,k=16]").unify((3, 4, 5), names), names
(True, {'b': (3, 4), 'k': (5,)})
>>> parse("float32[k,n=4]").shape(names)
(5, 4)
"""

from __future__ import annotations

import re

from doctor.repro.dtypes import torch_dtype
from parsers.named import NamedTuple

_SPEC = re.compile(
    r"\s*(?P<dtype>[A-Za-z][\w.:]{0,30})\s*\[(?P<dims>[^\[\]]{0,200})\]"
    r"(?:\s+(?P<low>-?[\w.]{1,20}?)\.\.(?P<high>-?[\w.]{1,20}))?\s*$"
)
_DIM = re.compile(r"(?P<many>\*?)(?:(?P<name>[a-z][a-z0-9]*)(?:=(?P<default>\d+(?:x\d+)*))?|(?P<size>\d+))$")


class Dim(NamedTuple):
    name: str
    default: tuple[int, ...]
    many: bool


class TensorSpec(NamedTuple):
    """One tensor of the notation."""

    dtype: str
    dims: tuple[Dim, ...]
    low: str | None
    high: str | None

    def unify(self, shape: tuple[int, ...], names: dict[str, tuple[int, ...]]) -> bool:
        """Binds the names of dimensions to a shape; False where the shape has too few or too many of them.

        A name that is bound already keeps its first value: two sizes that disagree are the fault that is looked for.
        """
        many = next((i for i, dim in enumerate(self.dims) if dim.many), None)
        fixed = len(self.dims) - (many is not None)
        if len(shape) < fixed or (many is None and len(shape) != fixed):
            return False
        at = 0
        for i, dim in enumerate(self.dims):
            width = len(shape) - fixed if i == many else 1
            if dim.name:
                names.setdefault(dim.name, tuple(shape[at : at + width]))
            at += width
        return True

    def shape(self, names: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
        """The sizes under these names, defaults for the rest."""
        sizes: list[int] = []
        for dim in self.dims:
            sizes += names.get(dim.name, dim.default or (1,)) if dim.name else dim.default
        return tuple(sizes)


def parse(written: str) -> TensorSpec:
    """The parsed notation; ValueError says what is wrong with it."""
    found = _SPEC.match(written)
    if found is None:
        raise ValueError(
            f"'{written}' is no tensor: write a type and sizes like float16[2,3], perhaps with a range 0..10"
        )
    dtype = torch_dtype(found["dtype"])
    if dtype is None:
        raise ValueError(f"'{found['dtype']}' is no tensor type: write float32, bfloat16, int64, bool, ...")
    dims = []
    between = r",\s*" if "=" in found["dims"] else r"[,\s]+|(?<=\d)x(?=\d)"
    for part in filter(None, re.split(between, found["dims"].strip())):
        one = _DIM.match(part.strip())
        if one is None:
            raise ValueError(f"'{part}' is no size in '{written}'")
        default = (int(one["size"]),) if one["size"] else tuple(int(n) for n in (one["default"] or "").split("x") if n)
        dims.append(Dim(one["name"] or "", default, bool(one["many"])))
    return TensorSpec(dtype, tuple(dims), found["low"], found["high"])


def limit(written: str | None, names: dict[str, tuple[int, ...]], defaults: dict[str, tuple[int, ...]]) -> float | None:
    """One end of a range: a number, or the size of a named dimension."""
    if written is None:
        return None
    sizes = names.get(written) or defaults.get(written)
    if sizes is not None:
        return sizes[0] if sizes else 1
    try:
        return float(written) if "." in written else int(written)
    except ValueError:
        return None
