"""A folder of knowledge and what it holds. Free of YAML: a start that finds nothing changed must not pay for it."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import NamedTuple

from kb.pack import FORMAT

HERE = Path(__file__).resolve().parent
SINGLE_FILES = ("kinds.yaml", "envvars.yaml", "facts.yaml", "situation.yaml", "frameworks.yaml")


class Layer(NamedTuple):
    """A folder of knowledge: `entries/`, `codes/`, `cards/`, `envvars.yaml`; a user's folder may hold entries directly."""

    name: str
    root: Path

    def files(self, kind: str) -> list[Path]:
        folder = self.root / kind
        if folder.is_dir():
            return sorted(p for p in folder.rglob("*.y*ml") if p.suffix in (".yaml", ".yml"))
        if kind == "entries" and self.name != "built-in" and self.root.is_dir():
            return sorted(
                p for p in self.root.glob("*.y*ml") if p.name not in (*SINGLE_FILES, "compat.yaml")
            )
        return []

    def all_files(self) -> list[Path]:
        found = [p for kind in ("entries", "codes", "cards") for p in self.files(kind)]
        return found + [p for name in SINGLE_FILES if (p := self.root / name).is_file()]

    def stamp(self) -> str:
        """Cheap evidence that nothing changed: names, sizes and times of the files, of the kinds that all layers share, and of the code that reads them."""
        sources = [*self.all_files(), HERE / "kinds.yaml", *sorted(HERE.glob("*.py"))]
        crc, total = 0, 0
        for path in sources:
            try:
                state = path.stat()
            except OSError:
                continue
            crc = zlib.crc32(f"{path}\0{state.st_size}\0{state.st_mtime_ns}\0".encode("utf-8", "surrogateescape"), crc)
            total += state.st_size
        return f"{FORMAT}-{len(sources)}-{total}-{crc:08x}"
