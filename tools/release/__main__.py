"""Makes a release: `python tools/release -o DIR`. Needs `build`, pip, and an index of packages or the folder of an earlier run (--wheels).

Into DIR go: the wheel, the source archive, the edition of the knowledge, one file for each machine (npu-doctor-VERSION-MACHINE.pyz), the
wheels of all dependencies for machines without a network, an SBOM (CycloneDX) and SHA256SUMS. Everything is made twice, from copies in
different places, and has to be the same to the byte. Times in it are SOURCE_DATE_EPOCH, else that of the last commit.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

from release import onefile, sbom, wheels  # noqa: E402 - after the path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=Path("dist"))
    parser.add_argument("--wheels", type=Path, help="a folder that keeps the fetched wheels for the next run")
    parser.add_argument("--machine", action="append", choices=wheels.ARCHITECTURES, help="only for this one (repeatable)")
    parser.add_argument("--once", action="store_true", help="do not make everything a second time to compare")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="npu-doctor-release-") as name:
        work = Path(name)
        kept = (options.wheels or work / "wheels").resolve()
        machines = tuple(options.machine or wheels.ARCHITECTURES)
        fetched = {m: {p: wheels.fetch(ROOT, kept, m, p) for p in wheels.PYTHONS} for m in machines}
        sources, when = snapshot(), epoch()
        made = make(work / "first", sources, when, fetched)
        if not options.once:
            compare(made, make(work / "second" / "and further down", sources, when, fetched))
        options.output.mkdir(parents=True, exist_ok=True)
        for path in made:
            shutil.copyfile(path, options.output / path.name)
            print(f"{path.stat().st_size:>11,}  {path.name}")
    return 0


def epoch() -> int:
    said = os.environ.get("SOURCE_DATE_EPOCH") or subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    return int(said.strip() or 1_700_000_000)


def snapshot() -> dict[str, bytes]:
    """The files of the checkout as they are now: somebody may go on working while they are built."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    return {name: (ROOT / name).read_bytes() for name in filter(None, listed) if (ROOT / name).is_file()}


def make(work: Path, sources: dict[str, bytes], when: int, fetched: dict[str, dict[str, list[Path]]]) -> list[Path]:
    """All files of a release, made from a copy of the sources."""
    source, out = work / "source", work / "out"
    for name, data in sources.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(data)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(when), "PYTHONHASHSEED": str(len(str(work)))}
    subprocess.run([sys.executable, "-m", "build", "--quiet", "--wheel", "--sdist", "--outdir", str(out), str(source)], check=True, env=environment)
    own = next(out.glob("*.whl"))
    version = wheels.read(own).version
    (out / _knowledge(source, out, environment)).stat()
    for machine, by_python in fetched.items():
        file = out / f"npu-doctor-{version}-{machine}.pyz"
        file.write_bytes(onefile.build(own, by_python, machine, version, when))
        if file.stat().st_size > onefile.MAX_BYTES:
            raise SystemExit(f"{file.name} has {file.stat().st_size} bytes, more than {onefile.MAX_BYTES}")
        _wheelhouse(out / f"npu-doctor-{version}-wheels-{machine}.tar", [own, *(p for found in by_python.values() for p in found)], when)
    files = sorted(out.iterdir())
    others = [path for by_python in fetched.values() for found in by_python.values() for path in found]
    (out / f"npu-doctor-{version}.cdx.json").write_text(sbom.document(own, others, files, when), encoding="utf-8")
    files = sorted(out.iterdir())
    (out / "SHA256SUMS").write_text("".join(f"{_sha256(path)}  {path.name}\n" for path in files), encoding="utf-8")
    return sorted(out.iterdir())


def _knowledge(source: Path, out: Path, environment: dict[str, str]) -> str:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path; from kb import build, editions; from kb.layers import BUILT_IN, Layer; from kb.pack import Pack\n"
        "data, faults = build.build(Layer(BUILT_IN, Path(sys.argv[1]) / 'kb'), stamp='')\n"
        "assert not faults, faults\n"
        "name = editions.name(Pack(data).header.version); Path(sys.argv[2], name).write_bytes(editions.made_of(data)); print(name)"
    )
    return subprocess.run([sys.executable, "-c", code, str(source), str(out)], check=True, env=environment, capture_output=True, text=True).stdout.strip()


def _wheelhouse(path: Path, found: list[Path], when: int) -> None:
    """The wheels in one archive; those of several Pythons are there once."""
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
        for name, wheel in sorted({p.name: p for p in found}.items()):
            info = tarfile.TarInfo(f"{path.stem}/{name}")
            info.size, info.mtime, info.mode = wheel.stat().st_size, when, 0o644
            tar.addfile(info, io.BytesIO(wheel.read_bytes()))


def compare(first: list[Path], second: list[Path]) -> None:
    if [p.name for p in first] != [p.name for p in second]:
        raise SystemExit(f"made twice, and there are other files: {[p.name for p in first]} and {[p.name for p in second]}")
    if different := [a.name for a, b in zip(first, second, strict=True) if _sha256(a) != _sha256(b)]:
        raise SystemExit(f"made twice, and not the same: {', '.join(different)}")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    raise SystemExit(main())
