"""An accelerator's memory ran out, and the allocator tells who holds it: this process, its cache, or somebody else.

    NPU out of memory. Tried to allocate 2.00 GiB (NPU 3; 60.96 GiB total capacity; 20.00 GiB already allocated;
        20.00 GiB current active; 1.50 GiB free; 21.00 GiB reserved in total by PyTorch)
    NPU out of memory. Tried to allocate 256.00 MiB. NPU 0 has a total capacity of 60.96 GiB of which 90.50 MiB is free.
        Of the allocated memory 57.10 GiB is allocated by PyTorch, and 1.20 GiB is reserved by PyTorch but unallocated.

>>> from parsers.meaning.said import Said
>>> row = read(Said(" ".join(__doc__.splitlines()[2:4])))[0]
>>> [row.get(name) for name in ("device", "needs", "has", "outside", "outside_percent", "allocated_percent", "cached_percent")]
['3', '2.00 GiB', '1.50 GiB', '38.46 GiB', '63', '32', '1']
"""

from __future__ import annotations

import re

from parsers.lazy import lazy
from parsers.meaning.said import Reading, Said, reading
from parsers.named import NamedTuple

LITERAL = "ried to allocate"
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
_SIZE = r"([\d.]{1,12}) ?([KMGT]?)(?:i?B|bytes)"
_TRIED = lazy(rf"{LITERAL} {_SIZE}")
_DEVICE = lazy(r"\b(?:NPU|GPU|npu:|device) ?(\d{1,5})\b")
_CAPACITY = lazy(rf"{_SIZE} total capacity|total capacity of {_SIZE}")
_ALLOCATED = lazy(rf"{_SIZE} already allocated|{_SIZE} is allocated by PyTorch")
_FREE = lazy(rf"{_SIZE} (?:is )?free")
_RESERVED = lazy(rf"{_SIZE} reserved in total by PyTorch")
_CACHED = lazy(rf"{_SIZE} is reserved by PyTorch but unallocated|{_SIZE} cached\)")  # the second: PyTorch before 1.5


class Figures(NamedTuple):
    """What such a message tells, in bytes; 0 for what it does not tell, and None for what is in the allocator of this process."""

    tried: int
    capacity: int
    allocated: int
    free: int
    reserved: int | None

    @property
    def outside(self) -> int:
        """Of the device, and neither free nor in this process's allocator: other processes, HCCL, the runtime."""
        return max(0, self.capacity - self.free - self.reserved) if self.capacity and self.reserved is not None else 0


def figures(text: str) -> Figures | None:
    """The figures of a message; None where nothing of the kind is told."""
    tried = _TRIED.search(text)
    if tried is None:
        return None
    allocated, cached, reserved = _bytes(_ALLOCATED.search(text)), _CACHED.search(text), _RESERVED.search(text)
    held = allocated + _bytes(cached) if cached is not None else _bytes(reserved) if reserved is not None else None
    return Figures(_bytes(tried), _bytes(_CAPACITY.search(text)), allocated, _bytes(_FREE.search(text)), held)


def read(said: Said) -> tuple[Reading, ...]:
    """Who holds how much, also in parts of a hundred of the card."""
    text = said.whole
    told = figures(text)
    if told is None or not told.capacity:
        return ()
    device = _DEVICE.search(text)
    reserved = told.reserved or 0
    cached = max(0, reserved - told.allocated)
    parts = {"allocated": told.allocated, "reserved": reserved, "outside": told.outside, "cached": cached, "needs": told.tried, "has": told.free}
    shares = {f"{name}_percent": str(100 * size // told.capacity) for name, size in parts.items()}
    sizes = {name: _size(size) for name, size in parts.items()}
    if told.reserved is None:  # who holds the rest is not told
        sizes["outside"] = ""
    fits = "yes" if cached >= told.tried else "no"
    return (
        reading("memory", kind="memory", resource="memory", device=device[1] if device else "", capacity=_size(told.capacity), cache_fits=fits, **sizes, **shares),
    )


def _bytes(found: re.Match[str] | None) -> int:
    told = next((pair for pair in zip(found.groups()[::2], found.groups()[1::2], strict=True) if pair[0]), None) if found is not None else None
    try:
        return int(float(told[0]) * (1 << _UNITS[told[1]])) if told is not None else 0
    except ValueError:
        return 0


def _size(size: int) -> str:
    """As PyTorch writes sizes."""
    if not size:
        return "0 bytes"
    unit, power = ("GiB", 30) if size >= 1 << 30 else ("MiB", 20) if size >= 1 << 20 else ("KiB", 10)
    return f"{size / (1 << power):.2f} {unit}"
