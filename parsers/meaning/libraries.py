"""To which software a shared library belongs, by how its name begins.

>>> owner("libascend_hal.so"), owner("libplugh.so.1")
('driver', 'unknown')
"""

from __future__ import annotations

_OF = (
    ("libhccl", "CANN"), ("libascendcl", "CANN"), ("libge_", "CANN"), ("libruntime", "CANN"), ("libopapi", "CANN"), ("libtbe", "CANN"), ("libc_sec", "CANN"),
    ("libascend_hal", "driver"), ("libdrv", "driver"), ("libdcmi", "driver"), ("libdevmmap", "driver"), ("libmmpa", "CANN"),
    ("libatb", "ATB"), ("libmki", "ATB"), ("libmindie", "MindIE"), ("libmindspore", "MindSpore"), ("libtorch", "torch"), ("libc10", "torch"),
    ("libcuda", "CUDA"), ("libcudart", "CUDA"), ("libnccl", "CUDA"), ("libcublas", "CUDA"), ("libnvidia", "CUDA"), ("libGL.so", "system"), ("libstdc++", "system"),
    ("libgomp", "system"), ("libnuma", "system"), ("libpython", "python"), ("libjemalloc", "system"),
)  # fmt: skip


def owner(library: str) -> str:
    """The software of a library, as far as its name tells."""
    return next((of for start, of in _OF if library.startswith(start)), "unknown")
