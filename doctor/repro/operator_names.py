"""Names of operators: from what kernels, CANN, aclnn, aten and source lines call them to one key.

>>> kernel_candidates("GatherV3_7869a97190b9b4d296d9414a005b954b_high_performance_10330")[0]
'GatherV3'
>>> kernel_candidates("te_gatherv2_657cb48fa1743a43209d7bc779fe8c294760a5b09b3079a3323fdf18376fc408_1__kernel0")[0]
'gatherv2'
>>> aclnn_base("aclnnInplaceMaskedFillScalarGetWorkspaceSize")
'MaskedFillScalar'
>>> aten_base("aten::index_select.out")
'index_select'
"""

from __future__ import annotations

import re

from doctor.repro.word_sets import words

_HASH = re.compile(r"[0-9a-f]{16,}$")
_NOISE = words(
    "te trans kernel0 high performance precision tvmbin static bin dynamic mix aic aiv main none optional fusion op "
    "fp16 fp32 bf16 int8 int32 int64 float float16 nd nz all kernel default deterministic"
)
_VERSION = re.compile(r"V\d{1,2}$")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


def key(name: str) -> str:
    """Letters and digits only, in lower case: how a name is looked up."""
    return re.sub(r"[^a-z0-9]", "", name[:200].lower())


def kernel_candidates(kernel: str) -> tuple[str, ...]:
    """What the operator behind a kernel's name may be called: longer joins of its words first; empty for `none`."""
    words = [w for w in re.split(r"[_\W]+", kernel[:400]) if w and not w.isdigit() and not _HASH.match(w)]
    words = [w for w in words if not w.lower().startswith("aclnn")] or words
    told = [w for w in words if w.lower() not in _NOISE]
    if not told or kernel in ("none", "null") or "not found" in kernel:
        return ()
    joined = ["".join(told[i:j]) for i in range(min(len(told), 5)) for j in range(min(len(told), i + 5), i, -1)]
    return tuple(dict.fromkeys(w for w in joined if len(w) > 1))


def without_version(name: str) -> str:
    """`GatherV2` without `V2`; the D of compile-time constants (`ConcatD`) stays."""
    return _VERSION.sub("", name)


def aclnn_base(name: str) -> str:
    bare = name.removeprefix("aclnn").removesuffix("GetWorkspaceSize")
    return without_version(bare.removeprefix("Inplace") if len(bare) > 8 else bare)


def aten_base(name: str) -> str:
    """`aten::add_.Tensor` and `torch.add` both give `add`."""
    bare = name.rpartition("::")[2]
    bare = bare.rpartition(".")[2] if bare.startswith("torch") else bare.partition(".")[0]
    return bare[:-1] if bare.endswith("_") and len(bare) > 1 and not bare.endswith("__") else bare


def snake(name: str) -> str:
    """`IndexSelect` as torch would write it: `index_select`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return spaced.lower()


def is_identifier(name: str) -> bool:
    return _IDENTIFIER.fullmatch(name) is not None and not name.startswith("__")
