"""The pages under docs/ and the skill: every command in them is run as it stands there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests_support import HANG_S

from doctor.agents.skill_files import NAME, files
from doctor.cli import COMMANDS

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = ("agents", "pipelines")
_INDENTED = re.compile(r"^    (npu-doctor .*)$", re.MULTILINE)
_INLINE = re.compile(r"`(npu-doctor [^`]+)`")
FINE = (0, 1)  # nothing found, or findings


def commands_of(page: str) -> list[str]:
    found = _INDENTED.findall((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"))
    return [row.partition("  # ")[0].strip() for row in found]


def commands_of_the_skill() -> list[str]:
    text = b"\n".join(files().values()).decode()
    return list(dict.fromkeys(row.partition(" (")[0] for row in _INLINE.findall(text)))


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the commands name: logs, a log, two machines, what nodes wrote."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "LOGS").symlink_to(ROOT / "kb" / "demo")
    (folder / "train.log").symlink_to(ROOT / "kb" / "demo" / "train.log")
    for name in ("good", "bad"):
        call(f"npu-doctor env -o {name}.json", folder)
    call("npu-doctor scan LOGS -f jsonl -o node.jsonl", folder)
    return folder


def call(command: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """The command in a shell, npu-doctor being this checkout's; a server is ended when it listens."""
    tool = f"{shlex.quote(sys.executable)} -m doctor"
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}
    if " --http " in command:
        words = shlex.split(re.sub(r"--http \d+", "--http 0", command))[1:]
        with subprocess.Popen([sys.executable, "-m", "doctor", *words], cwd=folder, env=env, stderr=subprocess.PIPE) as served:
            assert served.stderr is not None
            told = served.stderr.readline()
            served.terminate()
        return subprocess.CompletedProcess(command, 0 if b"http://127.0.0.1:" in told else 2, b"", told)
    told_command = re.sub(r"(?<![\w./-])npu-doctor(?= )", tool, command)
    return subprocess.run(["bash", "-c", told_command], cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=HANG_S, check=False)


@pytest.mark.parametrize("page", [p for p in PAGES if (ROOT / "docs" / f"{p}.md").exists()])
def test_every_command_of_a_page_runs(page: str, workplace: Path) -> None:
    """In the order of the page: a later one may need what an earlier one wrote."""
    found = commands_of(page)
    assert found
    failed = [(c, done.returncode, done.stderr[-400:]) for c in found if (done := call(c, workplace)).returncode not in FINE]
    assert failed == []


@pytest.mark.parametrize("page", [p for p in PAGES if (ROOT / "docs" / f"{p}.md").exists()])
def test_both_languages_have_the_same_commands(page: str) -> None:
    assert commands_of(page) == commands_of(f"{page}.zh")


def test_every_command_of_the_skill_runs(workplace: Path) -> None:
    """Whoever learns from it learns what works."""
    found = [c for c in commands_of_the_skill() if not c.startswith("npu-doctor mcp")]
    assert len(found) >= 10
    failed = [(c, done.returncode, done.stderr[-300:]) for c in found if (done := call(c, workplace)).returncode not in (*FINE, 3)]
    assert failed == []
    assert {c.split()[1] for c in found} <= set(COMMANDS)


def test_the_skill_has_the_layout() -> None:
    """A head with a name and a description of at most 1 024 characters; what it refers to is there; both languages say what never to do."""
    made = {name: data.decode() for name, data in files().items()}
    head = re.match(r"---\nname: (\S+)\ndescription: (.+)\n---\n", made["SKILL.md"])
    assert head is not None
    assert head[1] == NAME
    assert len(head[2]) <= 1024
    assert set(re.findall(r"`(references/[\w.]+)`", made["SKILL.md"])) == set(made) - {"SKILL.md"}
    for name in ("SKILL.md", "references/chinese.md"):
        assert "npu-smi set -t reset" in made[name]


def test_installing_the_skill(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Twice is once; what somebody changed is kept unless it is said otherwise; a file in the way is told."""
    target = tmp_path / "skills"
    for _ in range(2):
        assert run("skill", "install", str(target)).returncode == 0
    written = {str(p.relative_to(target / NAME)): p.read_bytes() for p in (target / NAME).rglob("*.md")}
    assert written == files()
    (target / NAME / "SKILL.md").write_text("mine")
    done = run("skill", "install", str(target), "--lang", "en")
    assert (done.returncode, (target / NAME / "SKILL.md").read_text()) == (2, "mine")
    assert b"--force" in done.stderr
    assert run("skill", "install", str(target), "--force").returncode == 0
    assert (target / NAME / "SKILL.md").read_bytes() == files()["SKILL.md"]
    (tmp_path / "file").write_text("")
    assert run("skill", "install", str(tmp_path / "file")).returncode == 2
    assert run("skill").returncode == 2
