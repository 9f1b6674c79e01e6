"""Operators in what PyTorch prints: CPU fallback warnings, refused dispatches, and the last torch call of a traceback.

CAUTION: The operator 'aten::linalg_lstsq.out' is not currently supported on the NPU backend and will fall back ...
RuntimeError: Could not run 'aten::trunc.out' with arguments from the 'NPU' backend.
    return F.linear(input, self.weight, self.bias)
RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x1024 and 768x10)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from operator import attrgetter

from doctor.repro.call import Operator, Seen, Value
from doctor.repro.dtypes import torch_dtype
from doctor.repro.source_line import literals
from doctor.repro.values import shape
from doctor.repro.word_sets import words
from parsers.traceback import Raised, failures

_FALLBACK = re.compile(r"operator '(?P<name>\w{1,40}::[\w.]{1,100})' is not currently supported on the NPU backend")
_REFUSED = re.compile(
    r"Could not run '(?P<name>\w{1,40}::[\w.]{1,100})' with arguments from the '(?P<backend>\w{1,40})' backend"
)
_CALL = re.compile(r"\b(?P<name>(?:torch|torch_npu|F)(?:\.[A-Za-z_]\w{0,60}){1,5})\s*\(")
_METHOD = re.compile(r"(?<=[\w\])])\.(?P<name>[a-z]\w{1,40})\s*\(")
_OPERATOR = re.compile(r"[\w\])] (?P<sign>\+|-|\*|/|//|@|%|\*\*|==|<|>|<=|>=|&|\|) [\w(]")
_AUGMENTED = re.compile(r"[\w\])] (?P<sign>\+|-|\*|/|@)= ")
_SUBSCRIPT = re.compile(r"[\w\])]\[(?P<inner>[A-Za-z_][\w.]{0,60})\]")
_SIGNS = {
    "+": "torch.add", "-": "torch.sub", "*": "torch.mul", "/": "torch.div", "//": "torch.floor_divide", "@": "torch.matmul",
    "%": "torch.remainder", "**": "torch.pow", "==": "torch.eq", "<": "torch.lt", ">": "torch.gt", "<=": "torch.le",
    ">=": "torch.ge", "&": "torch.bitwise_and", "|": "torch.bitwise_or",
}  # fmt: skip

# Calls that launch no operator, or wrap one that stands in a deeper frame.
NO_OPERATORS = words(
    "device tensor no_grad enable_grad inference_mode manual_seed load save compile is_tensor Size set_device "
    "empty_cache synchronize current_device device_count is_available Generator autocast stream current_stream Stream "
    "Event checkpoint set_grad_enabled set_num_threads get_rng_state from_numpy init_process_group barrier finfo "
    "iinfo get_device_name mem_get_info memory_allocated memory_reserved max_memory_allocated Module Parameter spawn "
    "run _call_impl backward set_default_dtype set_printoptions cat_ Tensor grad apply forward"
)
_METHODS = words(
    "add add_ sub sub_ mul mul_ div div_ matmul mm bmm addmm addmm_ sum mean max min amax amin argmax argmin prod std "
    "var norm softmax log_softmax exp log sqrt rsqrt abs pow pow_ clamp clamp_ sigmoid tanh relu relu_ gather scatter "
    "scatter_ scatter_add scatter_add_ index_select index_put index_put_ index_add index_add_ index_fill_ masked_fill "
    "masked_fill_ masked_select masked_scatter_ where nonzero topk sort argsort unique cumsum cumprod flip roll "
    "repeat repeat_interleave tile expand view reshape permute transpose contiguous copy_ fill_ zero_ normal_ "
    "uniform_ bernoulli_ multinomial_ narrow split chunk unbind tril triu any all logsumexp lerp lerp_ addcmul_ "
    "addcdiv_ fmod remainder bincount histc kthvalue median cross dot outer inverse item tolist to float half "
    "bfloat16 int long bool cpu npu"
)
NO_FAULT_OF_OPERATORS = ("ImportError", "ModuleNotFoundError", "KeyError", "AttributeError", "OSError", "FileNotFoundError")


def operators(lines: Sequence[str]) -> Iterator[Operator]:
    """Every operator that PyTorch's own text names, in the order of the lines."""
    found = [_last_call(part) for failure in failures(lines) for part in failure.parts]
    for at, raw in enumerate(lines, 1):
        if named := _FALLBACK.search(raw):
            found.append(Operator(named["name"], "aten", "fallback", line=at, error=""))
        if named := _REFUSED.search(raw):
            found.append(Operator(named["name"], "aten", "refused", line=at, error=named[0], failed=True))
    yield from sorted((one for one in found if one is not None), key=attrgetter("line"))


