"""Puts the archive together: cut-outs that grow until they scan to the same diagnosis, the report, the machine, a list of it all."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any

from doctor.answer.report import SCHEMA_VERSION
from doctor.base.notation import clean
from doctor.bundle import cuts
from doctor.judge.diagnosis import Diagnosis, conclude
from doctor.read import discover
from doctor.read.again import exact
from doctor.read.source import Source
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge
from parsers.named import NamedTuple

Json = dict[str, Any]
Rows = list[str]
Hide = Callable[[Json], Json]  # gives what stands in logs its pseudonyms; the machine has its own
AROUND = (5, 20, 80, 400, 4000)  # lines around a place: the first that give the same diagnosis are enough
EDGE = 40  # lines of the beginning and the end of each log
MAX_FILES = 5000
FOLDER = "case"


class Bundle(NamedTuple):
    """The archive, what is in it, and whether it scans to the same diagnosis."""

    data: bytes
    contents: Json
    same: bool


class TooLargeError(Exception):
    """Not even the evidence alone fits: how many bytes it has."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


def bundle(diagnosis: Diagnosis, made: Json, machine: Json | None, sources: Sequence[Source], known: Knowledge, hide: Hide, limit: int) -> Bundle:
    """The smallest archive that scans to the same diagnosis; where none within the limit does, the largest that fits."""
    places = cuts.places(diagnosis.harvest)
    chosen = sorted((s for s in sources if not s.once), key=lambda s: s.name not in places)[:MAX_FILES]
    scanner = Scanner(Plan(known.sought()), digest=known.digest)
    best: Bundle | None = None
    for around in AROUND:
        logs = dict(_logs(sorted(chosen, key=lambda s: s.name), places, around, limit * 20))
        hidden = hide({"report": made, "logs": [[name, *rows] for name, rows in logs.items()]})
        files = _files(hidden, machine, around)
        data = _archive(files)
        if len(data) > limit:
            if best is None:
                raise TooLargeError(len(data))
            break
        same = _answer(_scanned(data, scanner, known)) == _answer(diagnosis)
        best = Bundle(data, json.loads(files["contents.json"]), same)
        if same:
            break
    assert best is not None
    return best


def _logs(sources: Sequence[Source], places: dict[str, set[int]], around: int, most: int) -> Iterator[tuple[str, Rows]]:
    """By their names in the archive; what cannot be read again is left out."""
    names = [s.name.replace("!", "/").lstrip("/") for s in sources]
    top = os.path.commonpath([os.path.dirname(name) for name in names]) if names else ""
    size = 0
    for source, name in zip(sources, names, strict=True):
        rows: Rows = []
        try:
            with source.open() as stream:
                for _, raw in cuts.cut(stream, cuts.spans(places.get(source.name, ()), around), EDGE):
                    size += len(raw)
                    if size > most:
                        break
                    rows.append(exact(raw))
        except (OSError, EOFError, ValueError):
            continue
        if rows:
            yield os.path.relpath(name, top) if top else name, rows


def _files(hidden: Json, machine: Json | None, around: int) -> dict[str, bytes]:
    """Everything in the archive by its name; what is no log is JSON, which a scan leaves alone."""
    files: dict[str, bytes] = {}
    for name, *rows in hidden["logs"]:
        path = f"logs/{_plain(name)}"
        while path in files:
            path += "-2"
        files[path] = "".join(f"{row}\n" for row in rows).encode("utf-8", "backslashreplace")
    files["report.json"] = _json(hidden["report"])
    if machine is not None:
        files["environment.json"] = _json(machine)
    rows = [{"file": name, "bytes": len(data), "sha256": sha256(data).hexdigest()} for name, data in sorted(files.items())]
    about = {"tool": hidden["report"]["tool"], "report_schema": SCHEMA_VERSION, "lines_around": around, "redacted": "redacted" in hidden["report"], "files": rows}
    return {"contents.json": _json(about), **files}


def _plain(name: str) -> str:
    """A name that no archive tool stumbles over."""
    return "/".join(part for part in clean(name).split("/") if part not in ("", ".", ".."))[:240] or "log"


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "backslashreplace")


def _archive(files: dict[str, bytes]) -> bytes:
    """The same bytes for the same files: no times, no owners."""
    made = io.BytesIO()
    with gzip.GzipFile("", "wb", 9, made, mtime=0) as packed, tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(f"{FOLDER}/{name}")
            member.size, member.mode = len(data), 0o644
            tar.addfile(member, io.BytesIO(data))
    return made.getvalue()


def _scanned(data: bytes, scanner: Scanner, known: Knowledge) -> Diagnosis:
    """What somebody gets who scans the archive."""
    with tempfile.TemporaryDirectory(prefix="npu-doctor-") as folder:
        path = os.path.join(folder, "case.tar.gz")
        with open(path, "wb") as file:
            file.write(data)
        found = discover.discover([path])
        return conclude([scanner.scan(source) for source in found.sources], known, 0.0, found.skipped)


def _answer(diagnosis: Diagnosis) -> tuple[Any, ...]:
    """What makes two diagnoses the same: the verdict, the roots with whose they are, and whether one line decides."""
    roots = tuple((r.finding.entry.code, r.finding.instances[0].scope.rank, r.finding.instances[0].scope.device) for r in diagnosis.roots)
    return diagnosis.verdict, roots, diagnosis.decisive is None, diagnosis.general
