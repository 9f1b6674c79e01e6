"""Operators in the lines of CANN: aclop descriptions, AI Core exceptions, aclnn errors, unsupported operators.

    ... aclopCompile::aclOp = OpType: MatMul, InputDesc[0]: [TensorDesc] DataType = 1, Format = 2, ..., Shape = [16, 32], ...
    [AIC_INFO] node_name:GatherV2, node_type:GatherV2, stream_id:2, task_id:6
    [AIC_INFO] input:0;shape:[16,4];format:ND;dtype:DT_FLOAT;addr:0x12c0
    Aicore kernel execute failed, device_id=2, ..., fault kernel_name=GatherV3_7869..._high_performance_10330, ...
    RuntimeError: call aclnnMatmul failed, detail:EZ1001: ... The k-axis of the two inputs are different [1,5,4096], [8,4096]

Forms as printed by CANN ge (acl_op_inner.cpp, exception_dumper.cc), runtime (davinci_kernel_task.cc, dump_operator.cpp)
and opbase; every pattern is bounded, so that a line costs its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from doctor.repro.call import Operator, Seen, Value
from doctor.repro.dtypes import format_number, torch_dtype
from doctor.repro.values import attributes, shape
from doctor.repro.word_sets import words

_ACLOP = re.compile(r"aclOp = OpType: (?P<type>\w{1,80}),? ?")
_DESC = re.compile(
    r"(?P<side>In|Out)putDesc\[(?P<index>\d{1,3})\]: \[TensorDesc\] DataType = (?P<dtype>-?\d{1,4}), "
    r"Format = (?P<format>-?\d{1,4}), StorageFormat = (?P<storage>-?\d{1,9}), Shape = \[(?P<shape>[^\]]{0,200})\]"
)
_NODE = re.compile(r"\[AIC_INFO\] node_name:(?P<name>[^,\s]{1,300}), ?node_type:(?P<type>[^,\s]{1,100})")
_TENSOR = re.compile(
    r"\[AIC_INFO\] (?P<side>in|out)put:(?P<index>\d{1,3});shape:\[(?P<shape>[^\]]{0,200})\];"
    r"format:(?P<format>[\w:]{1,40});dtype:(?P<dtype>\w{1,40})"
)
_ATTRS = re.compile(r"\[AIC_INFO\] all attrs:(?P<attrs>.{1,2000})")
_KERNEL = re.compile(r"fault kernel_name=(?P<kernel>[^,\s]{1,300})")
_LAUNCH = re.compile(r"launch kernel failed, kernel=\d{1,20}/(?P<kernel>[^,\s]{1,300})")
_DEV_FUNC = re.compile(r"\[AIC_INFO\] dev_func:(?P<kernel>\S{1,300})")
_DEVICE = re.compile(r"(?:device_id=|Device: ?|chipId:)(?P<device>\d{1,4})")
_ASSERT = re.compile(
    r"\[ASSERT\].{0,400}?/(?P<file>[a-z][a-z0-9_]{2,60})/[^/\s]{1,80}: ?Assertion .{0,200}?"
    r"Index (?P<index>-?\d{1,12}) out of range ?\[(?P<low>-?\d{1,12})[ ,]+(?P<high>\d{1,12})\)"
)
_ACLNN = re.compile(
    r"(?:call (?P<called>aclnn\w{1,80}) failed|(?P<named>aclnn\w{1,80}?)(?:GetWorkspaceSize)? (?:call )?failed"
    r"|(?P<absent>aclnn\w{1,80}) or aclnn\w{1,100} not in |(?P<workspace>aclnn[A-Z]\w{1,80})\(workspace)"
)
_CODE = re.compile(r"error code(?: is|:) ?(?P<code>\d{6})\b")
_CANN_TYPES = (
    re.compile(r"Optype \[(?P<type>\w{1,80})\] of Ops kernel \[\w{1,60}\] is unsupported"),
    re.compile(r"Op ?\[[^\[\],\s]{1,200}, ?optype ?\[(?P<type>[\w.:]{1,100})\]\]"),
    re.compile(r"Cannot find bin(?:ary)? (?:of|for) op (?P<type>[A-Za-z]\w{1,80})"),
    re.compile(
        r"Kernel (?:Run|GetWorkspace|Not Found)\S{0,2} ?(?:failed)?\. opType: \d{1,6}, (?P<type>[A-Za-z]\w{1,80})"
    ),
    re.compile(r"launch failed for (?P<type>[A-Za-z]\w{1,80}), errno"),
    re.compile(r"Op (?P<type>[A-Za-z]\w{1,80}) does not has any binary"),
    re.compile(r"(?P<type>[A-Z]\w{1,80}) (?:LaunchAicore failed|do tiling failed)"),
    re.compile(r"\bop\[(?P<type>[A-Z]\w{1,80})\], "),
    re.compile(r"Failed to execute operator (?P<type>[A-Z][A-Za-z0-9]{1,80})(?:_\d{1,9})?\."),
)
_WORKING = re.compile(r"current working operator name is (?P<type>[A-Za-z]\w{1,80})\b")
_COMPILE = re.compile(r"Failed to compile Op \[(?P<kernel>[^,\]\s]{1,200}),?")
_TBE_TYPE = re.compile(r"(?P<dtype>[a-z]\w{2,12}) of tbe\.\w{1,20}\.\w{1,60} is not supported")
_KEY_TYPES = re.compile(r"integral key [\d/]{0,60}\|(?P<pairs>[\w/:]{1,600})")
_BAD_TYPE = re.compile(r"data type (?P<dtype>DT_\w{1,20}) of input \[(?P<role>\w{1,40})\] is not supported")

KEYWORDS = (
    "aclOp = OpType", "[AIC_INFO]", "kernel_name=", "launch kernel failed", "[ASSERT]", "aclnn", "Optype [", "optype",
    "Cannot find bin", "opType: ", "launch failed for", "does not has any", "LaunchAicore", "tiling failed", "op[",
    "Failed to execute op", "working operator name", "Failed to compile Op",
)  # fmt: skip
LOOK_AHEAD = 30


def operators(lines: Sequence[str]) -> Iterator[Operator]:
    """Every operator that CANN's lines name, in the order of the lines."""
    for at, line in enumerate(lines):
        if any(word in line for word in KEYWORDS):
            yield from _line(lines, at, line)