def _last_call(raised: Raised) -> Operator | None:
    """The deepest frame whose code calls an operator. Frames of the dispatcher itself name none."""
    if not raised.type.endswith(("Error", "Exception")) or raised.type.endswith(NO_FAULT_OF_OPERATORS):
        return None
    if _NOT_THE_CALL.search(raised.message):
        return None
    deepest = raised.frames[-1] if raised.frames else None
    if deepest is not None and (deepest.package == "triton" or "/torch_npu/npu/" in deepest.file.replace("\\", "/")):
        return None  # the compiler of a kernel, or the runtime itself: starting a device fails the same for every operator
    frames = [frame for frame in raised.frames if frame.code]
    for frame in reversed(frames[-12:]):
        name, guessed = _called(frame.code)
        if name:
            said = raised.message.partition("\n")[0]
            inputs, attrs = shapes_in(said, name)
            return Operator(
                name,
                "torch",
                "traceback",
                inputs,
                attrs,
                error=" ".join(said.split())[:160],
                line=raised.at,
                failed=True,
                guessed=("name",) if guessed else (),
                line_call=name,
                literals=literals(frame.code, name),
            )
    return None


def _called(code: str) -> tuple[str, bool]:
    """The call of a source line, and whether it had to be inferred from a method or a sign."""
    code = code.split("#")[0][:400]
    named = [c["name"] for c in _CALL.finditer(code)]
    for name in named:
        if "._" in name:  # a private entry point of the runtime
            continue
        if name.rpartition(".")[2] not in NO_OPERATORS and not name.startswith(
            ("torch.distributed", "torch.utils", "torch.cuda", "torch.npu.")
        ):
            return (f"torch.nn.functional.{name[2:]}" if name.startswith("F.") else name), False
    for method in _METHOD.finditer(code):
        if method["name"] in _METHODS:
            return f"torch.Tensor.{method['name']}", True
    for pattern in (_AUGMENTED, _OPERATOR):
        if (sign := pattern.search(code)) and '"' not in code and "'" not in code:
            return _SIGNS[sign["sign"]], True
    if _SUBSCRIPT.search(code) and "=" in code:
        return "torch.ops.aten.index.Tensor", True
    return "", False


_PRODUCT = re.compile(r"shapes cannot be multiplied \((\d{1,12})x(\d{1,12}) and (\d{1,12})x(\d{1,12})\)")
_AB = re.compile(
    r"The size of tensor a \((\d{1,12})\) must match the size of tensor b \((\d{1,12})\) at non-singleton dimension (\d{1,2})"
)
_BOUNDS = re.compile(r"index (-?\d{1,12}) is out of bounds for (?:dimension|axis) (\d{1,2}) with size (\d{1,12})")
_WEIGHT = re.compile(r"weight of size \[([\d, ]{1,100})\], expected input\[([\d, ]{1,100})\]")
_NOT_FOR = re.compile(r"not implemented for '(\w{1,30})'")
_TWO_TYPES = re.compile(
    r"expected (?:scalar type|m1 and m2 to have the same dtype, but got:) ?(\w[\w:]{1,30}) (?:but found|!=) ?(\w[\w:]{1,30})"
)
_INVALID = re.compile(r"shape '\[([-\d, ]{1,100})\]' is invalid for input of size (\d{1,15})")


