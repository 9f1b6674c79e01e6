"""A folder of knowledge and what it holds. Free of YAML: a start that finds nothing changed must not pay for it."""

from __future__ import annotations

import fnmatch
import os
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from kb.files import digest, pinned, refused, yaml_names
from kb.pack import FORMAT
from parsers.named import NamedTuple

HERE = Path(__file__).resolve().parent
BUILT_IN = "built-in"  # the name of the layer that comes with the program
VERSION = "VERSION"  # of the built-in knowledge
OVERRIDES = "layer.yaml"  # of a user's folder: which built-in entries it replaces
SINGLE_FILES = ("kinds.yaml", "envvars.yaml", "facts.yaml", "situation.yaml", "compat.yaml", "frameworks.yaml", "pace.yaml")


Made = TypeVar("Made")


class Layer(NamedTuple):
    """A folder of knowledge: `entries/`, `checks/`, `codes/`, `cards/`, `envvars.yaml`; a user's folder may hold entries directly."""

    name: str
    root: Path
    pins: Mapping[str, str] | None = None  # the hash of each file that may be read, where somebody has to trust them

    def files(self, kind: str) -> list[Path]:
        return list(map(Path, self._files(kind)))

    def _files(self, kind: str) -> list[str]:
        found = self._candidates(kind)
        bad = self._bad(found)
        return [name for name in found if name not in bad] if bad else found

    def _candidates(self, kind: str) -> list[str]:
        folder = self.root / kind
        if folder.is_dir() and (self.name == BUILT_IN or not folder.is_symlink()):
            return yaml_names(folder)
        if kind == "entries" and self.name != BUILT_IN and self.root.is_dir():
            try:
                found = fnmatch.filter(sorted(os.listdir(self.root)), "*.y*ml")
            except PermissionError:
                return []
            place = str(self.root / "x")[:-1]  # a `Path` for each of thousands takes longer than asking for their names
            return [f"{place}{name}" for name in found if name not in (*SINGLE_FILES, OVERRIDES)]
        return []

    def _bad(self, names: list[str]) -> dict[str, str]:
        return {} if self.name == BUILT_IN else dict(refused(names, self.root))

    def single(self, name: str) -> Path:
        """One of the files that stand alone; a path that is not there when it is no plain file of this folder."""
        path = self.root / name
        return self.root / "no such file" if self._bad([str(path)]) else path

    def all_files(self) -> list[Path]:
        return list(map(Path, self._all_files()))

    def _all_files(self) -> list[str]:
        found = [name for kind in ("entries", "checks", "codes", "cards") for name in self._files(kind)]
        return found + [str(p) for name in (*SINGLE_FILES, OVERRIDES) if (p := self.single(name)).is_file()]

    def reading(self, work: Callable[[], Made]) -> Made:
        """Does something that reads its files: where they have to be trusted, only those that still are what somebody looked at."""
        return pinned(self.pins, work)

    def version(self) -> str:
        """The version that the built-in knowledge has of its own; a user's folder has none."""
        return (self.root / VERSION).read_text(encoding="utf-8").strip() if self.name == BUILT_IN and (self.root / VERSION).is_file() else ""

    def refused_files(self) -> dict[Path, str]:
        """What lies in the folder and is not read, with the reasons."""
        names = [n for kind in ("entries", "checks", "codes", "cards") for n in self._candidates(kind)]
        names += [str(p) for name in (*SINGLE_FILES, OVERRIDES) if (p := self.root / name).is_symlink() or p.exists()]
        return {Path(name): why for name, why in self._bad(names).items()}

    def stamp(self) -> str:
        """Cheap evidence that nothing changed: names, sizes and times of the files, of the kinds that all layers share, and of the code that reads them."""
        sources = [*self._all_files(), *map(str, (HERE / VERSION, HERE / "kinds.yaml", *sorted(HERE.glob("*.py"))))]
        crc, total = 0, 0
        for name in sources:
            try:
                state = os.stat(name)
            except OSError:
                continue
            crc = zlib.crc32(f"{name}\0{state.st_size}\0{state.st_mtime_ns}\0".encode("utf-8", "surrogateescape"), crc)
            total += state.st_size
        told = f"{FORMAT}-{len(sources)}-{total}-{crc:08x}"
        # Whoever unpacks an archive has sizes and times that somebody else chose: what has to be trusted is known by its bytes.
        return told if self.pins is None else f"{told}-{digest(repr(sorted(self.pins.items())).encode())}"
