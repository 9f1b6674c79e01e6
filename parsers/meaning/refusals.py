"""An operator that refuses its input: of which parameter, what was given, what it takes.

    Tensor scale not implemented for DT_FLOAT16, should be in dtype support list [DT_UINT64, DT_BFLOAT16, DT_FLOAT].
    biasOptional's dtype should be [DT_FLOAT], actual is [DT_BFLOAT16].
    The self tensor cannot be larger than 8 dimensions.
    RuntimeError: expected scalar type Half but found Float
    RuntimeError: "addmm_impl_cpu_" not implemented for 'Half'
    TypeError: For 'MatMul', the type of 'x' must be one of {Tensor[Float16], Tensor[Float32]}, but got Tensor[Int32].

The list of what is taken may stand in the next lines. `cast` is a type that is in it: never the one that was refused.

>>> from parsers.meaning.said import Said
>>> lines = ("Tensor scale not implemented for DT_FLOAT16,", "should be in dtype support list", "[DT_UINT64, DT_BFLOAT16, DT_FLOAT].")
>>> row = read(Said("AclNN_Parameter_Error(EZ1001):", following=lines))[0]
>>> row.get("parameter"), row.get("property"), row.get("given"), row.get("allowed"), row.get("cast")
('scale', 'dtype', 'float16', 'uint64, bfloat16, float32', 'bfloat16')
>>> row = read(Said("Tensor self not implemented for DT_INT32, should be in dtype support list []."))[0]
>>> row.get("parameter"), row.get("given"), row.get("choice")
('self', 'int32', 'none')
>>> row = read(Said("data type DT_BFLOAT16 of input [x] is not supported. All supported data type and format of tensor input0.x is: Data Type: {DT_FLOAT16,DT_FLOAT}Format:{NCHW}."))[0]
>>> row.get("parameter"), row.get("given"), row.get("cast")
('x', 'bfloat16', 'float16')
>>> read(Said("The last dim of x2 should not be larger than 65535, but it is 65536."))[0].get("allowed")
'not larger than 65535'
>>> row = read(Said("call aclnnInplaceCopy failed, detail: The self tensor cannot be larger than 8 dimensions."))[0]
>>> row.get("operator"), row.get("parameter"), row.get("property"), row.get("allowed")
('aclnnInplaceCopy', 'self', 'dims', '8 dimensions at most')
>>> read(Said("call aclnnPlugh failed, detail: Input tensor's shape[[2,8]] should be same with output's shape[[1,8]]."))[0].get("given")
'[2,8]'
>>> read(Said("The size of batch dims of x and weight should be equal, but x shape [2,16,512] weight shape [819,512]."))
()
"""

from __future__ import annotations

from parsers.lazy import lazy
from parsers.meaning.demands import VERB, demand
from parsers.meaning.said import Reading, Said, reading

