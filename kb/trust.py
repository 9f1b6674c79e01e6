"""Which folders of knowledge somebody has looked at and trusts: that of the working directory is not used before.

Pinned by the contents: what changes has to be looked at again. Whoever unpacks an archive or changes into a checkout does not
agree to what lies in it.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from kb import files
from kb.layers import Layer
from kb.pack import write_atomically


def state_file() -> Path | None:
    """Where that is kept; None when there is no home."""
    base = os.environ.get("XDG_CONFIG_HOME")
    if not base:
        home = os.environ.get("HOME")
        if not home:
            return None
        base = os.path.join(home, ".config")
    return Path(base) / "npu-doctor" / "trusted.json"


def fingerprint(folder: Path) -> str:
    """The contents of a folder as knowledge: names and bytes of the files that would be read."""
    digest = hashlib.sha256()
    layer = Layer("trusted", folder)
    for path in (*layer.all_files(), *layer.refused_files()):
        try:
            data = files.read(path) if files.inside(path, folder) else b""
        except OSError:
            data = b""
        name = os.fsencode(os.path.relpath(path, folder))
        digest.update(b"%d %b %d " % (len(name), name, len(data)) + data)
    return digest.hexdigest()


def _known() -> dict[str, str]:
    place = state_file()
    try:
        read = json.loads(files.read(place)) if place is not None else {}
    except (OSError, ValueError, RecursionError):
        return {}
    folders = read.get("folders") if isinstance(read, dict) else None
    return {k: v for k, v in folders.items() if isinstance(v, str)} if isinstance(folders, dict) else {}


def state(folder: Path) -> str:
    """`trusted`, `changed` since it was, or `unknown`. Of a folder that nobody trusts nothing is opened."""
    pinned = _known().get(os.path.realpath(folder))
    if pinned is None:
        return "unknown"
    return "trusted" if pinned == fingerprint(folder) else "changed"


def pin(folder: Path, print_: str | None) -> bool:
    """Trusts a folder as it is, or (None) no longer; False when that cannot be kept."""
    place = state_file()
    if place is None:
        return False
    known = _known()
    known.pop(os.path.realpath(folder), None)
    if print_ is not None:
        known[os.path.realpath(folder)] = print_
    return write_atomically(place, json.dumps({"folders": known}, indent=1, sort_keys=True).encode())
