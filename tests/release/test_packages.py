"""Packages for package managers, and what containers are made and run with: built from a small release, installed, and read."""

from __future__ import annotations

import importlib.util
import io
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from terminal import terminal

from doctor.commands import shells
from doctor.version import __version__

ROOT = Path(__file__).resolve().parent.parent.parent
WHEN = (2026, 3, 2, 9, 14, 44)


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a release has for one machine, with a program that only says that it started."""
    folder = tmp_path_factory.mktemp("dist")
    program = io.BytesIO()
    with zipfile.ZipFile(program, "w") as file:
        file.writestr(zipfile.ZipInfo("__main__.py", WHEN), "print('started')\n")
    (folder / "npu-doctor-1.2.3-x86_64.pyz").write_bytes(b"#!/usr/bin/env python3\n" + program.getvalue())
    with zipfile.ZipFile(folder / "npu_doctor-1.2.3-py3-none-any.whl", "w") as file:
        file.writestr("doctor/__init__.py", "")
        file.writestr("doctor/commands/__init__.py", "")
        file.writestr("doctor/commands/shells.py", f"OF_A_SYSTEM = {shells.OF_A_SYSTEM!r}\ndef installed(places):\n    return {{place: f'{{what}} {{language}}' for what, language, place in places}}\n")
    return folder


def built(dist: Path, output: Path) -> dict[str, Path]:
    done = subprocess.run([sys.executable, str(ROOT / "tools/package.py"), str(dist), "-o", str(output)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {path.suffix: path for path in output.iterdir()}


@pytest.fixture(scope="module")
def packages(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    if shutil.which("dpkg-deb") is None:
        pytest.skip("there is no dpkg-deb here")
    return built(dist, tmp_path_factory.mktemp("packages"))


def test_the_same_release_gives_the_same_packages(dist: Path, packages: dict[str, Path], tmp_path: Path) -> None:
    """Also later: their times are those of the release."""
    again = built(dist, tmp_path)
    assert {k: p.read_bytes() for k, p in again.items()} == {k: p.read_bytes() for k, p in packages.items()}


def test_a_release_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(ROOT / "tools/package.py"), str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "python tools/release -o" in done.stderr


def placed(root: Path, zsh: str) -> None:
    """The program starts; pages and completion are where the system looks for them, and may be read by everybody."""
    assert subprocess.run([str(root / "usr/bin/npu-doctor")], capture_output=True, text=True, check=True).stdout == "started\n"
    told = {place for _, _, place in shells.OF_A_SYSTEM}
    wanted = {f"usr/{p}.gz" if "/man/" in p else f"usr/{p.replace('share/zsh/site-functions', zsh)}" for p in told} | {"usr/bin/npu-doctor", "usr/share/doc/npu-doctor/copyright"}
    found = {str(path.relative_to(root)) for path in (root / "usr").rglob("*npu-doctor*") if path.is_file()} | {"usr/share/doc/npu-doctor/copyright"}
    assert found == wanted
    assert all(stat.S_IMODE((root / name).stat().st_mode) & 0o444 == 0o444 for name in wanted)


def test_dpkg_installs_and_removes_it(packages: dict[str, Path], tmp_path: Path) -> None:
    for name in ("info", "updates", "triggers"):
        (tmp_path / "var/lib/dpkg" / name).mkdir(parents=True)
    (tmp_path / "var/lib/dpkg/status").touch()
    dpkg = ["dpkg", f"--root={tmp_path}", "--force-not-root", "--force-depends", "--force-architecture"]
    done = subprocess.run([*dpkg, "-i", str(packages[".deb"])], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    placed(tmp_path, "share/zsh/vendor-completions")
    subprocess.run([*dpkg, "-P", "npu-doctor"], check=True, capture_output=True)
    assert not (tmp_path / "usr/bin/npu-doctor").exists()


def test_rpm_installs_it(packages: dict[str, Path], tmp_path: Path) -> None:
    if ".rpm" not in packages or shutil.which("rpm") is None:
        pytest.skip("needs nfpm and rpm")
    package = str(packages[".rpm"])
    told = subprocess.run(["rpm", "-qp", "--qf", "%{NAME} %{VERSION} %{ARCH} %{LICENSE} %{BUILDTIME} %{BUILDHOST}", package], capture_output=True, text=True, check=True).stdout
    assert told == "npu-doctor 1.2.3 x86_64 Apache-2.0 1772442884 npu-doctor"
    assert "python3 >= 3.10" in subprocess.run(["rpm", "-qp", "--requires", package], capture_output=True, text=True, check=True).stdout
    done = subprocess.run(["rpm", "--root", str(tmp_path), "--nodeps", "--ignorearch", "-i", package], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    placed(tmp_path, "share/zsh/site-functions")


def test_the_recipe_asks_for_what_the_project_does() -> None:
    """Row 101: the recipe of conda has this version and pyproject's dependencies, and the commands with which it tests itself hold in a terminal."""
    text = (ROOT / "packaging/conda/meta.yaml").read_text(encoding="utf-8")
    recipe = yaml.safe_load("\n".join(row for row in text.split("\n") if not row.startswith("{%")).replace("{{ version }}", __version__).replace("{{ PYTHON }}", "python"))
    assert f'{{% set version = "{__version__}" %}}' in text
    assert recipe["build"]["noarch"] == "python"
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    wanted = re.findall(r'^  "([\w>=.,<-]+)",$', project[project.index("dependencies = [") :].partition("\n]")[0], re.MULTILINE)
    assert sorted(row.replace(" ", "") for row in recipe["requirements"]["run"][1:]) == sorted(wanted)
    assert f'requires-python = "{recipe["requirements"]["run"][0].partition(" ")[2]}"' in project
    for command in recipe["test"]["commands"]:
        words = command.partition(" || ")[0].split()
        assert terminal(*words[1:], "--lang", "en").code == (1 if "-eq 1" in command else 0)