def _line(lines: Sequence[str], at: int, line: str) -> Iterator[Operator]:
    if found := _ACLOP.search(line):
        yield _aclop(
            found["type"], line[found.end() :], at, failed="was not compiled" in line or "[ERROR]" in line[:40]
        )
        return
    device = int(d["device"]) if (d := _DEVICE.search(line)) else None
    if found := _NODE.search(line):
        yield _exception(lines, at, found["type"])
        return
    if found := _ASSERT.search(line):
        yield _assertion(found, lines, at)
    for pattern, how in ((_KERNEL, "aicore"), (_LAUNCH, "launch"), (_DEV_FUNC, "aicore"), (_COMPILE, "compile")):
        if found := pattern.search(line):
            yield Operator(
                found["kernel"],
                "kernel",
                how,
                _tbe_type(lines, at),
                device=device,
                error=_code(lines, at),
                line=at + 1,
                failed=True,
            )
    if found := _ACLNN.search(line):
        name = found["called"] or found["named"] or found["absent"] or found["workspace"]
        yield _aclnn(name.removesuffix("GetWorkspaceSize"), lines, at)
    if (found := _WORKING.search(line)) and not found["type"].lower().startswith(("hccl", "hcom")):  # asynchronous: the operator may be a later one than the one that failed
        yield Operator(found["type"], "cann", "working", error=_code(lines, at), line=at + 1, failed=True)
    for pattern in _CANN_TYPES:
        if found := pattern.search(line):
            yield _cann(found["type"], lines, at, device)


def _aclop(kind: str, rest: str, at: int, failed: bool) -> Operator:
    inputs = [seen for side, seen in tensors(rest) if side == "In"][:64]
    return Operator(kind, "cann", "aclop", tuple(inputs), aclop_attributes(rest), line=at + 1, failed=failed)


def tensors(described: str) -> Iterator[tuple[str, Seen]]:
    """The tensors of an aclop description, each with its side, `In` or `Out`."""
    for desc in _DESC.finditer(described):
        storage = int(desc["storage"]) if int(desc["storage"]) > 2 else int(desc["format"])
        yield (
            desc["side"],
            Seen("", int(desc["index"]), torch_dtype(int(desc["dtype"])), shape(desc["shape"]), storage),
        )


def aclop_attributes(described: str) -> tuple[tuple[str, Value], ...]:
    return attributes(described.partition("Attr: ")[2])


