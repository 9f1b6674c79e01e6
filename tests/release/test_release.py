"""What `python tools/release -o DIR` made, used as on the machines it is for: no network, no home, nothing executable in /tmp.

    NPU_DOCTOR_RELEASE=DIR python -m pytest -m release tests/release
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import pwd
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from terminal import terminal

sys.path.append(str(Path(__file__).resolve().parent.parent.parent / "tools"))

from release import elf, onefile

DIST = Path(os.environ.get("NPU_DOCTOR_RELEASE") or "no release").resolve()
pytestmark = [pytest.mark.release, pytest.mark.skipif(not DIST.is_dir(), reason="NPU_DOCTOR_RELEASE names no folder that tools/release made")]
LOGS = Path(__file__).resolve().parent.parent.parent / "kb" / "demo"


HOME = Path(pwd.getpwuid(os.getuid()).pw_dir)  # tests have a home of their own


def _one(pattern: str) -> Path:
    found = sorted(DIST.glob(pattern))
    if not found:
        pytest.skip(f"{DIST} has no {pattern}")
    return found[0]


def _can(*call: str) -> bool:
    try:
        return subprocess.run([*call, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _pythons() -> list[str]:
    found = {}
    for version in ("3.10", "3.11", "3.12", "3.13"):
        places = [*sorted(HOME.glob(f".pyenv/versions/{version}.*/bin/python")), *filter(None, [shutil.which(f"python{version}")])]
        if places and _can(str(places[0]), "-c", "", "--"):
            found[version] = str(places[0])
    return list(found.values())


NO_NETWORK = ["unshare", "-n"] if _can("unshare", "-n") else []


def _run(*call: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*NO_NETWORK, *call], env={"PATH": "/usr/bin:/bin", "NPU_DOCTOR_LANG": "en", **env}, cwd="/", capture_output=True, text=True, check=False)


def _names_the_cause(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 1, done.stderr
    assert "RTS001" in done.stdout


def test_sizes_and_sums() -> None:
    """The wheel has at most 3 MB, a file at most 12, and every sum is right."""
    assert _one("*.whl").stat().st_size <= 3_000_000
    assert all(path.stat().st_size <= onefile.MAX_BYTES for path in DIST.glob("*.pyz"))
    rows = [row.split("  ") for row in (DIST / "SHA256SUMS").read_text().splitlines()]
    assert {name for _, name in rows} == {path.name for path in DIST.iterdir()} - {"SHA256SUMS"}
    assert [name for digest, name in rows if hashlib.sha256((DIST / name).read_bytes()).hexdigest() != digest] == []


def test_the_list_of_contents_names_every_wheel() -> None:
    told = json.loads(_one("*.cdx.json").read_text())
    with tarfile.open(_one("*-wheels-*.tar")) as tar:
        names = {Path(name).name for name in tar.getnames()}
    listed = {p["name"].rpartition(":")[2] for c in [told["metadata"]["component"], *told["components"]] for p in c.get("properties", ())}
    assert names <= listed


@pytest.mark.parametrize("python", _pythons())
def test_one_file_with_every_python(python: str, tmp_path: Path) -> None:
    """The demo and a folder, without a network, the second start from the cache that may not be written any more."""
    pyz = str(_one("*x86_64.pyz"))
    _names_the_cause(_run(python, pyz, "demo", HOME=str(tmp_path)))
    for path in [*tmp_path.rglob("*"), tmp_path]:
        path.chmod(path.stat().st_mode & ~0o222)
    _names_the_cause(_run(python, pyz, "scan", str(LOGS), HOME=str(tmp_path)))
    told = json.loads(_run(python, pyz, "version", "--json", HOME=str(tmp_path)).stdout)
    assert None not in told["engines"].values()
    assert told["program"]["place"].startswith(str(tmp_path))
    for path in [tmp_path, *tmp_path.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)


@pytest.mark.parametrize("python", [p for p in _pythons() if "3.10" in p or "3.13" in p])
def test_without_a_home_where_nothing_executes(python: str) -> None:
    """A user without a home; every temporary place is mounted noexec: libraries are loaded from memory."""
    if not _can("unshare", "-m"):
        pytest.skip("mounting needs root")
    script = 'for d in /tmp /var/tmp /dev/shm; do mount -t tmpfs -o noexec,mode=1777 tmpfs $d || exit 9; done; exec "$1" "$2" demo'
    place = Path("/var/lib/npu-doctor-test.pyz")
    shutil.copyfile(_one("*x86_64.pyz"), place)
    try:
        done = subprocess.run(
            ["unshare", "-m", "-n", "bash", "-c", script, "x", python, str(place)], env={"PATH": "/usr/sbin:/usr/bin:/bin"}, capture_output=True, text=True, check=False, cwd="/"
        )
    finally:
        place.unlink()
    _names_the_cause(done)
    assert "tmp/npu-doctor-" in done.stderr


def test_nowhere_to_unpack_is_said() -> None:
    """Everything is read-only: what to do stands there, in both languages."""
    if not _can("unshare", "-m"):
        pytest.skip("mounting needs root")
    script = 'for d in /tmp /var/tmp /dev/shm; do mount -t tmpfs -o ro tmpfs $d || exit 9; done; exec "$1" "$2" demo'
    place = Path("/var/lib/npu-doctor-test.pyz")
    shutil.copyfile(_one("*x86_64.pyz"), place)
    try:
        done = subprocess.run(["unshare", "-m", "bash", "-c", script, "x", _pythons()[0], str(place)], env={"PATH": "/usr/sbin:/usr/bin:/bin"}, capture_output=True, text=True, check=False, cwd="/")
    finally:
        place.unlink()
    assert done.returncode == 2
    assert "TMPDIR=DIR" in done.stderr
    assert "没有可写的目录" in done.stderr


@pytest.mark.parametrize("python", sorted(map(str, [*HOME.glob(".pyenv/versions/2.7*/bin/python"), *HOME.glob(".pyenv/versions/3.[6789].*/bin/python")])))
def test_an_older_python_says_what_to_do(python: str) -> None:
    done = _run(python, str(_one("*x86_64.pyz")), "demo", PYTHONIOENCODING="utf-8")
    assert done.returncode == 2, done.stderr
    assert "Python 3.10 to 3.13" in done.stderr


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_one_file_in_a_terminal(lang: str, tmp_path: Path) -> None:
    """Row 103: the one file alone, without a network: the answer of the demo on one screen, in both languages."""
    seen = terminal("demo", "--lang", lang, cwd=Path("/"), program=(*NO_NETWORK, _pythons()[0], str(_one("*x86_64.pyz"))), HOME=str(tmp_path), PYTHONPATH="-")
    assert seen.code == 1
    assert any("RTS001" in row for row in seen.rows[:3]), seen.text
    assert len(seen.rows) <= 24


def test_wheels_without_a_network(tmp_path: Path) -> None:
    """Row 102: the folder of wheels installs with --no-index into an empty environment, and its program answers in a terminal there."""
    with tarfile.open(_one("*-wheels-x86_64.tar")) as tar:
        tar.extractall(tmp_path)
    python = _pythons()[-1]
    subprocess.run([python, "-m", "venv", str(tmp_path / "v")], check=True)
    folder = next(tmp_path.glob("npu-doctor-*"))
    done = _run(str(tmp_path / "v/bin/pip"), "--isolated", "install", "-q", "--no-compile", "--no-index", "--find-links", str(folder), "npu-doctor", HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    seen = terminal("demo", "--lang", "en", cwd=Path("/"), program=(*NO_NETWORK, str(tmp_path / "v/bin/npu-doctor")), HOME=str(tmp_path), PYTHONPATH="-")
    assert seen.code == 1
    assert any(row.startswith("ERROR  RTS001") for row in seen.rows[:3]), seen.text


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_library_is_of_the_machine(machine: str) -> None:
    """What could not be loaded there is not in it; each of the four Pythons has its own."""
    with zipfile.ZipFile(_one(f"*{machine}.pyz")) as file, tarfile.open(fileobj=io.BytesIO(file.read("payload.tar.xz"))) as tar:
        found: dict[str, set[str]] = {}
        for member in tar:
            data = tar.extractfile(member)
            head = data.read(64) if data is not None else b""
            if head[:4] == b"\x7fELF":
                assert elf.machine(head) == machine, member.name
                found.setdefault(member.name.partition("/")[0], set()).add(member.name.split("/")[1])
    assert set(found) - {"any"} == {"cp310", "cp311", "cp312", "cp313"}
    assert all({"hyperscan", "isal", "ahocorasick_rs", "rapidfuzz", "regex", "zstandard"} <= there for tag, there in found.items() if tag != "any")


def test_aarch64_runs_in_an_emulator(tmp_path: Path) -> None:
    """NPU_DOCTOR_AARCH64 is a root with an aarch64 Python: qemu-aarch64-static runs the real file."""
    root = os.environ.get("NPU_DOCTOR_AARCH64")
    qemu = shutil.which("qemu-aarch64-static")
    if root is None or qemu is None:
        pytest.skip("needs qemu-aarch64-static, and NPU_DOCTOR_AARCH64 with the root of an aarch64 Python")
    python = next(iter(sorted(Path(root).glob("usr/bin/python3.1?"))))
    done = subprocess.run([qemu, "-L", root, "-E", f"PYTHONHOME={root}/usr", str(python), str(_one("*aarch64.pyz")), "demo"], env={"HOME": str(tmp_path), "NPU_DOCTOR_LANG": "en"}, capture_output=True, text=True, check=False, cwd="/")
    _names_the_cause(done)
