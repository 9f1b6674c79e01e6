"""The pages that `npu-doctor kb site` writes: what they are called, and where the reader says that they stand."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "NPU_DOCTOR_SITE"  # an address, or a folder
LONGEST = 200  # characters of a name: file systems take 255 bytes


def name_of(written: str) -> str:
    """A code as a file can be called on every system; what differs only in other signs is told apart by their numbers, what is too long by a hash."""
    name = re.sub(r"[^A-Za-z0-9._-]", lambda m: f"_{ord(m[0]):x}_", written).lstrip(".") or "_"
    return name if len(name) <= LONGEST else f"{name[:LONGEST]}-{zlib.crc32(name.encode()):08x}{zlib.adler32(name.encode()):08x}"


def path_of(kind: str, id_: str) -> str:
    """The address of an entry, a check, a variable, a card beneath its language; of a code, `FAMILY/CODE` names it."""
    if kind == "entry":
        return f"{name_of(id_)}.html"
    return "/".join([kind, *map(name_of, id_.split("/", 1))]) + ".html"


def page(kind: str, id_: str, language: str, environ: Mapping[str, str] = os.environ) -> str:
    """Where the page stands; empty without a site, and where a folder has no such page: a link is never dead for want of it."""
    base = environ.get(VARIABLE, "").strip().rstrip("/")
    path = f"{language}/{path_of(kind, id_)}"
    if re.fullmatch(r"https?://[!-~]+", base):
        return f"{base}/{path}"
    file = Path(base.removeprefix("file://")).expanduser() / path
    return file.absolute().as_uri() if base and file.is_file() else ""
