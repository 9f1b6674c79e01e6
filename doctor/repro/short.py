"""A script as a person would write it for an issue: imports, tensors, the call, and the CPU beside the NPU.

    torch.manual_seed(0)
    x0 = torch.randint(0, 10, (10, 20), dtype=torch.int64)

    def call(device):
        return torch.max(x0.to(device), dim=1)

Long scripts with options and verdicts are built by `build` from the templates; this writes nothing that a case does not need.
The values are the same ones, and went through the same gate.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from doctor.base.notation import clean
from doctor.repro.build import template
from doctor.repro.call import Request, Script
from doctor.repro.short_bodies import BODIES, REFUSED, Slots
from doctor.repro.validate import IncompleteError, SlotError, slot
from doctor.version import __version__

NPU_WORDS = re.compile(r"^\d+$|aclnn|acl[A-Z]|Optype|NPU|npu|HCCL|\bE[A-Z]?\d{4,5}\b|error code")
"""In an error that only a device prints."""


def script(request: Request) -> Script:
    """The short script of a request; SlotError when a value may not stand in one, or when the log tells too little."""
    one = template(request.template)
    given = {**request.slots, **({"EXPECT": request.expect} if request.expect else {})}
    if unknown := set(given) - set(one.slot_names):
        raise SlotError(f"template {one.name} has no slot {', '.join(sorted(unknown))}")
    slots = {**_defaults(request.template), **{name: slot(name, value) for name, value in given.items()}}
    if slots.get("INCOMPLETE"):
        raise IncompleteError(slots["INCOMPLETE"])
    slots["TOLD"] = frozenset(given)
    body = BODIES[one.name](slots)
    if (expect := " ".join(str(slots.get("EXPECT", "")).split())) and REFUSED in body and not NPU_WORDS.search(expect):
        same = [f"    if {expect!r} in ' '.join(str(error).split()):", '        sys.exit(f"the error of the log, on the CPU: the call is wrong on every device: {error}")']
        body[body.index(REFUSED) : body.index(REFUSED)] = same
    text = "\n".join([*_head(request, slots), *body]) + "\n"
    ast.parse(text)
    return Script(text, f"repro_{one.name}.py", request.guessed)


def _defaults(name: str) -> dict[str, Any]:
    """What a template's slots hold where the log says nothing."""
    return {node.target.id: ast.literal_eval(node.value) for node in template(name).slots if isinstance(node.target, ast.Name) and node.value is not None}


def _head(request: Request, slots: Slots) -> list[str]:
    """What it is, where it came from, what is guessed, and how to run it."""
    zh = request.lang == "zh"
    notes = [note.pick(request.lang) for note in request.notes]
    notes += [("猜测：" if zh else "guessed: ") + note.pick(request.lang) for note in request.guessed]
    if slots.get("EXPECT"):
        notes.append(("日志中的报错：" if zh else "the error in the log: ") + str(slots["EXPECT"]))
    run = "运行：python3 本文件 [npu:0|cpu]" if zh else "Run: python3 THIS_FILE [npu:0|cpu]"
    made = f"由 npu-doctor {__version__} 生成。{run}" if zh else f"Written by npu-doctor {__version__}. {run}"
    lines = (" ".join(clean(line).split()) for line in (made, *notes))
    return [f"# {line}"[:200].encode("utf-8", "replace").decode() for line in lines]