def _exception(lines: Sequence[str], at: int, kind: str) -> Operator:
    """The block that the exception dumper writes: the node, its tensors, its attributes, line by line."""
    inputs: dict[int, Seen] = {}
    attrs: tuple[tuple[str, Value], ...] = ()
    device = None
    for line in lines[at + 1 : at + 1 + 3 * LOOK_AHEAD]:
        if _NODE.search(line):
            break
        if (found := _TENSOR.search(line)) and found["side"] == "in":
            index = int(found["index"])
            number = format_number(found["format"])
            inputs.setdefault(index, Seen("", index, torch_dtype(found["dtype"]), shape(found["shape"]), number))
        elif found := _ATTRS.search(line):
            attrs = attributes(found["attrs"])
        elif device is None and (found := _DEVICE.search(line)):
            device = int(found["device"])
    ordered = tuple(inputs[i] for i in sorted(inputs))
    return Operator(kind, "cann", "exception", ordered, attrs, device, _code(lines, at), at + 1, failed=True)


def _assertion(found: re.Match[str], lines: Sequence[str], at: int) -> Operator:
    """An assertion of a gather kernel tells the index that was asked for and the size of the table."""
    index, high = int(found["index"]), int(found["high"])
    seen = Seen("index", 1, None, None, low=min(index, int(found["low"])), high=max(index + 1, 1))
    return Operator(
        found["file"],
        "kernel",
        "assert",
        (seen,),
        (("size:r", high),),
        error=_code(lines, at),
        line=at + 1,
        failed=True,
    )


def _aclnn(name: str, lines: Sequence[str], at: int) -> Operator:
    inputs = tuple(parameters(_block(lines, at)))
    code = _code(lines, at)
    error = f"call {name} failed" if "call aclnn" in lines[at] else code
    device = next((int(d["device"]) for line in lines[at : at + 4] if (d := _DEVICE.search(line))), None)
    cast = re.search(r"param dtype not implemented for (DT_\w{1,20})", " ".join(lines[at : at + 6])[:4000])
    attrs: tuple[tuple[str, Value], ...] = (("dtype", torch_dtype(cast[1]) or cast[1]),) if cast else ()
    attrs += _named_values(" ".join(lines[at : at + 4])[:4000])
    return Operator(name, "aclnn", "aclnn", inputs, attrs, device=device, error=error, line=at + 1, failed=True)


_HEAD_DIM = re.compile(r"\b(?P<which>[qkv])D ?[=:] ?(?P<size>\d{1,9})")
_NAMED_VALUE = re.compile(r"\b(?P<name>[a-z][a-z0-9]{1,20}(?:_[a-z0-9]{1,20}|[A-Z][a-z]{1,20}){1,4}) ?[:=] ?\[?(?P<value>-?\d{1,12})\b(?![.\d])")
_NO_ATTRIBUTE = re.compile(r"(?:_id|Id|_code|Code)$")  # they number chips, streams and errors


def _named_values(text: str) -> tuple[tuple[str, Value], ...]:
    """Attributes that the words of a rejected call name, `sparse_mode:3`; `kD=24 vD=48` are sizes of heads."""
    found: dict[str, Value] = {}
    for one in _HEAD_DIM.finditer(text):
        found["size:dv" if one["which"] == "v" else "size:d"] = int(one["size"])
    for one in _NAMED_VALUE.finditer(text):
        if not _NO_ATTRIBUTE.search(one["name"]):
            found.setdefault(one["name"], int(one["value"]))
    return tuple(found.items())[:16]


def _cann(kind: str, lines: Sequence[str], at: int, device: int | None) -> Operator:
    line = lines[at]
    inputs: list[Seen] = []
    if found := _KEY_TYPES.search(line):
        parts = found["pairs"].strip("/").split("/")
        kinds = [(torch_dtype(d), format_number(f)) for d, f in zip(parts[::2], parts[1::2], strict=False)]
        inputs = [Seen("", i, d, None, f) for i, (d, f) in enumerate(kinds[:16]) if d]
    seen = {b["role"]: torch_dtype(b["dtype"]) for b in _BAD_TYPE.finditer(line[:6000])}
    inputs += [Seen(role, None, dtype) for role, dtype in list(seen.items())[:8]]
    error = ""
    if line.find("is unsupported") >= 0:
        error = f"Optype [{kind}]"
    return Operator(
        kind, "cann", "type", tuple(inputs), device=device, error=error or _code(lines, at), line=at + 1, failed=True
    )


