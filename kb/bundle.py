"""Knowledge in one file that can be passed on: entries with a manifest of their hashes. A file that is not what its manifest says is refused whole."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from kb.build import read_entries
from kb.layers import Layer
from kb.model import Entry
from kb.problems import Problem

FORMAT = 1
MANIFEST = "manifest.json"
MAX_FILES, MAX_TOTAL, MAX_BYTES = 5000, 64_000_000, 4_000_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}\.ya?ml")
_OLDEST = (1980, 1, 1, 0, 0, 0)  # the same files always make the same bundle


class RefusedError(Exception):
    """The file is no bundle, or not the one that was made: nothing of it is taken."""


def pack(folder: Path) -> tuple[bytes, tuple[Entry, ...], tuple[Problem, ...]]:
    """A bundle of a folder's entries; nothing when one of them cannot be read."""
    layer = Layer(str(folder), folder)
    entries, problems = read_entries(layer)
    if problems or not entries:
        return b"", tuple(entries), tuple(problems)
    files = {path.name: path.read_bytes() for path in layer.files("entries")}
    if len(files) != len(entries):
        twice = [path for path in layer.files("entries") if [p.name for p in layer.files("entries")].count(path.name) > 1]
        return b"", tuple(entries), tuple(Problem(str(path), 0, "two files have this name", "a bundle holds files by name: rename one") for path in twice)
    manifest = {"format": FORMAT, "entries": sorted(e.code for e in entries), "files": {name: _hash(data) for name, data in sorted(files.items())}}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in ((MANIFEST, json.dumps(manifest, indent=1).encode()), *sorted(files.items())):
            archive.writestr(zipfile.ZipInfo(name, _OLDEST), data, zipfile.ZIP_DEFLATED)
    return out.getvalue(), tuple(entries), ()


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def unpack(data: bytes) -> dict[str, bytes]:
    """The files of a bundle, each of them as the manifest says, none besides."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            found = _members(archive)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError) as error:
        raise RefusedError(f"it is no bundle of knowledge, or damaged: {error}"[:200]) from error
    files = _promised(found.pop(MANIFEST, None))
    if set(files) != set(found):
        odd = sorted(set(files) ^ set(found))
        raise RefusedError(f"its manifest and its files differ: {', '.join(odd[:4])}")
    for name, promised in files.items():
        if _hash(found[name]) != promised:
            raise RefusedError(f"{name} is not the file that was packed: its hash differs")
    return found


def _members(archive: zipfile.ZipFile) -> dict[str, bytes]:
    infos = archive.infolist()
    if len(infos) > MAX_FILES or sum(info.file_size for info in infos) > MAX_TOTAL:
        raise RefusedError(f"it holds more than {MAX_FILES} files or {MAX_TOTAL} bytes")
    found: dict[str, bytes] = {}
    for info in infos:
        if info.filename in found:
            raise RefusedError(f"{info.filename} stands in it twice")
        if info.filename != MANIFEST and not _NAME.fullmatch(info.filename):
            raise RefusedError(f"{info.filename!r} is no name of a knowledge file")
        with archive.open(info) as member:
            found[info.filename] = member.read(MAX_BYTES + 1)
        if len(found[info.filename]) > MAX_BYTES:
            raise RefusedError(f"{info.filename} is larger than {MAX_BYTES} bytes")
    return found


def _promised(data: bytes | None) -> Mapping[str, str]:
    if data is None:
        raise RefusedError("it has no manifest")
    try:
        manifest = json.loads(data)
        files = manifest["files"]
        known = manifest["format"] == FORMAT and all(isinstance(k, str) and isinstance(v, str) for k, v in files.items())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise RefusedError("its manifest cannot be read") from error
    if not known:
        raise RefusedError("its manifest is of another version")
    return dict(files)


def entries_of(files: Mapping[str, bytes]) -> tuple[Entry, ...]:
    """The entries of a bundle; refused when one of them has a fault."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            Path(folder, name).write_bytes(data)
        entries, problems = read_entries(Layer("bundle", Path(folder)))
        if problems:
            raise RefusedError("\n".join(str(p).replace(f"{folder}{os.sep}", "") for p in problems[:5]))
    return tuple(entries)


def place(folder: Path) -> Path:
    """Where a layer keeps its entries: in `entries/` when it has that folder, else directly."""
    return folder / "entries" if (folder / "entries").is_dir() else folder


def add(files: Mapping[str, bytes], folder: Path) -> None:
    """Puts the files into a layer, all or none."""
    target = place(folder)
    target.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        if (target / name).exists() and (target / name).read_bytes() != data:
            raise RefusedError(f"{target / name} exists and is another file: nothing was added")
    with tempfile.TemporaryDirectory(dir=target, prefix=".adding-") as stage:
        for name, data in files.items():
            Path(stage, name).write_bytes(data)
        for name in files:
            os.replace(Path(stage, name), target / name)
