"""Two pieces of software that do not fit: one asks the other for what it does not have.

    ImportError: cannot import name 'AutoModelForVision2Seq' from 'transformers' (/usr/lib/python3/dist-packages/transformers/__init__.py)
    ModuleNotFoundError: No module named 'vllm_ascend.distributed.device_communicators'
    TypeError: LlamaModel.forward() got an unexpected keyword argument 'cache_position'
    AttributeError: module 'torch.library' has no attribute 'infer_schema'
    ImportError: /opt/x/lib_ops.so: undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationESs

Who asks is the package of the frame in which the exception was raised; a library tells it by its own name. Whose the missing
thing is, its module tells, its class, or the line of the source. A library that lacks a symbol of its own project was not built
whole.

>>> from parsers.meaning.said import Said
>>> row = read(Said("No module named 'vllm_ascend.distributed.device_communicators'", "ModuleNotFoundError", "trl"))[0]
>>> row.get("importer"), row.get("imported"), row.get("what"), row.get("between")
('trl', 'vllm_ascend', 'missing-module', 'two-packages')
>>> row = read(Said("/opt/x/lib_ops.so: undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationESs", "ImportError"))[0]
>>> row.get("importer"), row.get("imported"), row.get("what")
('lib_ops.so', 'torch', 'symbol')
>>> row = read(Said("/x/torch_extensions/aio.so: undefined symbol: _ZN18deepspeed_io_handle4openEv", "ImportError", "torch", through=("deepspeed", "torch")))[0]
>>> row.get("imported"), row.get("between")
('deepspeed', 'same-package')
>>> row = read(Said("PlughLossFunction.forward() takes from 5 to 9 positional arguments but 10 were given", "TypeError", "plugh_kernel"))[0]
>>> row.get("imported"), row.get("between")
('plugh_kernel', 'same-package')
"""

from __future__ import annotations

from parsers.lazy import lazy
from parsers.meaning.said import Reading, Said, distribution, reading
from parsers.owners import owner
from parsers.raised import USER, of_one_project

_NAME = lazy(
    r"cannot import name ['\"]?(?P<name>\w{1,120})['\"]?"
    r"(?: from (?P<part>partially initialized module )?['\"](?P<module>[\w.]{1,200})['\"])?"
)
_MODULE = lazy(r"No module named ['\"]?(?P<top>\w{1,80})\.(?P<rest>[\w.]{1,200})['\"]?(?P<shadowed>; '[\w.]{1,120}' is not a package)?")
_ARGUMENT = lazy(
    r"(?P<call>[\w.<>]{1,160})\(\):? (?P<name>got an unexpected keyword argument '\w{1,80}'|got multiple values for (?:keyword )?argument '\w{1,80}'"
    r"|missing \d{1,3} required (?:positional|keyword-only) arguments?: '\w{1,80}'(?:(?:,| and|, and) '\w{1,80}'){0,12}|takes (?:from )?\d[\d to]{0,12} positional arguments? but \d{1,4} (?:was|were) given)"
)
_OF_MODULE = lazy(r"(?:partially initialized )?module '(?P<module>[\w.]{1,200})' has no attribute '(?P<name>\w{1,120})'(?P<circular> \(most likely due to a circular import\))?")
_OF_OBJECT = lazy(r"(?:type object )?'(?P<owner>[\w.]{1,120})'(?: '(?P<space>\w{1,60})')?(?: object)? has no attribute '(?P<name>\w{1,120})'")
_SYMBOL = lazy(r"(?P<by>[^\s:'\"]{1,300}): (?:symbol lookup error: \S{1,300}: )?undefined symbol: (?P<name>\w{1,300})")
_SPACE = lazy(r"_ZN[KVRO]{0,3}(?P<length>\d{1,3})(?P<rest>\w{1,200})")
"""The outermost namespace or class of a symbol of C++."""
_VERSION = lazy(r"(?P<lib>[^\s:'\"]{1,200}): version `(?P<name>[\w.]{1,60})' not found \(required by (?P<by>[^)\s]{1,300})\)")