# The memory was full, whoever asked; or the program wants another machine.
_NOT_THE_CALL = re.compile(r"out of memory\b.{0,40}Tried to allocate|not compiled with CUDA enabled|Found no NVIDIA driver")
_NORMALIZED = re.compile(r"normalized_shape=\[([\d, ]{1,60})\].{0,80}?input of size ?\[([\d, ]{1,60})\]")
_STATISTICS = re.compile(r"running_(?:mean|var) should contain (\d{1,12}) elements not (\d{1,12})")
_TARGET = re.compile(r"Target (-?\d{1,12}) is out of bounds")
_ENTRIES = re.compile(r"equal size, but got \[([\d, ]{0,60})\] at entry 0 and \[([\d, ]{0,60})\] at entry 1\b")
_MEMBER = re.compile(r"except in dimension (\d{1,2})\. Expected size (\d{1,12}) but got size (\d{1,12}) for tensor number 1\b")
_EXPANDED = re.compile(r"Target sizes: \[([-\d, ]{1,60})\]\.? +Tensor sizes: \[([\d, ]{1,60})\]")
_INPUT = re.compile(r"(?:got|given) input (?:of |with )?(?:size|shape):? ?(?:torch\.Size\()?\[([\d, ]{1,60})\]")


def _stated(text: str) -> tuple[Seen, ...]:
    """Sizes and values that checks of single operators print."""
    if found := _NORMALIZED.search(text):
        return (Seen("", 0, None, shape(found[2])), Seen("", 1, None, shape(found[1])))
    if found := _STATISTICS.search(text):
        channels, held = int(found[1]), int(found[2])
        return (Seen("", 0, None, (4, channels, 6, 6)), Seen("", 1, None, (held,)), Seen("", 2, None, (held,)))
    if found := _TARGET.search(text):
        value = int(found[1])
        return (Seen("", 1, "int64", None, low=value, high=value + 1),)
    if found := _ENTRIES.search(text):
        return (Seen("", 0, None, shape(found[1])), Seen("", 1, None, shape(found[2])))
    if found := _MEMBER.search(text):
        along, expected, got = (int(g) for g in found.groups())
        other = 0 if along else 1
        sizes = [[3] * (max(along, other) + 1) for _ in range(2)]
        sizes[0][other], sizes[1][other] = expected, got
        return (Seen("", 0, None, tuple(sizes[0])), Seen("", 1, None, tuple(sizes[1])))
    if found := _EXPANDED.search(text):
        return (Seen("", 0, None, shape(found[2])),)
    if found := _INPUT.search(text):
        return (Seen("", 0, None, shape(found[1])),)
    return ()


def shapes_in(text: str, name: str) -> tuple[tuple[Seen, ...], tuple[tuple[str, Value], ...]]:
    """What the words of a torch error tell of the inputs."""
    if found := _PRODUCT.search(text):
        m, k, k2, n = (int(g) for g in found.groups())
        second = (n, k2) if name.endswith(".linear") else (k2, n)
        first = 1 if name.endswith((".addmm", ".addmm_")) else 0
        return (Seen("", first, None, (m, k)), Seen("", first + 1, None, second)), ()
    if found := _AB.search(text):
        a, b, dim = (int(g) for g in found.groups())
        ones = (1,) * dim
        return (Seen("", 0, None, (*ones, a)), Seen("", 1, None, (*ones, b))), ()
    if found := _BOUNDS.search(text):
        index, _, size = (int(g) for g in found.groups())
        return (Seen("index", None, None, None, low=min(index, 0), high=max(index + 1, 1)),), (("size:r", size),)
    if found := _WEIGHT.search(text):
        return (Seen("", 0, None, shape(found[2])), Seen("", 1, None, shape(found[1]))), ()
    if found := _TWO_TYPES.search(text):
        return (Seen("", 0, torch_dtype(found[1])), Seen("", 1, torch_dtype(found[2]))), ()
    if found := _INVALID.search(text):
        wanted: list[Value] = [int(p) for p in found[1].replace(" ", "").split(",") if p.lstrip("-").isdigit()]
        return (Seen("", 0, None, (int(found[2]),)),), (("shape", wanted),)
    if (found := _NOT_FOR.search(text)) and (dtype := torch_dtype(found[1])):
        return (Seen("", 0, dtype),), ()
    return _stated(text), ()
