"""Packages of a release for package managers: `python tools/package.py DIST -o DIR [--machine MACHINE]`.

Takes the one file that tools/release made, asks it for completion and the manual page, lays out the folder that packaging/nfpm.yaml names, and
builds a .deb with dpkg-deb; an .rpm with nfpm, where that is there. The bytes are the same for the same release.
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}
PRINTED = {
    "bash": "usr/share/bash-completion/completions/npu-doctor",
    "zsh": "usr/share/zsh/site-functions/_npu-doctor",
    "fish": "usr/share/fish/vendor_completions.d/npu-doctor.fish",
    "man": "usr/share/man/man1/npu-doctor.1.gz",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dist", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path("dist"))
    parser.add_argument("--machine", choices=DEBIAN, default="x86_64")
    options = parser.parse_args()
    found = sorted(options.dist.glob(f"npu-doctor-*-{options.machine}.pyz"))
    if not found:
        raise SystemExit(f"package: {options.dist} holds no npu-doctor-VERSION-{options.machine}.pyz\n = help: python tools/release -o {options.dist}")
    version = re.sub(rf"npu-doctor-(.+)-{options.machine}\.pyz", r"\1", found[0].name)
    options.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "root"
        lay_out(root, found[0])
        print(deb(root, options.output.resolve(), version, DEBIAN[options.machine]))
        if shutil.which("nfpm"):
            shutil.copy(ROOT / "packaging" / "nfpm.yaml", name)
            subprocess.run(["nfpm", "package", "--packager", "rpm", "--target", str(options.output.resolve())], cwd=name, check=True, env={**os.environ, "ARCH": DEBIAN[options.machine], "VERSION": version})
        else:
            print("package: no .rpm was built: nfpm is not there")
    return 0


def lay_out(root: Path, pyz: Path) -> None:
    program = root / "usr/bin/npu-doctor"
    program.parent.mkdir(parents=True)
    shutil.copyfile(pyz, program)
    for what, place in PRINTED.items():
        text = subprocess.run([sys.executable, "-m", "doctor", "completion", what, "--lang", "en"], cwd=ROOT, capture_output=True, check=True).stdout
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_bytes(gzip.compress(text, mtime=0) if place.endswith(".gz") else text)
    copyright_ = root / "usr/share/doc/npu-doctor/copyright"
    copyright_.parent.mkdir(parents=True)
    shutil.copyfile(ROOT / "LICENSE", copyright_)
    for path in root.rglob("*"):
        path.chmod(0o755 if path.is_dir() or path == program else 0o644)


def deb(root: Path, output: Path, version: str, machine: str) -> Path:
    """A Debian package of the folder; its text is that of packaging/nfpm.yaml."""
    about = re.search(r"^description: \|\n((?:  .+\n)+)", (ROOT / "packaging" / "nfpm.yaml").read_text(encoding="utf-8"), re.MULTILINE)
    lines = [line.strip() for line in about[1].splitlines()] if about else ["npu-doctor"]
    size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) // 1024
    control = (
        f"Package: npu-doctor\nVersion: {version}\nArchitecture: {machine}\nMaintainer: The npu-doctor developers\nInstalled-Size: {size}\nDepends: python3 (>= 3.10)\n"
        f"Section: utils\nPriority: optional\nDescription: {lines[0]}\n" + "".join(f" {line}\n" for line in lines[1:])
    )
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN" / "control").write_text(control, encoding="utf-8")
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip() or "1700000000"
    for path in [root, *root.rglob("*")]:
        os.utime(path, (int(epoch), int(epoch)))
    target = output / f"npu-doctor_{version}_{machine}.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", str(root), str(target)], check=True, capture_output=True, env={**os.environ, "SOURCE_DATE_EPOCH": epoch})
    return target


if __name__ == "__main__":
    raise SystemExit(main())
