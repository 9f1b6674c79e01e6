"""One file for one machine and every Python: a small starter, and one solid archive of everything.

What the versions of a library for four Pythons have in common is stored once, because the archive is one stream. Left out is what is never
imported: types for editors, scripts, the second backend of zstandard, the AVX2 twins of rapidfuzz (used by no more than a search), the C
twin of PyYAML's reader (used when somebody's own knowledge is compiled), symbols for debuggers.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from release import elf, wheels

MAX_BYTES = 12_000_000
_NEVER = (".pyi", ".pyx", ".pxd", ".c", ".h", ".hpp", "py.typed", "/RECORD", "/WHEEL", "/entry_points.txt", "/direct_url.json", "/top_level.txt")
_UNUSED = ("zstandard/_cffi", "_avx2", "yaml/_yaml", "sboms/")


def build(own: Path, by_python: dict[str, list[Path]], architecture: str, version: str, epoch: int) -> bytes:
    """The bytes of the file; the same for the same wheels."""
    payload: dict[str, bytes] = {}
    for path in [own, *sorted({p for found in by_python.values() for p in found if wheels.read(p).pure}, key=lambda p: p.name)]:
        payload.update({f"any/{name}": data for name, data in _wanted(path, architecture)})
    for python, found in by_python.items():
        tag = f"cp{python.replace('.', '')}"
        for path in found:
            if not wheels.read(path).pure:
                payload.update({f"{tag}/{name}": data for name, data in _wanted(path, architecture)})
    _share(payload, by_python)
    packed = lzma.compress(_tar(payload, epoch), preset=9)
    files = {
        f"cp{python.replace('.', '')}": sum(name.startswith(("any/", f"cp{python.replace('.', '')}/")) for name in payload) for python in by_python
    }
    about = {"version": version, "architecture": architecture, "digest": hashlib.sha256(packed).hexdigest(), "files": files}
    here = Path(__file__).parent / "start"
    parts = {path.name: path.read_bytes() for path in sorted(here.glob("*.py"))}
    return b"#!/usr/bin/env python3\n" + _zip({**parts, "about.json": json.dumps(about, sort_keys=True).encode(), "payload.tar.xz": packed}, epoch)


def _wanted(path: Path, architecture: str) -> Iterable[tuple[str, bytes]]:
    for name, data in wheels.members(path):
        if name.endswith(_NEVER) or any(part in name for part in _UNUSED):
            continue
        machine = elf.machine(data)
        if machine not in (None, architecture):
            raise SystemExit(f"{path.name}: {name} is for {machine}, not for {architecture}")
        yield name, elf.needed(data)


def _share(payload: dict[str, bytes], by_python: dict[str, list[Path]]) -> None:
    """Python files that are the same in the wheels of all Pythons are there once."""
    tags = [f"cp{python.replace('.', '')}" for python in by_python]
    for name in [n.partition("/")[2] for n in payload if n.startswith(f"{tags[0]}/")]:
        found = {payload.get(f"{tag}/{name}") for tag in tags}
        if len(found) == 1 and None not in found:
            payload[f"any/{name}"] = payload[f"{tags[0]}/{name}"]
            for tag in tags:
                del payload[f"{tag}/{name}"]


def _tar(files: dict[str, bytes], epoch: int) -> bytes:
    """Files of the same name of several Pythons stand side by side."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(files, key=lambda name: (not name.startswith("any/"), _stem(name), name)):
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.mode = len(files[name]), epoch, 0o644
            tar.addfile(info, io.BytesIO(files[name]))
    return out.getvalue()


def _stem(name: str) -> str:
    return name.partition("/")[2].partition(".cpython-")[0]


def _zip(files: dict[str, bytes], epoch: int) -> bytes:
    import time

    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, time.gmtime(max(epoch, 315532800))[:6])
            info.external_attr = 0o644 << 16
            archive.writestr(info, data, zipfile.ZIP_STORED if name.endswith(".xz") else zipfile.ZIP_DEFLATED)
    return out.getvalue()
