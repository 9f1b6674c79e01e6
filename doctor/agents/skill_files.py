"""The skill: a folder in the Agent Skills layout that teaches an assistant to use the commands."""

from __future__ import annotations

from pathlib import Path

NAME = "npu-doctor"
FOLDER = Path(__file__).parent / "skill"


def files() -> dict[str, bytes]:
    """Every file of the skill by its path in the folder."""
    return {str(path.relative_to(FOLDER)): path.read_bytes() for path in sorted(FOLDER.rglob("*.md"))}
