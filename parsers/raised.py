"""An exception as a row of what can be asked of it: what it is, whose code raised it, whose code called that, and how.

    File "/usr/lib/python3/dist-packages/accelerate/utils/dataclasses.py", line 1015, in __call__
        return module.to_empty(device=torch.cuda.current_device())
    File "/usr/lib/python3/dist-packages/torch/cuda/__init__.py", line 289, in current_device
        _lazy_init()
    AssertionError: Torch not compiled with CUDA enabled

>>> from parsers.traceback import failures
>>> (failure,) = failures(["Traceback (most recent call last):", *(line[4:] for line in __doc__.splitlines()[2:7])])
>>> row = dict(cells(blame(failure, failure.raised), "AssertionError", "Torch not compiled with CUDA enabled"))
>>> row["in"], row["caller"], row["calls"], row["from"]
('torch', 'accelerate', 'torch.cuda.current_device()', 'library')
"""

from __future__ import annotations

import re

from parsers.lazy import lazy
from parsers.named import NamedTuple
from parsers.owners import PYTHON, plain
from parsers.traceback import Failure, Frame, Raised

WORDS = ("type", "in", "through", "caller", "from", "how")
"""What is asked for by its name or several of them."""
PATTERNS = ("message", "file", "function", "code", "last", "calls")
"""What is asked for by a pattern."""

ORIGINS = ("library", "user", "unknown")

PASSING = (
    "/torch/nn/modules/module.py", "/torch/_ops.py", "/torch/utils/_contextlib.py", "/torch/_dynamo/eval_frame.py",
    "/torch/fx/graph_module.py", "/torch/autograd/function.py", "/torch/amp/autocast_mode.py",
)  # fmt: skip
"""Files that only pass a call on: whoever stands above them made it."""
LOOKUPS = frozenset(("__getattribute__", "__getattr__"))
"""Functions by which Python looks an attribute up: whoever stands above them asked for it."""
RELAYS = frozenset(("pydantic", "uvloop", "click", "typer", "starlette", "fastapi"))
"""Packages that call back what called them: where they are not the last, nobody has to look at their release."""
FRAMEWORKS = frozenset(("torch", "torch_npu", "torchaudio", "torchvision", "mindspore", "numpy", "acl"))
"""What programs and libraries are written on: it refuses a call, it does not decide on it."""
COMPILERS = frozenset(("triton", "tilelang", "tvm"))
"""Which speak of the kernel that they were given: whoever launched it stands above them."""
ENGINES = frozenset(("vllm", "vllm_ascend", "vllm_omni", "sglang"))
"""Whose files and names tell which feature of theirs was at work."""
USER = "user"
_LONGEST = 1000
_WAY = 12  # frames, the innermost, that tell of a feature
_CALL = r"(?<![\w.])(?:[A-Za-z_]\w{0,60}\.){0,6}%s\((?:[^()]{0,60}\))?"
_OF_PACKAGE = r"(?<![\w.])%s(?:\.[A-Za-z_]\w{0,60}){1,6}\("


class Blame(NamedTuple):
    """Who has a part in an exception; all empty when no frame was printed."""

    owner: str = ""
    """The package whose code raised; "" is the user's own, or unknown."""
    caller: str = ""
    """The nearest package above it, "user" for a file of the user's; "" when there is none."""
    calls: str = ""
    """With which call it was entered: of whom the caller is known, else the line that raised."""
    through: tuple[str, ...] = ()
    """The packages passed, outermost first, without repeats, the user's own and the standard library."""
    called_at: Frame | None = None
    """Where a caller that is a library called."""
    frame: Frame | None = None
    """Where the owner's code raised."""
    last: Frame | None = None
    """The last frame, whoever it belongs to."""
    own: str = ""
    """The last place in the user's own code, as file:line."""
    spot: Frame | None = None
    """The last place above the frameworks that only refuse: whoever wrote it made the call."""
    launch: Frame | None = None
    """Who launched the kernel of which a compiler speaks."""
    how: str = "raised"
    way: str = ""
    """Files, functions and names of an engine that it passed, innermost first."""

    @property
    def origin(self) -> str:
        """Does it come from a library, from the user's own code, or does nothing tell?"""
        return "library" if self.owner else USER if self.frame is not None else "unknown"


NOBODY = Blame()


def blame(failure: Failure, part: Raised) -> Blame:
    """Who has a part in an exception of a failure."""
    spoken = [f for f in part.frames if f.line]
    if failure.how != "raised" or not spoken:
        return Blame(how=failure.how)
    asked = _asked_for(spoken) if part.type.endswith("AttributeError") else len(spoken)
    owners = [_owner(f) if n < asked else None for n, f in enumerate(spoken)]
    through = tuple(dict.fromkeys(o for f in spoken if (o := f.package) not in ("", PYTHON) and (o not in RELAYS or f is spoken[-1])))
    own = next((f for f, o in zip(reversed(spoken), reversed(owners), strict=True) if o == USER), None)
    at = next((i for i in reversed(range(len(spoken))) if owners[i] is not None), None)
    spot = next((f for f, o in zip(reversed(spoken), reversed(owners), strict=True) if o is not None and o not in FRAMEWORKS and not _starts(f)), None)
    launch = next((f for f, o in zip(reversed(spoken), reversed(owners), strict=True) if o is not None and o not in COMPILERS), None) if spot is not None and spot.package in COMPILERS else None
    if at is None:
        return Blame(through=through, last=spoken[-1], spot=spot, launch=launch)
    who = owners[at] or ""
    above = next((i for i in reversed(range(at)) if owners[i] not in (None, who)), None)
    calls = _opened(spoken[at].code) if above is None else _call(spoken[above].code, spoken[above + 1 : at + 1])
    return Blame(
        "" if who == USER else who, "" if above is None else owners[above] or "", calls, through,
        None if above is None or owners[above] == USER else spoken[above], spoken[at], spoken[-1],
        f"{own.file}:{own.line}" if own is not None else "", spot, launch, way=_way(spoken),
    )  # fmt: skip


