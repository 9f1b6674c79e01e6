"""Puts the compiled knowledge into the wheel; a fault in a built-in entry fails the build."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface  # type: ignore[import-not-found,unused-ignore]


class KnowledgeBuildHook(BuildHookInterface):  # type: ignore[type-arg,misc,unused-ignore]
    """Runs for wheels that are shipped, not for editable installs: those read the YAML that is being edited."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from kb.build import build
        from kb.layers import Layer

        data, problems = build(Layer("built-in", Path(self.root) / "kb"), stamp="")
        if problems:
            raise SystemExit("\n".join(str(p) for p in problems))
        target = Path(self.directory) / "knowledge.pack"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        build_data["force_include"][str(target)] = "kb/_compiled/knowledge.pack"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        (Path(self.directory) / "knowledge.pack").unlink(missing_ok=True)
