"""Puts the compiled knowledge, the completion of shells and the manual pages into the wheel; a fault in a built-in entry fails the build."""

from __future__ import annotations

import io
import sys
import tarfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface  # type: ignore[import-not-found,unused-ignore]


class ProductHook(BuildHookInterface):  # type: ignore[type-arg,misc,unused-ignore]
    """Runs for wheels that are shipped, not for editable installs: those read the YAML that is being edited."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from doctor.commands import shells

        self._made: list[Path] = []
        build_data["force_include"][self._written("knowledge.pack", self._knowledge())] = "kb/_compiled/knowledge.pack"
        build_data["force_include"][self._written("demo.tar", self._demo())] = "kb/_compiled/demo.tar"
        for number, (place, text) in enumerate(shells.installed().items()):
            build_data["shared_data"][self._written(f"shared-{number}", text.encode("utf-8"))] = place

    def _knowledge(self) -> bytes:
        from kb.build import build
        from kb.layers import Layer
        from kb.shipped import packed

        data, problems = build(Layer("built-in", Path(self.root) / "kb"), stamp="")
        if problems:
            raise SystemExit("\n".join(str(p) for p in problems))
        return packed(data)

    def _demo(self) -> bytes:
        """The logs of the demonstration in one archive, the same whenever and by whomever it is made."""
        folder, packed = Path(self.root) / "kb" / "demo", io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for path in sorted(p for p in folder.rglob("*") if p.is_file()):
                member = tarfile.TarInfo(path.relative_to(folder).as_posix())
                member.size = path.stat().st_size
                with path.open("rb") as content:
                    archive.addfile(member, content)
        return packed.getvalue()

    def _written(self, name: str, data: bytes) -> str:
        target = Path(self.directory) / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        self._made.append(target)
        return str(target)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        if version != "editable":
            sys.path.insert(0, str(Path(self.root) / "packaging"))
            from smaller import pack_again  # type: ignore[import-not-found,unused-ignore]

            pack_again(Path(artifact_path))
        for path in getattr(self, "_made", ()):
            path.unlink(missing_ok=True)
