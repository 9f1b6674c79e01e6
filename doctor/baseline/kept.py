"""Healthy runs in a file: shapes and how often they come, nothing of what the logs say beside them.

The file is a line that says what it is, with the digest of what follows, and compressed JSON. Whatever is read is checked.
"""

from __future__ import annotations

import json
import zlib
from hashlib import blake2b
from pathlib import Path
from typing import Any, NoReturn

from doctor.base.errors import UsageError
from doctor.base.output import put
from doctor.baseline.masks import MAX_SHAPE, Masks
from doctor.baseline.shapes import MAX_SHAPES, Shapes
from doctor.baseline.usual import Facts, Norm, Usual
from doctor.version import __version__
from kb.invisible import STEERING
from parsers import foreign_json
from parsers.foreign_json import ForeignJsonError

MAGIC = "npu-doctor baseline"
VERSION = 1
MAX_FILE = 64 << 20
MAX_UNPACKED = 256 << 20
MAX_NAMES = 5000  # settings and facts
_HELP = "npu-doctor diff --learn LOGS -o good.baseline writes one"


def packed(usual: Usual, shapes: Shapes) -> bytes:
    """The file."""
    hidden = Masks().hidden
    rows = [[shapes.texts[n], m.runs, round(m.times, 3), m.by_voice, round(m.voices, 4), m.since if m.since is None else round(m.since, 3)] for n, m in sorted(usual.norms.items())]
    made = {
        "made_by": __version__,
        "runs": usual.runs,
        "lines": round(usual.lines, 3),
        "voices": round(usual.voices, 3),
        "further": usual.further,
        "settings": {name: list(values) for name, values in usual.settings.items()},
        "facts": {name: [hidden(value) for value in values] for name, values in usual.facts.items()},
        "shapes": rows,
    }
    body = zlib.compress(json.dumps(made, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"), 9)
    return f"{MAGIC} {VERSION} {_digest(body)}\n".encode() + body


def unpacked(data: bytes, name: str, shapes: Shapes) -> Usual:
    """What a file says; a UsageError where it is none of ours, damaged, or of a later version."""
    head, _, body = data.partition(b"\n")
    words = head[:200].decode("ascii", "replace").split()
    if words[:2] != MAGIC.split() or len(words) != 4:
        raise UsageError(f"'{name}' is no baseline", _HELP)
    if words[2] != str(VERSION):
        raise UsageError(f"'{name}' is a baseline of version {words[2][:20]}, this program reads version {VERSION}", "learn it anew, or update npu-doctor")
    if words[3] != _digest(body):
        raise UsageError(f"'{name}' is damaged: it was cut off or changed", _HELP)
    try:
        opened = zlib.decompressobj()
        text = opened.decompress(body, MAX_UNPACKED)
        if opened.unconsumed_tail or not opened.eof:
            _refuse(name, "it is larger than a baseline can be")
        made = foreign_json.read(text)
    except (zlib.error, ForeignJsonError):
        _refuse(name, "its content cannot be read")
    return _usual(made, name, shapes)


def _digest(body: bytes) -> str:
    return blake2b(body, digest_size=16).hexdigest()


def _refuse(name: str, why: str) -> NoReturn:
    raise UsageError(f"'{name}' is damaged: {why}", _HELP)


def _usual(made: Any, name: str, shapes: Shapes) -> Usual:
    if not isinstance(made, dict) or not isinstance(rows := made.get("shapes"), list) or len(rows) > MAX_SHAPES:
        _refuse(name, "it has no list of shapes")
    runs = _number(made.get("runs"), name)
    if runs < 1:
        _refuse(name, "it is made of no run")
    return Usual(
        runs=int(runs),
        norms=dict(_norm(row, name, shapes) for row in rows),
        settings=_named(made.get("settings"), name),
        facts=_named(made.get("facts"), name),
        lines=_number(made.get("lines"), name),
        voices=_number(made.get("voices"), name),
        further=int(_number(made.get("further"), name)),
    )


def _norm(row: Any, name: str, shapes: Shapes) -> tuple[int, Norm]:
    if not isinstance(row, list) or len(row) != 6 or not isinstance(row[0], str) or len(row[0]) > 2 * MAX_SHAPE:
        _refuse(name, "a shape in it is none")
    runs, times, by_voice, voices = (_number(cell, name) for cell in row[1:5])
    return shapes.known(STEERING.sub("?", row[0])), Norm(int(runs), times, by_voice, voices, None if row[5] is None else _number(row[5], name))


def _number(cell: Any, name: str) -> float:
    if isinstance(cell, bool) or not isinstance(cell, (int, float)) or not 0 <= cell < 1e15:
        _refuse(name, "a number in it is none")
    return float(cell)


def _named(cell: Any, name: str) -> Facts:
    if not isinstance(cell, dict) or len(cell) > MAX_NAMES:
        _refuse(name, "its settings are none")
    found: dict[str, tuple[str, ...]] = {}
    for key, values in cell.items():
        if not isinstance(values, list) or not all(isinstance(value, str) and len(value) <= 400 for value in values):
            _refuse(name, "its settings are none")
        found[STEERING.sub("?", key)] = tuple(STEERING.sub("?", value) for value in values)
    return found


def is_baseline(path: str) -> bool:
    """Does a file say that it is one? Whether it is sound is asked later."""
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC.encode()
    except OSError:
        return False


def write(data: bytes, path: str) -> None:
    """Puts the file in place, whole or not at all."""
    try:
        put(Path(path), data)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", "choose another place with -o FILE") from error
