"""Entries that are being written, tried among all others before they stand in any layer."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kb import build
from kb.in_use import compiled_before
from kb.knowledge import Knowledge, load
from kb.layers import HERE, Layer
from kb.model import Entry
from kb.pack import Pack
from kb.problems import Problem
from parsers.named import NamedTuple


class Trial(NamedTuple):
    """The entries of some files, the faults of the files that hold none, and what is known with the entries on top."""

    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...]
    knowledge: Knowledge


def base(files: Iterable[Path], extra: tuple[str, ...] = ()) -> Knowledge:
    """The knowledge that files are tried upon. When only they have changed since it was compiled, it stands as it is:
    whoever writes an entry tries it after every change, and need not wait for all the others."""
    changed = {path.resolve() for path in files}
    pack = compiled_before(Layer("built-in", HERE), changed)
    return load(extra, pack)


def of_files(files: Iterable[Path], known: Knowledge) -> Trial:
    """Files of the built-in knowledge are held to its rules, all others to those of a user's layer."""
    entries, problems = build.read_files((path, _layer(path)) for path in files)
    knowledge = Knowledge((*known.packs, Pack(build.pack_of(entries))))
    return Trial(tuple(ready(e, knowledge) for e in entries), tuple(problems), knowledge)


def ready(entry: Entry, knowledge: Knowledge) -> Entry:
    """An entry as it was read, samples and all, with the leaves as the knowledge looks for them."""
    found = knowledge.entry(entry.code)
    return entry if found is None else entry._replace(signals=found.signals)


def _layer(path: Path) -> str:
    return "built-in" if HERE in path.resolve().parents else str(path.parent)

