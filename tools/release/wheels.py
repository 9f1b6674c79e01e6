"""Which wheels belong to a release: those of every dependency, for each Python and machine, fetched by pip."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from email.parser import HeaderParser
from pathlib import Path
from typing import NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ARCHITECTURES = ("x86_64", "aarch64")
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
GLIBC = (5, 12, 17, 24, 26, 27, 28)  # 2.28 is what openEuler 20.03 has


class Wheel(NamedTuple):
    """A wheel: where it is, what it is called, and the text that describes it."""

    path: Path
    name: str
    version: str
    metadata: str

    @property
    def pure(self) -> bool:
        return self.path.name.endswith("-none-any.whl")


def fetch(root: Path, folder: Path, architecture: str, python: str) -> list[Path]:
    """The wheels of all dependencies for one machine and one Python; kept in the folder, asked for once."""
    there = folder / architecture / python
    if not there.is_dir():
        call = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:", "--implementation", "cp", "--python-version", python, "--dest", str(there)]
        call += [f"--platform=manylinux_2_{minor}_{architecture}" for minor in GLIBC]
        call += [f"--platform=manylinux{name}_{architecture}" for name in ("1", "2010", "2014")]
        subprocess.run([*call, *dependencies(root)], check=True)
    return sorted(there.glob("*.whl"))


def dependencies(root: Path) -> list[str]:
    """What pyproject asks for; markers of the machine that fetches say nothing about the one that is fetched for."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [row.partition(";")[0].strip() for row in project["dependencies"]]


def read(path: Path) -> Wheel:
    with zipfile.ZipFile(path) as file:
        name = next(n for n in file.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = file.read(name).decode("utf-8")
    head = HeaderParser().parsestr(metadata)
    return Wheel(path, head["Name"], head["Version"], metadata)


def members(path: Path) -> Iterator[tuple[str, bytes]]:
    """Files of a wheel as they are installed, in the order of their names; scripts are left out."""
    with zipfile.ZipFile(path) as file:
        for name in sorted(file.namelist()):
            head, _, rest = name.partition("/")
            if name.endswith("/") or (head.endswith(".data") and not rest.startswith(("purelib/", "platlib/"))):
                continue
            yield (rest.partition("/")[2] if head.endswith(".data") else name), file.read(name)