_OPERATOR = lazy(
    r"(?P<a>aclnn[A-Z]\w{1,80}?)(?:GetWorkspaceSize)?\b|[Oo]p ?[Tt]ype ?[\[:=] ?(?P<b>[A-Z]\w{1,80})|op(?:Name| name)? ?\[(?P<c>\w{1,120})"
    r"|For (?:primitive)?\[?'?(?P<d>[A-Z]\w{1,60})'?\]?,|(?:^|: )(?P<e>_?npu_\w{1,80}):|'aten::(?P<f>[\w.]{1,80})'|of (?P<g>tbe\.\w[\w.]{1,60}) is"
)
_LIST = r"[\[{(](?P<allowed>[^\]})]{0,400})[\]})]"
_GRAPH = lazy(
    r"data type (?P<given>DT_\w{1,30}) of input \[(?P<parameter>\w{1,60})\] is not supported\. All supported data type and format of tensor \S{1,80} is: Data Type: ?"
    + _LIST
)
_LISTED = lazy(
    r"(?:[Tt]ensor |[Pp]arameter |[Ii]nput )?(?P<parameter>\w{1,60}) not implemented for (?P<given>(?:DT_)?\w{1,30}), ?should be in dtype support list " + _LIST
)
_OF_LIBRARY = lazy(r"\btype \[(\w{1,80})\] in op information kernel")
_KERNEL = lazy(r"\"(?P<operator>[\w:]{1,100})\" not implemented for '(?P<given>\w{1,30})'")
_SCALAR = lazy(r"[Ee]xpected (?:tensor for argument .{1,60} to have )?scalar type(?:s)? (?P<allowed>\w{1,30}(?:, \w{1,30}){0,6})(?:;)? but (?:found|got) (?P<given>\w{1,30})")
_SAME = lazy(r"(?P<parameter>\w{1,40} and \w{1,40}) (?:must|should) have the same dtype(?:, but got (?P<given>[\w.]{1,30} and [\w.]{1,30}))?")
_OF = lazy(r"(?P<given>b?float\d{1,2}|u?int\d{1,2}|DT_\w{1,20}) of (?P<operator>[\w.]{1,80}) is (?:not supported|unsupported)")
_LIMIT_OF_DIMS = lazy(
    r"(?:[Tt]he )?(?:dims? of )?(?P<parameter>[A-Za-z_]\w{0,40})(?: tensor)?(?:'s)? (?:dims? |shape |dimensions? )?(?:cannot|can not|can't|must not|should not) (?:be (?:larger|greater|more) than|exceed) "
    r"(?P<most>\d{1,3})(?:[ -]?(?:dims?|dimensions?|D)\b)"
)
_TORCH_SHAPE = lazy(
    r"mat1 and mat2 shapes cannot be multiplied \((?P<a>\d{1,12}x\d{1,12} and \d{1,12}x\d{1,12})\)"
    r"|[Tt]he size of tensor a \((?P<b>\d{1,12})\) must match the size of tensor b \((?P<c>\d{1,12})\)(?P<where> at non-singleton dimension \d{1,3})?"
    r"|shape '(?P<d>\[[^\]]{1,80}\])' is invalid for input of size (?P<e>\d{1,15})"
)
_ONLY = lazy(r"(?:^|[ :;,])only supports? (?P<allowed>[^\n]{1,160}?),? (?:but|and) (?:got|is|now is|found|given|actual is) (?P<given>[^\n]{1,120}?)(?=\.?$|\. |\.?\[)")
_EQUAL = lazy(r"[Ee]xpected (?P<parameter>\w{1,60}) (?P<property>dtype|format|shape) \[?(?P<given>[\w, ]{1,80}?)\]? to be (?:equal to|the same as) (?P<other>\w{1,60}) (?:dtype|format|shape) \[?(?P<allowed>[\w, ]{1,80})\]?")
_ILLEGAL = lazy(r"(?:[Ii]llegal|[Ii]nvalid|[Uu]nsupported|not support(?:ed)?) (?P<property>format|dtype|data type|shape|dim(?:ension)?)s? (?:of|for) (?:the )?\W?(?P<parameter>\w{1,60})(?:\W{1,3}(?P<given>[A-Z]\w{1,30}))?(?:,? (?:it |which )?(?:only supports?|should be|must be) \[?(?P<allowed>[\w, /]{1,120}))?")
_REFUSED = lazy(r"(?P<property>dtype|data type|format|shape)s?:? ?\W?(?P<given>(?:DT_)?[A-Za-z]\w{1,30})\W? (?:is|are) (?:not support(?:ed)?|unsupported|illegal|invalid)(?: (?:for|by|in|on) (?P<operator>[\w.]{1,60}))?")
_OWN_SHAPE = lazy(r"\b[Ss]hape ?\[?(\[[\d, -]{1,80}\])\]?$")  # a subject that tells what it has
_PREFIX = lazy(r"^.{0,400}(?:[EW][0-9A-Z]\d{4}\)?: ?(?:\[PID: ?\d{1,12}\] ?)?(?:\d{4}-\d\d-\d\d-[\d:.]{8,16} )?|detail: ?|[Rr]eason: ?|Error: )")
_OF_NPU = lazy(r"aclnn|npu_|\b[EW][0-9A-Z]\d{4}\b|\b1610\d\d\b|For (?:primitive)?\[?'?[A-Z]|tbe|DT_[A-Z]|NPU|OpName|[Oo]p ?[Tt]ype|CANN")

_NUMBER = lazy(r"\d|\b(?:zero|one|two|three|four|five|six|seven|eight)\b|\b[a-z]+-?dimensional\b")