def _yaml(name: str) -> Any:
    return yaml.safe_load((ROOT / "packaging/examples" / name).read_text(encoding="utf-8"))


def test_the_job_may_do_nothing_but_read() -> None:
    """The example for Kubernetes: no root, no capabilities, a root that is read-only; every mount has its volume; the image is of this version."""
    pod = _yaml("job.yaml")["spec"]["template"]["spec"]
    container = pod["containers"][0]
    assert container["image"] == f"npu-doctor:{__version__}"
    assert pod["securityContext"]["runAsNonRoot"]
    assert container["securityContext"] == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
    assert {m["name"] for m in container["volumeMounts"]} == {v["name"] for v in pod["volumes"]}
    assert next(m for m in container["volumeMounts"] if m["name"] == "logs")["readOnly"]


@pytest.mark.skipif(importlib.util.find_spec("kubernetes_validate") is None, reason="kubernetes-validate is not installed")
def test_the_job_is_what_kubernetes_takes() -> None:
    """By the published schemas, strictly: no field that does not exist, none missing that is demanded."""
    import kubernetes_validate

    for version in ("1.29", "1.32", "1.37"):
        kubernetes_validate.validate(_yaml("job.yaml"), version, strict=True)


def test_the_container_has_what_a_wheel_is_built_from() -> None:
    """What is kept out of the image's build is nothing that a wheel needs; it runs as somebody without rights."""
    left_out = [row for row in (ROOT / ".containerignore").read_text().split() if row]
    assert (ROOT / ".dockerignore").read_text().split() == left_out
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    needed = {"doctor", "kb", "parsers", "packaging", "README.md", "LICENSE", "pyproject.toml"}
    assert 'path = "packaging/build_hook.py"' in project
    assert needed.isdisjoint(left_out)
    text = (ROOT / "packaging/Containerfile").read_text(encoding="utf-8")
    assert re.search(r"^USER 10001:10001$", text, re.MULTILINE)
    assert text.index("USER") < text.index("ENTRYPOINT")
