"""The parts that a release is made with: compiled libraries cut to what loads, archives that are the same every time, a list of contents."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tools"))

from release import elf, onefile, sbom, wheels  # noqa: E402 - after the path


def _library() -> Path:
    spec = importlib.util.find_spec("regex._regex")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin)


def test_a_cut_library_still_loads(tmp_path: Path) -> None:
    """Symbols and debugging sections are left out; what is loaded is all there, and nothing shared is torn."""
    data = _library().read_bytes()
    cut = elf.needed(data)
    assert len(cut) <= len(data)
    (tmp_path / _library().name).write_bytes(cut)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import _regex; print(_regex.__file__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == str(tmp_path / _library().name), done.stderr


def test_the_machine_of_a_library() -> None:
    """What is no library of 64 bits has none."""
    data = bytearray(_library().read_bytes()[:64])
    data[18:20] = (183).to_bytes(2, "little")
    assert elf.machine(bytes(data)) == "aarch64"
    assert elf.machine(b"#!/bin/sh\n") is None
    assert elf.needed(b"text") == b"text"


def _wheel(folder: Path, name: str, files: dict[str, bytes], tag: str = "py3-none-any", licence: str = "License-Expression: MIT\n") -> Path:
    path = folder / f"{name}-1.0-{tag}.whl"
    with zipfile.ZipFile(path, "w") as file:
        for inner, data in files.items():
            file.writestr(inner, data)
        file.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n{licence}\n")
        file.writestr(f"{name}-1.0.dist-info/RECORD", "")
    return path


@pytest.fixture
def made(tmp_path: Path) -> tuple[Path, dict[str, list[Path]]]:
    own = _wheel(tmp_path, "npu_doctor", {"doctor/__init__.py": b"", "doctor/__main__.py": b"def main():\n    print('started')\n    return 7\n"})
    tag = f"{sys.version_info[0]}.{sys.version_info[1]}"
    native = _wheel(tmp_path, "fast", {"fast/a.py": b"x = 1\n", "fast/a.pyi": b"x: int\n"}, f"cp{tag.replace('.', '')}-cp-manylinux_2_28_x86_64", "License: BSD\n")
    return own, {tag: [native]}


def test_one_file_is_the_same_every_time_and_starts(made: tuple[Path, dict[str, list[Path]]], tmp_path: Path) -> None:
    """A second start finds what the first one unpacked, also when it may not write any more."""
    import platform

    machine = platform.machine()
    data = onefile.build(*made, machine, "1.0", 1_700_000_000)
    assert data == onefile.build(*made, machine, "1.0", 1_700_000_000)
    file = tmp_path / "x.pyz"
    file.write_bytes(data)
    (tmp_path / "home").mkdir()
    for _ in range(2):
        done = subprocess.run([sys.executable, str(file)], env={"HOME": str(tmp_path / "home")}, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (7, "started\n"), done.stderr
        cache = tmp_path / "home/.cache/npu-doctor"
        assert len([p for p in cache.iterdir() if p.name.startswith("pyz-1.0-")]) == 1
        assert cache.stat().st_mode & 0o077 == 0


def test_one_file_for_another_machine_says_so(made: tuple[Path, dict[str, list[Path]]], tmp_path: Path) -> None:
    """In both languages, with the name of the right file."""
    file = tmp_path / "x.pyz"
    file.write_bytes(onefile.build(*made, "mips", "1.0", 0))
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "is for CPython on Linux mips" in done.stderr
    assert "请使用" in done.stderr


def test_a_folder_that_others_can_write_to_is_not_used(made: tuple[Path, dict[str, list[Path]]], tmp_path: Path) -> None:
    """What lies there could be anybody's."""
    import platform

    file, cache = tmp_path / "x.pyz", tmp_path / "cache/npu-doctor"
    file.write_bytes(onefile.build(*made, platform.machine(), "1.0", 0))
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    (tmp_path / "tmp").mkdir()
    env = {"XDG_CACHE_HOME": str(cache.parent), "TMPDIR": str(tmp_path / "tmp")}
    assert subprocess.run([sys.executable, str(file)], env=env, check=False, capture_output=True).returncode == 7
    assert list(cache.iterdir()) == []
    assert len(list((tmp_path / "tmp").rglob("doctor/__main__.py"))) == 1


def test_a_library_of_another_machine_ends_the_release(tmp_path: Path) -> None:
    """No file is made that could not be loaded."""
    head = bytearray(_library().read_bytes()[:64])
    head[18:20] = (183).to_bytes(2, "little")
    own = _wheel(tmp_path, "npu_doctor", {"doctor/x.so": bytes(head)})
    with pytest.raises(SystemExit, match="is for aarch64"):
        onefile.build(own, {"3.11": []}, "x86_64", "1.0", 0)


def test_the_list_of_contents(made: tuple[Path, dict[str, list[Path]]]) -> None:
    """Each package with version, licence and hash; the same text for the same files."""
    own, others = made
    found = [path for paths in others.values() for path in paths]
    text = sbom.document(own, found, [own], 1_700_000_000)
    assert text == sbom.document(own, found, [own], 1_700_000_000)
    told = json.loads(text)
    assert (told["bomFormat"], told["specVersion"]) == ("CycloneDX", "1.5")
    assert [(c["name"], c.get("licenses")) for c in told["components"]] == [("fast", [{"license": {"name": "BSD"}}]), (own.name, None)]
    assert told["metadata"]["component"]["licenses"] == [{"expression": "MIT"}]
    assert told["dependencies"] == [{"ref": "npu-doctor", "dependsOn": ["pkg:pypi/fast@1.0"]}]


def test_every_dependency_is_fetched() -> None:
    """The engines that have markers in pyproject, too."""
    assert {"textual>=1.0,<10", "hyperscan>=0.7.8", "isal>=1.6"} <= set(wheels.dependencies(ROOT))
