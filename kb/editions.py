"""Editions of the built-in knowledge: one file each, added to an installation and taken back without touching the program.

The file that is passed on is a line of JSON (version, format, size, SHA-256) and the deflated pack. What is kept is the pack itself.
"""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path

from kb.pack import FORMAT, HEADER_LIMIT, BrokenPackError, Pack, write_atomically
from parsers.lazy import lazy

MAGIC = b'{"npu-doctor":"knowledge",'
MAX_SIZE = 128_000_000
_VERSION = lazy(r"\d{4}\.\d{1,2}(\.\d{1,4})?")
_NAME = lazy(rf"knowledge-(?P<version>{_VERSION.pattern})\.pack")


class RefusedError(Exception):
    """The file is no edition, not the one that was made, or not for this program: nothing of it is taken."""


def order(version: str) -> tuple[int, ...]:
    """What comes first: 2026.9 stands before 2026.11."""
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def name(version: str) -> str:
    return f"knowledge-{version}.pack"


def folder() -> Path | None:
    """Where a user's editions are kept; None when there is no home at all."""
    data, home = os.environ.get("XDG_DATA_HOME"), os.environ.get("HOME")
    return Path(data or Path(home or "") / ".local" / "share") / "npu-doctor" if data or home else None


def made_of(pack: bytes) -> bytes:
    """The file to pass on."""
    import hashlib  # a start that adds nothing need not pay for it

    version = Pack(pack).header.version
    if not _VERSION.fullmatch(version):
        raise RefusedError(f"its version {version!r} is not written YEAR.MONTH")
    about = {"npu-doctor": "knowledge", "version": version, "format": FORMAT, "size": len(pack), "sha256": hashlib.sha256(pack).hexdigest()}
    return json.dumps(about, separators=(",", ":")).encode() + b"\n" + zlib.compress(pack, 9)


def opened(data: bytes) -> Pack:
    """The pack of such a file, every byte of it as it was made."""
    import hashlib

    end = data.find(b"\n", 0, HEADER_LIMIT)
    try:
        about = json.loads(data[:end])
        size, promised, form, version = int(about["size"]), str(about["sha256"]), about["format"], str(about["version"])
    except (ValueError, KeyError, TypeError) as error:
        raise RefusedError("its first line does not tell what it is") from error
    if form != FORMAT:
        raise RefusedError(f"it is of format {form}, this program reads {FORMAT}: take the one made for this program, or update the program")
    machine = zlib.decompressobj()
    try:
        pack = machine.decompress(data[end + 1 :], min(max(size, 0), MAX_SIZE) + 1)
    except zlib.error as error:
        raise RefusedError(f"it is damaged: {error}") from error
    if hashlib.sha256(pack).hexdigest() != promised or len(pack) != size or not machine.eof or machine.unused_data:
        raise RefusedError("it is not the file that was made: its hash differs")
    return _sound(pack, version)


def _sound(data: bytes, version: str) -> Pack:
    try:
        pack = Pack(data)
        pack.check()
    except BrokenPackError as error:
        raise RefusedError(f"it is damaged: {error}") from error
    if pack.header.version != version or not _VERSION.fullmatch(version):
        raise RefusedError(f"its version is written in two ways: {version!r}, {pack.header.version!r}")
    return pack


def kept() -> tuple[tuple[str, Path], ...]:
    """The editions of this user, the newest first: version and file."""
    place = folder()
    try:
        found = [(m["version"], path) for path in (place.iterdir() if place is not None else ()) if (m := _NAME.fullmatch(path.name))]
    except OSError:
        return ()
    return tuple(sorted(found, key=lambda row: order(row[0]), reverse=True))


def newest(after: str) -> tuple[Pack, Path] | None:
    """The newest edition that is whole, for this program, and newer than a version."""
    for version, path in kept():
        if order(version) <= order(after):
            return None
        try:
            return _sound(path.read_bytes(), version), path
        except (RefusedError, OSError):
            continue
    return None


def add(data: bytes, shipped: str) -> tuple[str, Path]:
    """Keeps an edition: its version and its place. The shipped one and those kept before stay as they are."""
    pack, place = opened(data), folder()
    version = pack.header.version
    if order(version) <= order(shipped):
        raise RefusedError(f"{version} is not newer than what came with the program, {shipped}")
    if place is None:
        raise RefusedError("there is no place for it: neither HOME nor XDG_DATA_HOME is set")
    end = data.find(b"\n")
    if not write_atomically(place / name(version), zlib.decompress(data[end + 1 :])):
        raise RefusedError(f"{place} cannot be written: XDG_DATA_HOME names another place")
    return version, place / name(version)
