"""One operator with its inputs and outputs written to disk, for a maintainer who has no such device.

On an NPU the ACL dump of the single operator runs around it (torch_npu.npu.init_dump, set_dump, finalize_dump); its
files are converted with msaccucmp of the toolkit. Inputs and outputs are saved by torch too, so that a CPU can check.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable
from typing import Any

from kb.repro._frame import Session, main
from kb.repro._tensors import each, operator, torch

# >>> slots: change these to change what is run
OPERATOR: str = "torch.add"
ARGS: list[Any] = [
    {"tensor": {"dtype": "float32", "shape": [2, 2]}},
    {"tensor": {"dtype": "float32", "shape": [2, 2]}},
]
KWARGS: dict[str, Any] = {}
EXPECT: str = ""
NOTES: list[str] = []
# <<< slots


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", default="", metavar="DIR", help="an existing directory; a new temporary one if left out"
    )


def to_cpu(leaf: Any) -> Any:
    return leaf.detach().cpu() if isinstance(leaf, torch.Tensor) else leaf


def reproduce(session: Session) -> None:
    function = operator(OPERATOR)
    args, kwargs = session.plan(ARGS), {name: session.plan(value) for name, value in KWARGS.items()}
    directory = session.options.out or tempfile.mkdtemp(prefix="op-dump-")
    saved: dict[str, Any] = {"operator": OPERATOR, "device": session.device}

    def plain(place: Callable[[Any], Any]) -> Any:
        positional, named = place((args, kwargs))
        return function(*positional, **named)

    def dumped(place: Callable[[Any], Any]) -> Any:
        positional, named = place((args, kwargs))
        saved["args"], saved["kwargs"] = each((positional, named), to_cpu)
        torch.save(saved, os.path.join(directory, "inputs.pt"))
        if not session.device.startswith("npu"):
            return function(*positional, **named)
        config = os.path.join(directory, "dump.json")
        settings: dict[str, Any] = {"dump_list": [], "dump_path": directory, "dump_mode": "all", "dump_op_switch": "on"}
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"dump": settings}, file)
        torch.npu.init_dump()
        torch.npu.set_dump(config)
        try:
            result = function(*positional, **named)
            session.synchronize()
        finally:
            torch.npu.finalize_dump()
        return result

    expected, actual = session.reference(plain), session.on_device(dumped)
    torch.save({**saved, "result": each(actual, to_cpu)}, os.path.join(directory, "result.pt"))
    session.check(OPERATOR, expected, actual)
    with os.scandir(directory) as entries:
        names = sorted(entry.name for entry in entries)
    print(f"written to {directory}: {', '.join(names)}")


if __name__ == "__main__":
    raise SystemExit(main(reproduce, f"Dump of {OPERATOR}", NOTES, EXPECT, options))
