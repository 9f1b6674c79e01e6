"""Whose a source is, by its path: which node, which process or file, and with whom it can be compared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from os.path import commonpath

from doctor.baseline.run import Voice
from doctor.read.source import Source, home

PROCESS = "process"
_ROTATED = re.compile(r"(?:\.(?:gz|xz|bz2|zst|zip|log\.\d{1,3}|\d{1,14}|\d{4}-\d\d-\d\d))+$")
_NUMBERS = re.compile(r"[0-9a-f]{8,}|\d+")
_NO_NODE = re.compile(r"(?:rank|device|attempt|restart|step|epoch|iter|part)[_-]?\d*$|^(?:run|debug|security|plog|log|logs|ascend|operation|process_log)$", re.IGNORECASE)


def voices(sources: Sequence[Source]) -> list[Voice]:
    """Of each source whose it is; nodes are those that paths name, else folders that lie side by side."""
    beneath = _beneath([s.name.replace("!", "/") for s in sources])
    folders = {parts[0] for parts in beneath if len(parts) > 1 and not _NO_NODE.search(parts[0])}
    like = {_NUMBERS.sub("", folder) for folder in folders}
    apart = len(folders) > 1 and len(like) < len(folders)  # node-0, node-1: alike but for a number
    return [_voice(source, parts, folders if apart else set()) for source, parts in zip(sources, beneath, strict=True)]


def _beneath(names: Sequence[str]) -> list[list[str]]:
    """The paths without what all have in common."""
    if len(names) < 2 or len({name.startswith("/") for name in names}) > 1:
        return [name.rsplit("/", 1)[-1:] for name in names]
    common = commonpath([name.rpartition("/")[0] or "." for name in names]) if all("/" in name for name in names) else ""
    begin = len(common) + 1 if common and common != "/" else 0
    return [name[begin:].strip("/").split("/") for name in names]


def _voice(source: Source, parts: Sequence[str], folders: set[str]) -> Voice:
    node = source.hints.node or (parts[0] if parts[0] in folders and len(parts) > 1 else "")
    if source.hints.rank is not None:
        return Voice(node, f"rank {source.hints.rank}", PROCESS)
    if source.hints.pid is not None:
        inside = "/".join(home(source.name).rstrip("/").split("/")[-2:]) if not node else ""
        return Voice(node, f"pid {source.hints.pid}" + (f" ({inside})" if inside else ""), PROCESS)
    name = _ROTATED.sub("", parts[-1]) or parts[-1]
    return Voice(node, name, _NUMBERS.sub("#", name))
