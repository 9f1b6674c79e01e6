"""The documents show what the program prints, name every command, and link to files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import refresh_docs

from doctor.cli import COMMANDS, help_text

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.parametrize("name", refresh_docs.DOCUMENTS)
def test_outputs_are_current(name: str) -> None:
    """A stale output is refreshed by: python tests/refresh_docs.py"""
    text = (ROOT / name).read_text(encoding="utf-8")
    assert text.count("<!-- output: ") >= 1
    assert refresh_docs.refreshed(text) == text, "stale: run python tests/refresh_docs.py"


@pytest.mark.parametrize("name", refresh_docs.READMES)
def test_every_command_is_named(name: str) -> None:
    """In README, or on a page of its language under docs/."""
    text = (ROOT / name).read_text(encoding="utf-8")
    chinese = name.endswith(".zh.md")
    pages = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "docs").glob("*.md") if p.name.endswith(".zh.md") == chinese)
    assert [c for c in COMMANDS if f"npu-doctor {c}" not in text + pages] == []
    for link in re.findall(r"\]\(([\w./-]+)\)", text):
        assert (ROOT / link).exists(), link


def test_the_catalogue_is_current() -> None:
    """A stale catalogue is refreshed by: python tests/refresh_docs.py"""
    assert refresh_docs.CATALOGUE.read_text(encoding="utf-8") == refresh_docs.catalogue(), "run python tests/refresh_docs.py"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_help_names_every_command(lang: str) -> None:
    assert all(f"  {c} " in help_text(lang) for c in COMMANDS)