_TYPES = {
    "half": "float16", "float": "float32", "double": "float64", "long": "int64", "int": "int32", "short": "int16", "char": "int8",
    "byte": "uint8", "bf16": "bfloat16", "fp16": "float16", "fp32": "float32", "complexfloat": "complex64",
}  # fmt: skip
_NEAREST = {
    "float16": ("bfloat16", "float32"), "bfloat16": ("float16", "float32"), "float32": ("float16", "bfloat16"), "float64": ("float32", "float16"),
    "int64": ("int32", "float32"), "int32": ("int64", "float32"), "int16": ("int32", "float32"), "uint8": ("int8", "int32"), "bool": ("uint8", "int8", "int32"),
    "int8": ("int32", "float16"), "uint16": ("int32", "int64"), "uint32": ("int64", "int32"), "uint64": ("int64", "int32"),
    "complex128": ("complex64",), "complex32": ("complex64",),
}  # fmt: skip


def read(said: Said) -> tuple[Reading, ...]:
    """What was refused, first of all what a list of the allowed stands with."""
    text = said.whole
    for form in (_graph, _listed, _dims, _kernel, _same, _shape, _illegal, _should, _only):
        row = form(text, said)
        if row is not None:
            return (row,)
    return ()


def _row(said: Said, text: str, operator: str, parameter: str, kind: str, given: str, allowed: str, listed: bool = False) -> Reading:
    operator = operator or _operator(text)
    if kind == "dtype":
        given, allowed = dtypes(given), "" if allowed.startswith("not ") else dtypes(allowed)
    nearest = cast(given, allowed) if kind == "dtype" else ""
    return reading(
        "refusal", operator=operator, parameter=parameter, property=kind, given=given, allowed=allowed,
        cast=nearest, choice="known" if nearest else "none" if not allowed and listed else "unknown",
        side="npu" if _OF_NPU.search(text) or "npu" in said.raised_in + said.code else "host", file=said.user_file,
    )  # fmt: skip


def _operator(text: str) -> str:
    found = _OPERATOR.search(text)
    return next((value for value in found.groups() if value), "") if found else ""


def _listed(text: str, said: Said) -> Reading | None:
    found = _LISTED.search(text)
    if found is None or not said.reaches(found.start()):
        return None
    return _row(said, text, "", found["parameter"], "dtype", found["given"], found["allowed"], listed=True)


def _graph(text: str, said: Said) -> Reading | None:
    """What an operator library of the graph engine says of one input."""
    found = _GRAPH.search(text)
    if found is None or not said.reaches(found.start()):
        return None
    return _row(said, text, _of_library(text), found["parameter"], "dtype", found["given"], found["allowed"], listed=True)


def _of_library(text: str) -> str:
    found = _OF_LIBRARY.search(text)
    return found[1] if found else ""


def _dims(text: str, said: Said) -> Reading | None:
    found = _LIMIT_OF_DIMS.search(text)
    if found is None or not said.reaches(found.start()):
        return None
    return _row(said, text, "", found["parameter"], "dims", "", f"{found['most']} dimensions at most")


def _kernel(text: str, said: Said) -> Reading | None:
    if (found := _KERNEL.search(text)) is not None and said.reaches(found.start()):
        return _row(said, text, found["operator"], "", "dtype", found["given"], "")
    if (found := _OF.search(text)) is not None and said.reaches(found.start()):
        return _row(said, text, found["operator"], "", "dtype", found["given"], "")
    return None


def _same(text: str, said: Said) -> Reading | None:
    if (found := _SCALAR.search(text)) is not None and said.reaches(found.start()):
        return _row(said, text, "", "", "dtype", found["given"], found["allowed"])
    if (found := _EQUAL.search(text)) is not None and said.reaches(found.start()):
        allowed = f"{found['allowed']}" if found["property"] == "dtype" else f"{found['allowed']} as {found['other']}"
        return _row(said, text, "", found["parameter"], found["property"], found["given"], allowed)
    if (found := _SAME.search(text)) is not None and said.reaches(found.start()):
        return _row(said, text, "", found["parameter"], "dtype", found["given"] or "", "")
    return None


def _shape(text: str, said: Said) -> Reading | None:
    found = _TORCH_SHAPE.search(text)
    if found is None or not said.reaches(found.start()):
        return None
    if found["a"]:
        return _row(said, text, "matmul", "mat1 and mat2", "shape", found["a"].replace("x", " x "), "")
    if found["b"]:
        return _row(said, text, "", "", "shape", f"{found['b']} and {found['c']}{found['where'] or ''}", "")
    return _row(said, text, "", "", "shape", f"{found['e']} elements", found["d"])


