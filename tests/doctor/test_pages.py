"""The pages of docs/: every command in them runs, both languages say the same, every link leads somewhere.

A block that is fenced as `sh` is run in a folder as a reader has it; one that needs another machine has `<!-- elsewhere: why -->` above it, and
its calls of npu-doctor are read by the parser only.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from doctor.commands import shells
from kb.in_use import cache_folder
from tests import starts

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
PAGES = ("first-five-minutes", "jobs-of-many-nodes", "env", "writing-knowledge", "faq", "install", "memory")
_BLOCK = re.compile(r"(?:<!-- elsewhere: (?P<why>[^\n]+) -->\n)?```sh\n(?P<body>.*?)```", re.DOTALL)
ANSWERS = (0, 1, 3)  # nothing, findings, not known: all of them are answers; 2 is a wrong call and 4 a broken program


class Block(NamedTuple):
    """Commands of a page, and why they cannot be run here, if so."""

    lines: tuple[str, ...]
    elsewhere: str


def blocks(page: Path) -> Iterator[Block]:
    for found in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        yield Block(tuple(line for line in found["body"].splitlines() if line.strip()), found["why"] or "")


@pytest.fixture
def desk(tmp_path: Path, checkout: Path) -> dict[str, str]:
    """A home with logs, the files that the pages speak of, a checkout whose knowledge is small, and `npu-doctor` on the path."""
    home, here, programs = tmp_path / "home", tmp_path / "here", tmp_path / "bin"
    shutil.copytree(ROOT / "kb/demo/ascend", home / "ascend")
    shutil.copytree(ROOT / "kb/demo", here / "logs")
    shutil.copyfile(ROOT / "kb/demo/train.log", here / "train.log")
    for number in (1, 2):
        shutil.copytree(ROOT / "kb/demo/ascend", here / f"node{number}")
    (here / "train.py").write_text("import torch_npu_that_is_not_there\n")
    entry = (ROOT / "kb/entries/hccl/hcl001_notify-wait-timeout.yaml").read_text(encoding="utf-8").replace("HCL001", "OWN901")
    for folder in ("examples", "project/.npu-doctor/kb"):
        (here / folder).mkdir(parents=True)
        (here / folder / "own901_notify-wait-timeout.yaml").write_text(entry, encoding="utf-8")
    programs.mkdir()
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r}); sys.argv[0] = 'npu-doctor'; from doctor.__main__ import main; sys.exit(main())"
    starts.program(programs)
    (here / "npu-doctor.pyz").write_text(f"{start}\n")
    for name in ("python", "python3"):
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        (programs / name).chmod(0o755)
    cache = cache_folder()  # where the knowledge lies compiled already
    assert cache is not None
    return {**starts.told(os.environ), "XDG_CACHE_HOME": str(cache.parent), "HOME": str(home), "PATH": f"{programs}:/usr/bin:/bin", "PWD": str(here), "CHECKOUT": str(checkout), "NPU_DOCTOR_LANG": "en"}


def _allowed(line: str) -> str:
    """How a command may end: with an answer, or as the page says."""
    said = re.search(r"# exit code (\d+)", line)
    return said[1] if said else "|".join(map(str, ANSWERS))


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_every_command_runs(name: str, desk: dict[str, str]) -> None:
    """From the first to the last, in one folder: what an earlier one wrote, a later one reads."""
    ran = 0
    for block in blocks(DOCS / f"{name}.md"):
        if block.elsewhere:
            continue
        checked = "\n".join(f"{line}\ncode=$?; case $code in {_allowed(line)}) ;; *) echo \"exit code $code: \"{shlex.quote(line)}; exit 99;; esac" for line in block.lines)
        done = subprocess.run(["bash", "-c", checked], cwd=desk["PWD"], env=desk, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        assert done.returncode != 99, done.stdout[-2000:] + done.stderr[-2000:]
        assert "command not found" not in done.stderr, done.stderr
        assert "internal error" not in done.stderr, done.stderr
        ran += len(block.lines)
    assert ran >= 2


def _calls(lines: tuple[str, ...]) -> Iterator[list[str]]:
    """Calls of npu-doctor inside of other commands."""
    for line in lines:
        words = shlex.split(line)
        for at, word in enumerate(words):
            if word.endswith("npu-doctor") and at + 1 < len(words) and (at == 0 or words[at - 1] in ("--", "&&", "|")):
                yield words[at + 1 :]


@pytest.mark.parametrize("name", PAGES)
def test_what_needs_another_machine_is_called_rightly(name: str) -> None:
    """The shell understands it, and the commands and options of npu-doctor in it exist."""
    known = {command.name: command for command in shells.commands("en")}
    for block in blocks(DOCS / f"{name}.md"):
        if block.elsewhere:
            assert subprocess.run(["bash", "-n"], input="\n".join(block.lines), text=True, check=False).returncode == 0
            for call in _calls(block.lines):
                assert call[0] in known, call


@pytest.mark.parametrize("name", PAGES)
def test_both_languages_have_the_same_commands(name: str) -> None:
    """What runs in the one runs in the other; only the language of the answer differs."""
    english = [(block.lines, bool(block.elsewhere)) for block in blocks(DOCS / f"{name}.md")]
    chinese = [(tuple(line.replace(" --lang zh", "") for line in block.lines), bool(block.elsewhere)) for block in blocks(DOCS / f"{name}.zh.md")]
    assert [(tuple(line.replace(" --lang en", "") for line in lines), there) for lines, there in english] == chinese


@pytest.mark.parametrize("path", [*sorted(DOCS.glob("*.md")), *sorted(ROOT.glob("*.md")), ROOT / "benchmarks/incidents/GRADES.md"], ids=lambda p: p.name)
def test_links_lead_to_files(path: Path) -> None:
    for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        assert link.startswith(("http://", "https://")) or (path.parent / link).exists(), link


def test_readme_is_read_in_five_minutes_and_leads_on() -> None:
    """Without what the program prints: at 250 words a minute."""
    for name in ("README.md", "README.zh.md"):
        text = re.sub(r"```.*?```", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.DOTALL)
        read = re.sub(r"\]\([^)\s]*\)", "]", text)  # where a link leads is not
        words = len(re.findall(r"[A-Za-z][\w'-]*", read)) + len(re.findall("[\u4e00-\u9fff]", read)) // 2
        assert words <= 1250, words
        suffix = ".zh.md" if ".zh" in name else ".md"
        assert [page for page in (*PAGES, "agents", "fleet") if page != "memory" and f"(docs/{page}{suffix})" not in text] == []
