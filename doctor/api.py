"""The public Python interface: `diagnose` takes paths or text and returns the typed Diagnosis."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

from doctor.judge.diagnosis import Diagnosis, conclude
from doctor.read import discover
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from doctor.scan.select import EVERYTHING, Select
from kb.knowledge import Knowledge, load


def diagnose(
    what: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    knowledge: Knowledge | None = None,
    select: Select = EVERYTHING,
) -> Diagnosis:
    """The diagnosis of a path, of several, or of a text (a string with a line break, or one that is no existing path)."""
    begin = time.perf_counter()
    knowledge = knowledge or load()
    items = [what] if isinstance(what, (str, os.PathLike)) else list(what)
    paths, texts = [], []
    for item in items:
        text = os.fspath(item)
        if "\n" in text or (isinstance(item, str) and not _exists(text)):
            texts.append(text)
        else:
            paths.append(str(Path(text).expanduser()))
    found = discover.discover(paths)
    scanner = Scanner(Plan(knowledge.signals()), select)
    sources = [
        *found.sources,
        *(discover.given_text(t, f"<text {i + 1}>" if len(texts) > 1 else "<text>") for i, t in enumerate(texts)),
    ]
    harvests = [scanner.scan(source) for source in sources]
    return conclude(harvests, knowledge, time.perf_counter() - begin, found.skipped)


def _exists(text: str) -> bool:
    try:
        return Path(text).expanduser().exists()
    except (OSError, ValueError, RuntimeError):
        return False
