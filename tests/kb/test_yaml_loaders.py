"""Knowledge files mean the same to both loaders of PyYAML: the fast one is not there on every machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

KB = Path(__file__).parent.parent.parent / "kb"
FOLDERS = sorted({p.parent.relative_to(KB).as_posix() for p in KB.rglob("*.yaml")})


def _events(text: str, loader: Any) -> list[tuple[str, Any, Any, Any]]:
    return [
        (type(e).__name__, getattr(e, "value", None), getattr(e, "anchor", None), getattr(e, "tag", None))
        for e in yaml.parse(text, Loader=loader)
    ]


def some(paths: list[Path]) -> list[Path]:
    return paths if len(paths) < 8 else paths[::4]


@pytest.mark.skipif(not hasattr(yaml, "CSafeLoader"), reason="PyYAML without libyaml: there is nothing to compare")
@pytest.mark.parametrize("folder", FOLDERS)
def test_both_loaders_read_alike(folder: str) -> None:
    """`{en: Is it an NPU?, zh: ...}` is YAML for libyaml alone: such words stand in quotes. Of the larger folders every fourth file."""
    differ = {}
    for path in some(sorted((KB / folder).glob("*.yaml"))):
        text = path.read_text(encoding="utf-8")
        try:
            if _events(text, yaml.SafeLoader) != _events(text, yaml.CSafeLoader):
                differ[path.name] = "other values"
        except yaml.YAMLError as error:
            differ[path.name] = str(error)
    assert differ == {}
