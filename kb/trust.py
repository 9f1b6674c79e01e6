"""Which folders of knowledge somebody has looked at and trusts: that of the working directory is not used before.

Pinned by the contents: what changes has to be looked at again. Whoever unpacks an archive or changes into a checkout does not
agree to what lies in it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from kb import files
from kb.layers import Layer
from kb.pack import write_atomically
from parsers.named import NamedTuple


def state_file() -> Path | None:
    """Where that is kept; None when there is no home."""
    base = os.environ.get("XDG_CONFIG_HOME")
    if not base:
        home = os.environ.get("HOME")
        if not home:
            return None
        base = os.path.join(home, ".config")
    return Path(base) / "npu-doctor" / "trusted.json"


class Print(NamedTuple):
    """The contents of a folder as knowledge: names and bytes of the files that would be read, and the bytes of each."""

    whole: str
    files: Mapping[str, str]


def fingerprint(folder: Path) -> Print:
    """The folder as it is now."""
    digest = hashlib.sha256()
    each: dict[str, str] = {}
    layer = Layer("trusted", folder)
    for path in (*layer.all_files(), *layer.refused_files()):
        try:
            data = files.read(path) if files.inside(path, folder) else b""
        except OSError:
            data = b""
        name = os.fsencode(os.path.relpath(path, folder))
        digest.update(b"%d %b %d " % (len(name), name, len(data)) + data)
        each[str(path)] = files.digest(data)
    return Print(digest.hexdigest(), each)


def _known() -> dict[str, str]:
    place = state_file()
    try:
        read = json.loads(files.read(place)) if place is not None else {}
    except (OSError, ValueError, RecursionError):
        return {}
    folders = read.get("folders") if isinstance(read, dict) else None
    return {k: v for k, v in folders.items() if isinstance(v, str)} if isinstance(folders, dict) else {}


def look(folder: Path) -> tuple[str, Print | None]:
    """`trusted`, and what may be read, `changed` since it was, or `unknown`. Of a folder that nobody trusts nothing is opened."""
    pinned = _known().get(os.path.realpath(folder))
    if pinned is None:
        return "unknown", None
    found = fingerprint(folder)
    return ("trusted", found) if pinned == found.whole else ("changed", None)


def layer(folder: Path) -> Layer | str:
    """The knowledge of the working directory; while nobody trusts it as it is, what is known of it."""
    how, found = look(folder)
    return how if found is None else Layer("project", folder, found.files)


def pin(folder: Path, print_: Print | None) -> bool:
    """Trusts a folder as it is, or (None) no longer; False when that cannot be kept."""
    place = state_file()
    if place is None:
        return False
    known = _known()
    known.pop(os.path.realpath(folder), None)
    if print_ is not None:
        known[os.path.realpath(folder)] = print_.whole
    return write_atomically(place, json.dumps({"folders": known}, indent=1, sort_keys=True).encode())
