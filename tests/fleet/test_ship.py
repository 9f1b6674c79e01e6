"""The file that nodes get: the same bytes for the same program, and it finds the same without any compiled package."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests_support import HANG_S

from doctor.fleet import ship
from tests import starts

ROOT = Path(__file__).resolve().parents[2]
LOG = "[ERROR] HCCL(7,python):2026-04-02-08:00:01.000.001 [a.cc:1] [7][Wait][LinkEstablish]wait socket establish timeout, role[1] rank[3] timeout[120 s]\n"
LONG = "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB " + "x" * 5000 + "\n"


def test_compiled_packages_are_for_machines_like_this_one() -> None:
    """For another kind of machine it is plain Python, and only what is needed."""
    data, digest = ship.payload("another")
    names = zipfile.ZipFile(io.BytesIO(data)).namelist()
    assert hashlib.sha256(data).hexdigest() == digest
    assert not [name for name in names if name.endswith(".so") or name.startswith(("compiled/", "doctor/tui/", "kb/entries/", "tests/"))]
    assert {"__main__.py", ship.PACK, "doctor/fleet/far.py", "standins/regex.py"} <= set(names)


def test_it_is_packed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And again, to the same bytes, when what was kept is cut, another's or gone; what cannot be kept is packed all the same."""
    packed: list[object] = []
    pack = ship._packed
    monkeypatch.setattr(ship, "_packed", lambda members: packed.append(members) or pack(members))
    monkeypatch.setattr(ship, "_members", lambda architecture: iter((("__main__.py", architecture.encode()), ("doctor/version.py", ROOT / "doctor" / "version.py"))))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def asked(architecture: str = "a") -> tuple[bytes, str]:
        ship.payload.cache_clear()
        return ship.payload(architecture)

    first = asked()
    assert (asked(), len(packed)) == (first, 1)
    (place,) = (tmp_path / "npu-doctor").iterdir()
    whole = place.read_bytes()
    for damage in (b"", whole[:40], whole[:-1], whole[:-1] + b"x"):
        place.write_bytes(damage)
        assert (asked(), place.read_bytes()) == (first, whole)
    assert len(packed) == 5
    with monkeypatch.context() as other:
        other.setattr(os, "geteuid", lambda: 4711)
        assert (asked(), len(packed)) == (first, 6)
    assert asked("b") != first
    assert len(packed) == 7
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nothing")
    assert (asked(), len(packed)) == (first, 8)
    ship.payload.cache_clear()


def test_plain_python_finds_the_same(tmp_path: Path) -> None:
    """Under a Python that sees no packages at all; long lines too, for which patterns have a time limit elsewhere."""
    (tmp_path / "npu-doctor.pyz").write_bytes(ship.payload("another")[0])
    (tmp_path / "train.log").write_text(LOG + LONG)
    environ = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    call = ["scan", str(tmp_path / "train.log"), "-f", "jsonl", "-o"]
    subprocess.run([sys.executable, "-I", "-S", str(tmp_path / "npu-doctor.pyz"), *call, str(tmp_path / "far")], check=False, timeout=HANG_S, env=environ, capture_output=True)
    starts.command([*call, str(tmp_path / "here")])
    far, here = (json.loads((tmp_path / name).read_text().splitlines()[1]) for name in ("far", "here"))
    assert far == here
    assert far["hits"]