_OWNERS = (
    ("c10_npu", "torch_npu"), ("at_npu", "torch_npu"), ("torch_npu", "torch_npu"), ("c10", "torch"), ("2at", "torch"),
    ("5torch", "torch"), ("caffe2", "torch"), ("aclnn", "CANN"), ("acl", "CANN"), ("Hccl", "CANN"), ("hccl", "CANN"),
    ("2ge", "CANN"), ("rt", "CANN"), ("3Mki", "ATB"), ("3atb", "ATB"), ("mindspore", "mindspore"), ("Py", "python"),
    ("cxx11", "libstdc++"), ("GLIBC_", "libc"), ("GLIBCXX", "libstdc++"), ("CXXABI", "libstdc++"),
)  # fmt: skip
_NOT_OF_PIP = frozenset(("CANN", "ATB", "libc", "libstdc++", "python", ""))
_EVERYWHERE = frozenset(("__version__", "__file__", "__all__"))
"""What a package has, unless a mere folder of its name stands in its place."""
_BUILT_IN = frozenset(["NoneType", "str", "int", "float", "bool", "list", "dict", "tuple", "set", "function", "method", "bytes", "generator", "module"])
# By its name alone a class is known as somebody's only among those whose frames were passed.
_CLASSES = (
    (lazy(r"(?:Vllm|Parallel|Model|Scheduler|Cache|Compilation|Speculative|KVTransfer|LoRA|Load|Device|Attention)Config$"), "vllm"),
    (lazy(r"(?:NPU|Ascend)[A-Z]"), "vllm_ascend"),
)
_CALLED = lazy(r"(?:return |= ?|await )?(?P<root>[A-Za-z_]\w{0,60})\.(?:[A-Za-z_]\w{0,60}\.){0,6}(?P<name>[A-Za-z_]\w{0,80})\(")
_ALIASES = {"F": "torch", "nn": "torch", "dist": "torch", "np": "numpy"}
_KNOWN = frozenset(("torch", "torch_npu", "transformers", "vllm", "vllm_ascend", "accelerate", "deepspeed", "peft", "trl", "megatron", "mindspeed", "mindspore", "numpy", "triton", "ray", "datasets", "sglang", "diffusers"))
"""Packages that are called by their own name in a source line."""
_PATCHING = frozenset(("vllm_ascend", "vllm_omni", "sglang", "mindspeed", "mindspeed_llm", "mindspeed_mm", "verl", "swift", "lmdeploy"))
"""Packages that replace methods of others on an NPU."""


def read(said: Said) -> tuple[Reading, ...]:
    """Who wants what of whom."""
    text = said.text
    for reader in (_of_module_path, _of_name, _of_symbol, _of_attribute, _of_argument):
        if (row := reader(text, said)) is not None:
            return (row,)
    return ()


def _row(said: Said, importer: str, imported: str, name: str, what: str) -> Reading:
    between = "two-packages" if imported else "one-package"
    if not importer:
        between = "user" if said.user_file else "unknown"
    elif importer == imported:
        between = "same-package"
    return reading(
        "import", importer=importer, imported=imported, name=name, what=what, between=between, caller=said.caller, file=said.user_file,
        importer_pip=_installed_as(importer), imported_pip=_installed_as(imported),
    )  # fmt: skip


def _of_module_path(text: str, said: Said) -> Reading | None:
    if (found := _MODULE.search(text)) is None:
        return None
    what = "shadowed" if found["shadowed"] else "missing-module"
    return _row(said, said.raised_in, found["top"], f"{found['top']}.{found['rest'].rstrip('.')}", what)


def _of_name(text: str, said: Said) -> Reading | None:
    if (found := _NAME.search(text)) is None:
        return None
    module = found["module"] or ""
    what = "circular" if found["part"] else "missing-name"
    return _row(said, said.raised_in, module.partition(".")[0], found["name"], what)


def _of_symbol(text: str, said: Said) -> Reading | None:
    if (found := _VERSION.search(text)) is not None:
        return _row(said, _base(found["by"]), _base(found["lib"]), found["name"], "symbol")
    if (found := _SYMBOL.search(text)) is None:
        return None
    name, library = found["name"], found["by"]
    built_by = _project(name, library, said)
    if built_by:
        return _row(said, built_by, built_by, name, "symbol")
    owner = next((owner for mark, owner in _OWNERS if _told(name, mark)), "")
    return _row(said, _base(library), owner, name, "symbol")