def _tbe_type(lines: Sequence[str], at: int) -> tuple[Seen, ...]:
    for line in lines[max(0, at - 4) : at + 2]:
        if (found := _TBE_TYPE.search(line)) and (dtype := torch_dtype(found["dtype"])):
            return (Seen("", 0, dtype),)
    return ()


def _code(lines: Sequence[str], at: int) -> str:
    """The numeric error code nearest to a line: what the error will carry when it happens again."""
    for line in (*lines[at : at + LOOK_AHEAD], *reversed(lines[max(0, at - LOOK_AHEAD) : at])):
        if found := _CODE.search(line):
            return found["code"]
    return ""


def _block(lines: Sequence[str], at: int) -> list[str]:
    """The error and the lines that explain it: up to the next call, the next Python traceback, or thirty lines."""
    block = [lines[at].partition(" failed")[2]]
    for line in lines[at + 1 : at + 1 + LOOK_AHEAD]:
        if "call aclnn" in line or _FRAME.search(line):
            break
        if not _PLOG.match(line):  # lines of other modules that stand between tell of threads and sockets
            block.append(line)
    return block


_FRAME = re.compile(r'\bTraceback \(most|\bFile "')  # of Python, whatever a launcher puts before it
_PLOG = re.compile(r"\[[A-Z]{4,8}\] [A-Z_]{2,20}\(\d")
_GIVEN = re.compile(r"input info is (?P<given>.{1,1000}?)(?: but supported|$)")
_GIVEN_ONE = re.compile(r"(?P<role>[A-Za-z_]\w{0,40})\((?P<dtype>DT_\w{1,20})(?:, ?(?P<format>\w{1,20}))?\)")
_NOT_FOR = re.compile(r"(?P<role>[A-Za-z_][\w ]{0,30}?) not implemented for (?P<dtype>DT_\w{1,20})")
_ACTUAL = re.compile(
    r"(?P<role>[A-Za-z_]\w{0,40})(?:'s)? ?(?:data ?type|dtype)\b.{0,60}?(?:actual is|but (?:is|got|actual is)|current is) ?\[?(?P<dtype>DT_\w{1,20})"
)
_DTYPE = re.compile(r"(?P<role>[A-Za-z_]\w{0,40}) dtype:? ?\[?(?P<dtype>DT_\w{1,20})")
_SIZES = re.compile(r"\[(?P<shape>\d{1,12}(?:, ?\d{1,12}){0,15})\]")
_NO_SHAPE = re.compile(
    r"(?:LINE|PID|FILE|FUNC|THREAD|range|list|dims?|dim num|level|value|times|core)\b[^\[\]]{0,24}$", re.IGNORECASE
)
_WORD = re.compile(r"[A-Za-z_]\w{0,40}")
_FILLER = words(
    "the a an k axis axes of tensor size sizes shape shapes is are be must match should with and but got current actual input "
    "inputs to two different inputted which s for expected same dimension not can t cannot broadcast promote "
    "parameter"
)


def parameters(block: Sequence[str]) -> Iterator[Seen]:
    """Types and sizes that the message of a rejected aclnn call names; a shape without a name comes without one."""
    for line in block:
        text = re.split(r"should be in dtype support list|\[FUNC:|\[THREAD:", line[:3000])[0]
        if found := _GIVEN.search(text):
            for one in _GIVEN_ONE.finditer(found["given"]):
                yield Seen(one["role"], None, torch_dtype(one["dtype"]))
        elif found := _ACTUAL.search(text):
            yield Seen(found["role"], None, torch_dtype(found["dtype"]))
        elif found := _NOT_FOR.search(text):
            role = " ".join(found["role"].split()[-2:])
            if role.split()[-1] != "dtype":
                yield Seen(role if role.split()[-1].isdigit() else role.split()[-1], None, torch_dtype(found["dtype"]))
        else:
            for one in _DTYPE.finditer(text):
                yield Seen(one["role"], None, torch_dtype(one["dtype"]))
        if re.search(r"\b[Ss]hape of out\b|BroadcastShape", text):
            continue
        for sizes in _SIZES.finditer(text):
            before = text[max(0, sizes.start() - 60) : sizes.start()]
            if _NO_SHAPE.search(before):
                continue
            words = [w for w in _WORD.findall(before.rpartition("]")[2]) if w.lower() not in _FILLER]
            yield Seen(words[-1] if words else "", None, None, shape(sizes["shape"]))
