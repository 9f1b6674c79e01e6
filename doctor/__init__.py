"""npu-doctor: the right root cause first.

    from doctor import diagnose
    diagnosis = diagnose("~/ascend/log/plog")        # a path, several, or text
    diagnosis.roots[0].finding.entry.title.en

Loaded on first use: importing this package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from doctor.api import diagnose

__all__ = ["diagnose"]


def __getattr__(name: str) -> Any:
    if name == "diagnose":
        from doctor.api import diagnose

        # importing api has put the module of this name into the package; the function is what people ask for
        globals()[name] = diagnose
        return diagnose
    raise AttributeError(f"module 'doctor' has no attribute {name!r}")