def _asked_for(spoken: list[Frame]) -> int:
    """How many frames come before the one that only answers that it has no such attribute: `__getattr__` is not who asked."""
    at = len(spoken)
    while at > 1 and spoken[at - 1].function.rpartition(".")[2] in LOOKUPS:
        at -= 1
    return at


def _way(spoken: list[Frame]) -> str:
    engine = [f for f in spoken if f.package in ENGINES or f.file.startswith("<eval_with_key>")][-_WAY:]  # what was compiled of it keeps the names
    return " ".join(dict.fromkeys(name for f in reversed(engine) for name in _NAMES.findall(f"{_inside(f)} {f.function} {_QUOTED.sub('', f.code)}")))[:_LONGEST]


def cells(who: Blame, type_: str, message: str) -> tuple[tuple[str, str], ...]:
    """The row; without what nothing tells."""
    name = type_.partition("(")[0].rpartition(".")[2]
    told = {
        "type": name, "message": message, "what": f"{name}: {message}" if message else name, "in": who.owner, "caller": who.caller,
        "through": " ".join(who.through), "from": who.origin, "calls": who.calls, "own": who.own, "how": who.how,
    }  # fmt: skip
    if who.frame is not None:
        told |= {"file": _inside(who.frame), "function": who.frame.function, "code": who.frame.code}
        if not message and who.frame.code.startswith("assert "):  # an assertion without words says what it asked for
            told["what"] = f"{name}: {_opened(who.frame.code).rstrip('(,. ')}"
    if who.last is not None:
        told["last"] = who.last.code
    return tuple((cell, value[:_LONGEST]) for cell, value in told.items() if value)


def quoted(who: Blame) -> str:
    """The place that tells why a program stopped, as it was printed: where it raised, or where a library called what refused."""
    frame = who.frame
    if frame is not None and who.called_at is not None and frame.code.startswith(("raise", "assert")):
        frame = who.called_at
    if frame is None:
        return ""
    place = f'  File "{frame.file}", line {frame.line}, in {frame.function}\n'
    return place + (f"    {frame.code}\n" if frame.code else "")


def shown(frame: Frame) -> str:
    """A source line as one looks at it: a call whose arguments stand in further lines ends in dots."""
    return _opened(frame.code)


def place_of(frame: Frame) -> str:
    """The file of a frame with its package, as it is known: `vllm_ascend/worker/runner.py`; of a user's own, as printed."""
    return f"{frame.package}/{_inside(frame)}" if frame.package else frame.file


_QUOTED = lazy(r"'[^']*'?|\"[^\"]*\"?")  # a message speaks of other things as well
_NAMES = lazy(r"[A-Za-z_]\w{2,60}")


def _starts(frame: Frame) -> bool:
    """Is it one of the scripts that an installation makes to start a program?"""
    folder, _, name = frame.file.replace("\\", "/").rpartition("/")
    return folder.endswith("/bin") and "." not in name


def _owner(frame: Frame) -> str | None:
    """Whose frame it is; None: it only passes a call on."""
    package = frame.package
    if package == PYTHON or frame.file.startswith("<") or frame.file.replace("\\", "/").endswith(PASSING):
        return None
    return package or USER


def _inside(frame: Frame) -> str:
    """The file as its package knows it: `worker/runner.py`."""
    path = frame.file.replace("\\", "/")
    _, found, rest = path.rpartition(f"/{frame.package}/") if frame.package else ("", "", "")
    return rest if found else path


def _call(code: str, entered: list[Frame]) -> str:
    """The call in a source line by which the next frame was entered; if that has another name, one of its package; else the line."""
    names = [n for f in entered if (n := f.function.rpartition(".")[2]).isidentifier() and n != "__call__"]
    for name in names:
        if (found := re.search(_CALL % re.escape(name), code)) is not None:
            return found[0] if found[0].endswith(")") else f"{found[0]}...)"
    of_package = re.search(_OF_PACKAGE % re.escape(entered[0].package), code) if entered[0].package else None
    return f"{of_package[0]}...)" if of_package is not None else _opened(code)


_OPENED = lazy(r"(?:[^=()]{1,200}=\s*)?(?:(?:return|yield|await|with|if|assert|for \w+ in)\s+)*(?P<called>[A-Za-z_][\w.]{0,200})\($")


def _opened(code: str) -> str:
    """A line that ends where the arguments of a call begin, as that call: `model, tokens = load(` is `load(...)`."""
    found = _OPENED.match(code)
    return f"{found['called']}(...)" if found is not None else code


def of_one_project(name: str, *others: str) -> bool:
    """Is a name made of one of the others: `deepspeed_io_handle_t` of `deepspeed`?"""
    return any(len(plain(o)) > 3 and plain(name).startswith(plain(o)) for o in others)
