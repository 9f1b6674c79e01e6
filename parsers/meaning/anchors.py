"""By which words it is known that a reader may understand a text: a reader is only loaded for a text in which one stands.

In the order in which readers are asked: the most telling first, the plainest last.
"""

from __future__ import annotations

ANCHORS: dict[str, tuple[str, ...]] = {
    "memory": ("ried to allocate",),
    "unsupported": (
        "opType", "optype", "Optype", "op type", "soc", "Soc", "SOC", "Could not run '", "for device", "op store", "910",
        "310", "A2", "A3", "chip", "platform", "Atlas", "is not implemented", "no kernel",
    ),
    "elsewhere": ("CUDA", "cuda", "GPU", "NVIDIA", "Nvidia", "ROCm", "XPU", "HPU"),
    "imports": (
        "cannot import name", "No module named", "unexpected keyword argument", "required positional argument",
        "required keyword-only argument", "positional arguments but", "positional argument but", "has no attribute",
        "undefined symbol", "' not found (required by", "got multiple values for",
    ),
    "permissions": (
        "ermission denied", "not permitted", "not writable", "not writeable", "EACCES", "EPERM", "no permission",
        "No permission", "ermission is", "wner of", "read-only file", "Read-only file",
    ),
    "missing": (
        "o such file", "No module named", "not found", "does not exist", "doesn't exist", "not exist", "o such device",
        "cannot find", "an't find", "annot open", "an't open", "Could not find", "ble to find", "ble to open", "ble to locate", "not installed",
        "C compiler", "C++ compiler",
    ),
    "builds": (": error: ", "错误：", "未定义的引用", ", needed by ", "undefined reference to", "or higher is required", "Killed signal", "in wrong format", "文件格式错误", "is incompatible with", "Relocations in generic ELF"),
    "timeouts": (
        "timed out", "Timed out", "timeout", "Timeout", "TIMEOUT", "time out", "Time out", "deadline", "Deadline", "超时",
    ),
    "checks": ("Check failed: ",),
    "refusals": (
        "not implemented for", "dtype", "data type", "scalar type", "ormat", "shape", "dim", " type of ", "input type",
        "support list", "only support", "larger than", "of size", "size of tensor", "bfloat16 of ", "float16 of ",
        "should be 1D", "should be 2D", "should be 3D", "should be 4D", "must be 2D", "must be 3D", "must be 4D",
    ),
    "choices": (
        " is not a valid ", "nvalid choice", "one of", "lease select", "hoose from", "in (", "in [", "Input should be", "vailable", "upported",
        "alid ", "ptions", "hoices", "egistered", "nly support", "llowed",
    ),
    "limits": (
        "more than", "less than", "greater than", "larger than", "exceed", "insufficient", "Insufficient", "not enough",
        "Not enough", "maximum", "only", "requested", "equires", "equired", "already in use", "No space left", "Too many open",
        "Cannot allocate memory", "longer than", "smaller than", "at least", "out of range",
        "esource temporarily",
    ),
    "figures": (" < ", " > ", " != ", "different from", "iffers from", "ot equal", "ot match", "size failed", "than ", " is >=", " is <=", " is =="),
    "rules": (
        "must", "should", "is not supported with", "not compatible with", "incompatible", "annot be used", "can't be used",
        "nvalid value", "nvalid choice", "nvalid argument", "nrecognized argument", "unknown option", "no such option",
        "divisible", "xpected", "equired", "not supported", "only support", "nsupported", "nknown", "not support ", "n't support ",
    ),
    "plain": (
        "failed", "Failed", "FAILED", "exception code", "Invalid device", "invalid device", "ailure", "rror code",
        "rror Number",
    ),
}  # fmt: skip