def _project(symbol: str, library: str, said: Said) -> str:
    """The project that a library is of, when the symbol that it lacks is its own: then a part of it was not built."""
    if (first := _SPACE.match(symbol)) is None:
        return ""
    space = first["rest"][: int(first["length"])]
    stem = _base(library).partition(".")[0].removeprefix("lib")
    near = [p for p in said.through if p not in ("torch", "torch_npu", "python")]
    candidates = (owner(library), *reversed(near), stem)
    return next((p for p in candidates if of_one_project(space, p)), "")


def _of_attribute(text: str, said: Said) -> Reading | None:
    if (found := _OF_MODULE.search(text)) is not None:
        what = "circular" if found["circular"] else "shadowed" if found["name"] in _EVERYWHERE else "attribute"
        return _row(said, said.raised_in, found["module"].partition(".")[0], f"{found['module']}.{found['name']}", what)
    if (found := _OF_OBJECT.search(text)) is None or found["owner"] in _BUILT_IN:
        return None
    if found["space"]:  # whose operators another namespace holds, its name does not tell
        name = f"torch.ops.npu.{found['name']}"
        return _row(said, said.raised_in, "torch_npu", name, "attribute") if found["space"] == "npu" else None
    return _row(said, said.raised_in, _whose(found["owner"], found["name"], said), f"{found['owner']}.{found['name']}", "attribute")


def _whose(class_: str, name: str, said: Said) -> str:
    """Whose an object is that lacks an attribute: by its module, by its class, by `self` in the line that asked."""
    top = class_.partition(".")[0]
    if top in _KNOWN:
        return top
    known = next((package for form, package in _CLASSES if form.match(class_) and package in said.through), "")
    if known:
        return known
    if f"self.{name}" not in said.code:
        return ""
    # A method that was reached by `super()` runs on an object of the class below it.
    return said.caller if said.calls.startswith("super(") and said.caller not in ("", USER) else said.raised_in


def _of_argument(text: str, said: Said) -> Reading | None:
    """Of an exception of another kind that quotes it (an answer of a service, an error of a worker), the frames are not those of the call."""
    if (found := _ARGUMENT.search(text)) is None or (found.start() > 0 and said.type and "TypeError" not in said.type):
        return None
    return _row(said, said.raised_in, _callee(found["call"], said), f"{found['call']}() {found['name']}", "argument")


def _callee(call: str, said: Said) -> str:
    """Whose function was called with the wrong arguments: by its class, or by the package named in the source line."""
    class_ = call.partition(".")[0]
    known = next((package for form, package in _CLASSES if form.match(class_) and package in said.through), "")
    if known:
        return known
    if (patch := _replaced_by(call, said)) != "":
        return patch
    if _of_its_own(class_, said.raised_in):
        return said.raised_in
    called = next((m for m in _CALLED.finditer(said.code) if m["name"] == call.rpartition(".")[2]), None)
    if called is None:
        return ""
    root = _ALIASES.get(called["root"], called["root"])
    return root if root in _KNOWN else ""


def _of_its_own(class_: str, package: str) -> bool:
    """Does a class carry the name of the package that calls it, as `PlughKitFunction` of `plugh_kit` does? Then two parts of one project differ."""
    stem = package.partition("_")[0]
    return len(stem) > 4 and stem not in _KNOWN and class_[:1].isupper() and class_.lower().startswith(stem) and not class_[len(stem) : len(stem) + 1].islower()


def _replaced_by(call: str, said: Said) -> str:
    """Whose a method is that an NPU stack put in the place of another package's: a closure named after NPUs, of a package that was passed."""
    outer, closed, name = call.rpartition(".<locals>.")
    if not closed or f"self.{name}(" not in said.code or not any(mark in outer.lower() for mark in ("npu", "ascend")):
        return ""
    return next((p for p in reversed(said.through) if p in _PATCHING and p != said.raised_in), "")


def _installed_as(package: str) -> str:
    """What pip calls it; "" of what pip does not install."""
    return distribution(package) if package and ".so" not in package and package not in _NOT_OF_PIP else ""


def _told(symbol: str, mark: str) -> bool:
    """Is the mark of a library in the symbol? Short ones only at its beginning."""
    return symbol.startswith(mark) if len(mark) <= 4 and not mark[0].isdigit() and mark != "c10" else mark in symbol


def _base(path: str) -> str:
    return path.rpartition("/")[2]