def _should(text: str, said: Said) -> Reading | None:
    """Sentences: what, what it should be, what it is."""
    for sentence in text.split(". ")[:8]:
        at = text.find(sentence)
        if not said.reaches(at):
            return None
        asked = demand(_PREFIX.sub("", sentence[:800]), VERB)
        if asked is None:
            continue
        kind = property_of(asked.subject) or property_of(asked.allowed, exact=True)
        if kind == "dims" and not _NUMBER.search(asked.allowed.partition(", but ")[0]):
            continue  # a rank compared with another argument's: of two shapes, not of how many dimensions an operator takes
        if kind:
            own = _OWN_SHAPE.search(asked.subject)
            given = _bare(asked.given) or (own[1] if own else "")
            return _row(said, text, "", _parameter(asked.subject), kind, given, _bare(asked.allowed))
    return None


def _only(text: str, said: Said) -> Reading | None:
    """An operator that tells what it takes, without a word on what of."""
    found = _ONLY.search(text)
    if found is None or not said.reaches(found.start()) or not (operator := _operator(text)):
        return None
    kind = property_of(found["allowed"], exact=True) or "value"
    return _row(said, text, operator, "", kind, found["given"], found["allowed"])


def _illegal(text: str, said: Said) -> Reading | None:
    for form in (_ILLEGAL, _REFUSED):
        if (found := form.search(text)) is not None and said.reaches(found.start()):
            told = found.groupdict()
            kind = property_of(found["property"])
            return _row(said, text, told.get("operator") or "", told.get("parameter") or "", kind, found["given"] or "", told.get("allowed") or "")
    return None


def property_of(subject: str, exact: bool = False) -> str:
    """Of which property words speak: dtype | format | shape | dims, "" of none.

    >>> property_of("the data type of x"), property_of("hidden size"), property_of("bias dims"), property_of("the value of k")
    ('dtype', '', 'dims', '')
    """
    words = f"{subject.lower()} "
    if "dtype" in words or "data type" in words or "scalar type" in words or " dt_" in f" {words}".replace("[", " ") or (not exact and ("type of" in words or "input type" in words)):
        return "dtype"
    for kind, signs in (("format", ("format ", "format'")), ("dims", ("dim", " rank", "2d", "3d", "4d")), ("shape", ("shape",))):
        if any(sign in words for sign in signs) and not (exact and kind == "shape"):
            return kind
    return ""


def _parameter(subject: str) -> str:
    """The parameter that a subject names."""
    words = [w.strip("'\"[](),.:`") for w in subject.split()]
    words = [w.removesuffix("'s") for w in words]
    plain = [w for w in words if w and w.lower() not in _FILLING and "[" not in w]
    return plain[-1] if plain and len(plain[-1]) < 60 else ""

_FILLING = frozenset(
    ["the", "a", "an", "of", "for", "is", "in", "to", "input", "output", "tensor", "tensors", "parameter", "dtype", "data", "type", "types", "format", "shape", "dim", "dims", "dimension", "dimensions", "scalar", "expected", "expect", "check", "that", "value", "argument", "must", "should", "number", "first", "second", "third", "last", "and", "or", "all", "current", "each", "num", "size", "rank", "check", "failed", "but", "be"]
)


def _bare(value: str) -> str:
    value = value.strip(" .,;'\"`")
    return value[1:-1] if value[:1] + value[-1:] in ("[]", "{}") and value.count(value[0]) == 1 else value

_APART = str.maketrans("[]{}(),;", " " * 8)


def dtypes(text: str) -> str:
    """Names of types as torch writes them, joined by commas.

    >>> dtypes("DT_FLOAT16,DT_FLOAT, Tensor[Int32],"), dtypes("Half")
    ('float16, float32, int32', 'float16')
    """
    names = []
    for word in text.replace("Tensor", " ").translate(_APART).split()[:40]:
        name = word.strip(".'\"`").removeprefix("torch.").removeprefix("DT_").lower()
        names.append(_TYPES.get(name, name) if name not in ("or", "and", "one", "of") else "")
    return ", ".join(n for n in names if n)


def cast(given: str, allowed: str) -> str:
    """The type nearest to the given one among those allowed, "" when none is known.

    >>> cast("float16", "uint64, bfloat16, float32"), cast("int64", "float16"), cast("float16", "float16")
    ('bfloat16', '', '')
    >>> cast("uint64", "float32, int32, int64, uint8")
    'int64'
    """
    takes = allowed.split(", ")
    return next((name for name in _NEAREST.get(given, ()) if name in takes and name != given), "")
