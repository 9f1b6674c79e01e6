"""The three spellings of tensor types and storage formats: torch's, CANN's names, and the numbers of ACL.

Numbers are those of aclDataType and aclFormat (CANN, acl_base.h); both enumerations only ever grow.
"""

from __future__ import annotations

from doctor.repro.word_sets import words

TORCH = words(
    "float32 float16 bfloat16 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex32 complex64 "
    "complex128 float8_e4m3fn float8_e5m2 qint8 quint8 qint32"
)

_NUMBERS = {
    0: "float32",
    1: "float16",
    2: "int8",
    3: "int32",
    4: "uint8",
    6: "int16",
    7: "uint16",
    8: "uint32",
    9: "int64",
    10: "uint64",
    11: "float64",
    12: "bool",
    16: "complex64",
    17: "complex128",
    27: "bfloat16",
    33: "complex32",
    35: "float8_e5m2",
    36: "float8_e4m3fn",
}
_NAMES = {
    "float": "float32",
    "fp32": "float32",
    "half": "float16",
    "fp16": "float16",
    "bf16": "bfloat16",
    "double": "float64",
    "fp64": "float64",
    "char": "int8",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "byte": "uint8",
    "boolean": "bool",
    "longtensor": "int64",
    "inttensor": "int32",
    "floattensor": "float32",
    "halftensor": "float16",
    "bfloat16tensor": "bfloat16",
    "doubletensor": "float64",
    "booltensor": "bool",
    "bytetensor": "uint8",
    "c10::half": "float16",
    "c10::bfloat16": "bfloat16",
    "complexfloat": "complex64",
    "complexdouble": "complex128",
}

FORMATS = {
    "NCHW": 0,
    "NHWC": 1,
    "ND": 2,
    "NC1HWC0": 3,
    "FRACTAL_Z": 4,
    "NC1HWC0_C04": 12,
    "HWCN": 16,
    "NDHWC": 27,
    "FRACTAL_NZ": 29,
    "NCDHW": 30,
    "NDC1HWC0": 32,
    "FRACTAL_Z_3D": 33,
    "NCL": 47,
}


def torch_dtype(written: str | int) -> str | None:
    """torch's name for any spelling, None for a type that torch does not have or nobody knows."""
    if isinstance(written, int) or written.isdigit():
        return _NUMBERS.get(int(written))
    name = written.strip().lower().removeprefix("torch.").removeprefix("dt_").removeprefix("npu").removeprefix("acl_")
    name = _NAMES.get(name, name)
    return name if name in TORCH else None


def format_number(written: str) -> int | None:
    name = written.strip().upper().removeprefix("FORMAT_").removeprefix("ACL_FORMAT_")
    if name.lstrip("-").isdigit():
        return int(name) if 0 <= int(name) < 1000 else None
    return FORMATS.get(name.partition(":")[0])
