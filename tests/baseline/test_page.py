"""docs/diff.md: every command in it runs as it stands there, in both languages."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from doctor import cli

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
COMMAND = re.compile(r"^    npu-doctor (.*)$", re.MULTILINE)


def commands(page: str) -> list[str]:
    return COMMAND.findall((DOCS / page).read_text(encoding="utf-8"))


def test_every_command_of_the_page_runs(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In their order: a later one reads what an earlier one wrote. 3: that nobody knows the lines of the run is the diagnosis."""
    for name, run in (("GOOD", "good1"), ("GOOD2", "good2"), ("BAD", "bad")):
        (tmp_path / name).symlink_to(runs / run)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_PAGER", "1")
    found = commands("diff.md")
    codes = {command: cli.main(shlex.split(command)) for command in found}
    assert len(found) >= 9
    assert {command: code for command, code in codes.items() if code not in ((0, 1, 3) if command.startswith("scan ") else (0, 1))} == {}


def test_both_languages_have_the_same_commands_and_links() -> None:
    assert commands("diff.md") == commands("diff.zh.md")
    for page in ("diff.md", "diff.zh.md"):
        for link in re.findall(r"\]\(([\w./-]+)\)", (DOCS / page).read_text(encoding="utf-8")):
            assert (DOCS / link).exists(), link
