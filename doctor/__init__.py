"""npu-doctor: the right root cause first.

    from doctor import diagnose
    diagnosis = diagnose("~/ascend/log/plog")        # a path, several, or text
    diagnosis.roots[0].finding.entry.title.en

`brief` tells it in so many tokens, `report` as JSON, `explain` tells what a code means, `env` whether a machine is fit, and
`with watching(): ...` prints the diagnosis when the code in it dies.

Loaded on first use: importing this package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from doctor.api import brief, diagnose, env, explain, report
    from doctor.wrapped import WatchingCallback, watching

__all__ = ["WatchingCallback", "brief", "diagnose", "env", "explain", "report", "watching"]
_WATCHING = ("WatchingCallback", "watching")


def __getattr__(name: str) -> Any:
    if name == "env":  # the room of that name can be called
        return import_module("doctor.env")
    if name in __all__:
        made = getattr(import_module("doctor.wrapped" if name in _WATCHING else "doctor.api"), name)
        # importing a module puts it into the package; where it has the same name, the function is what people ask for
        globals()[name] = made
        return made
    raise AttributeError(f"module 'doctor' has no attribute {name!r}")
