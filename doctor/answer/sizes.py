"""The memory limit of a container that killed a process: as people write it, and the next one to try.

The kernel tells it in kB, Kubernetes as `400Gi`, Compose as `120g`. Twice as much is tried: an
example of a size would be less than many have already.
"""

from __future__ import annotations

from collections.abc import Mapping

from parsers.lazy import lazy

_TOLD = lazy(r"(?i)(\d{1,15})\s?([kmgt]?)(?:i?b?)$")
_GIB: Mapping[str, float] = {"": 2.0**-30, "k": 2.0**-20, "m": 2.0**-10, "g": 1.0, "t": 1024.0}
_SOURCES = ("limit_kb", "compose_limit", "memory_limit")  # what the kernel killed by comes first
_UNLIMITED = 2.0**20  # GiB: the kernel prints a number beyond all memory where there is no limit


def derived(known: Mapping[str, str]) -> dict[str, str]:
    """`{limit_is}`, and `{limit_more}` (of Kubernetes: `{limit_gi}`) of the limit that is told; nothing where none is."""
    limit = next((size for name in _SOURCES if (size := gib(known.get(name, ""))) is not None and size < _UNLIMITED), None)
    if limit is None or limit < 1:
        return {}
    told = {"limit_is": f"{limit:.0f} GiB" if limit >= 10 or limit == int(limit) else f"{limit:.1f} GiB"}
    return {**told, "limit_more": f"{2 * limit:.0f}g", "limit_gi": f"{2 * limit:.0f}Gi"}


def gib(text: str) -> float | None:
    """
    >>> gib("419430400kB"), gib("400Gi"), gib("120g"), gib("many")
    (400.0, 400.0, 120.0, None)
    """
    found = _TOLD.match(text)
    return None if found is None else int(found[1]) * _GIB[found[2].lower()]
