"""The one file that a node without npu-doctor gets: this program as it runs here, with its knowledge compiled.

`payload` is all that the rest knows of it. The file is a zipapp that unpacks itself beside itself, into the private folder
that it was put in. Compiled packages of this Python are in it for nodes of the same kind; others do without.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import os
import platform
import sys
import zipfile
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from doctor.fleet.standin import FILES
from kb.in_use import cache_folder
from kb.pack import keep_newest, write_atomically

ROOMS = ("doctor", "kb", "parsers")
LEFT_OUT = ("doctor/tui/", "kb/_compiled/", "kb/entries/", "kb/cards/", "kb/demo/", "kb/codes/", "kb/checks/", "kb/repro/")
COMPILED = ("regex", "ahocorasick-rs")  # what makes a scan fast; unpacking is quick enough without its own
PLAIN = ("pyyaml",)
PACK = "kb/_compiled/knowledge.pack"
OUTSIDE = (".pyc", ".pyi", ".md", ".pyx", ".pxd", ".c", ".h")
KEPT = 4  # packed files: two programs, each for machines like this one and for others
_DATE = (2020, 1, 1, 0, 0, 0)  # the same program makes the same bytes

MAIN = '''\
import os, platform, sys, zipfile

def unpacked():
    here = os.path.dirname(os.path.abspath(sys.argv[0]))
    place = os.path.join(here, "npu-doctor")
    zipfile.ZipFile(sys.argv[0]).extractall(place)
    return place

place = unpacked()
sys.path[0] = place
compiled = os.path.join(place, "compiled", platform.machine() + "-" + sys.implementation.cache_tag)
if os.path.isdir(compiled):
    sys.path.insert(1, compiled)
    try:
        import regex, ahocorasick_rs
    except ImportError:  # made for another C library
        sys.path.remove(compiled)
        for name in [n for n in sys.modules if n.startswith(("regex", "_regex", "ahocorasick"))]:
            del sys.modules[name]
sys.path.append(os.path.join(place, "standins"))  # the last: what the node has itself is better
from doctor.__main__ import main
raise SystemExit(main())
'''


@cache
def payload(architecture: str) -> tuple[bytes, str]:
    """The file for nodes of an architecture (as `uname -m` says it), and its SHA-256 in hex. Packed once for all commands, until something in it changes."""
    members = sorted(_members(architecture))
    place = _place(architecture, members)
    data = _kept(place)
    if data is None:
        data = _packed(members)
        if place is not None and write_atomically(place, hashlib.sha256(data).digest() + data):
            keep_newest(place.parent, "program-*", KEPT)
    return data, hashlib.sha256(data).hexdigest()


def _packed(members: Iterable[tuple[str, bytes | Path]]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, content in members:
            data = content.read_bytes() if isinstance(content, Path) else content
            archive.writestr(zipfile.ZipInfo(name, _DATE), data, zipfile.ZIP_DEFLATED, 6)
    return made.getvalue()


def _place(architecture: str, members: Iterable[tuple[str, bytes | Path]]) -> Path | None:
    """Where the packed file is kept: its name tells names, sizes and times of all that is in it."""
    folder = cache_folder()
    told = hashlib.sha256(architecture.encode("utf-8", "surrogateescape"))
    for name, content in members:
        if isinstance(content, Path):
            state = content.stat()
            told.update(f"{name}\0{content}\0{state.st_size}\0{state.st_mtime_ns}\0".encode("utf-8", "surrogateescape"))
        else:
            told.update(f"{name}\0{len(content)}\0".encode() + content)
    return folder / f"program-{told.hexdigest()[:32]}" if folder is not None else None


def _kept(place: Path | None) -> bytes | None:
    """What was packed before: whole, and written by nobody else, for it runs on every node."""
    try:
        if place is None:
            return None
        handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            if os.fstat(handle).st_uid != os.geteuid():
                return None
            digest, data = file.read(hashlib.sha256().digest_size), file.read()
    except OSError:
        return None
    return data if hashlib.sha256(data).digest() == digest else None


def _members(architecture: str) -> Iterator[tuple[str, bytes | Path]]:
    yield "__main__.py", MAIN.encode("ascii")
    yield PACK, _pack()
    for name, text in FILES.items():
        yield f"standins/{name}", text.encode("ascii")
    for package in PLAIN:
        yield from _installed(package, "", only_python=True)
    if architecture == platform.machine():
        folder = f"compiled/{architecture}-{sys.implementation.cache_tag}/"
        for package in COMPILED:
            yield from _installed(package, folder, only_python=False)
    for room in ROOMS:
        yield from _room(room)


def _room(room: str) -> Iterator[tuple[str, Path]]:
    module = sys.modules.get(room) or __import__(room)
    top = Path(str(module.__file__)).parent
    for path in top.rglob("*"):
        name = f"{room}/{path.relative_to(top).as_posix()}"
        if path.is_file() and "__pycache__" not in name and not name.startswith(LEFT_OUT) and path.suffix not in OUTSIDE:
            yield name, path


def _pack() -> bytes:
    """The compiled knowledge that is built in."""
    from kb.knowledge import load

    return load().packs[0].data


def _installed(package: str, folder: str, only_python: bool) -> Iterator[tuple[str, Path]]:
    """The files of an installed package; none when it is not here."""
    try:
        files = importlib.metadata.files(package) or []
    except importlib.metadata.PackageNotFoundError:
        return
    for file in files:
        name = file.as_posix()
        if name.startswith("..") or ".dist-info/" in name or file.suffix in OUTSIDE or (only_python and file.suffix != ".py"):
            continue
        place = Path(str(file.locate()))
        if place.is_file():
            yield folder + name, place
