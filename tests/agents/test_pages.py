"""The pages under docs/ and the skill: every command in them is run as it stands there."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests_support import HANG_S

from doctor.agents.skill_files import NAME, files
from doctor.cli import COMMANDS
from kb.in_use import cache_folder
from tests import starts

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
    if " --http " in command:
        env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}
        words = shlex.split(re.sub(r"--http \d+", "--http 0", command))[1:]
        with subprocess.Popen([sys.executable, "-m", "doctor", *words], cwd=folder, env=env, stderr=subprocess.PIPE) as served:
            assert served.stderr is not None
            told = served.stderr.readline()
            served.terminate()
        return subprocess.CompletedProcess(command, 0 if b"http://127.0.0.1:" in told else 2, b"", told)
    env = {**os.environ, "PATH": f"{starts.program(folder / 'bin').parent}:{os.environ['PATH']}"}
    return subprocess.run(["bash", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=HANG_S, check=False)


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_runs(page: str, workplace: Path) -> None:
    """In the order of the page: a later one may need what an earlier one wrote."""
    found = commands_of(page)
    assert found
    failed = [(c, done.returncode, done.stderr[-400:]) for c in found if (done := call(c, workplace)).returncode not in FINE]
    assert failed == []


@pytest.mark.parametrize("page", PAGES)
def test_both_languages_have_the_same_commands(page: str) -> None:
    assert commands_of(page) == commands_of(f"{page}.zh")


@pytest.mark.parametrize("page", [f"{p}{lang}.md" for p in PAGES for lang in ("", ".zh")])
def test_every_link_of_a_page_leads_somewhere(page: str) -> None:
    for link in re.findall(r"\]\(([\w./-]+)\)", (ROOT / "docs" / page).read_text(encoding="utf-8")):
        assert (ROOT / "docs" / link).exists(), link


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


def test_a_server_that_dies_is_diagnosed(tmp_path: Path) -> None:
    """The script serves with whatever vllm there is; its exit code is the server's, the diagnosis stands behind its output."""
    served = starts.program(tmp_path / "bin").with_name("vllm")
    served.write_text('#!/bin/sh\necho "$@"; echo "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 61 GiB total capacity)"; exit 7\n')
    served.chmod(0o755)
    env = {**os.environ, "PATH": f"{served.parent}:{os.environ['PATH']}", "NPU_DOCTOR_SAVE": str(tmp_path / "kept it"), "NPU_DOCTOR_LANG": "en"}
    call_ = ["sh", str(ROOT / "docs" / "serve-watched.sh"), "a model", "--port", "8000"]
    done = subprocess.run(call_, cwd=tmp_path, env=env, capture_output=True, timeout=HANG_S, check=False, text=True)
    assert done.returncode == 7
    assert done.stdout.startswith("serve a model --port 8000\n")
    assert "MEM" in done.stdout + done.stderr
    assert (tmp_path / "kept it" / "output.txt").exists()
    assert subprocess.run(call_[:2], capture_output=True, check=False, env=env).returncode == 2


def test_the_lines_of_python_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both languages show the same calls; what they stand for (a model, a trainer, logs) is put beside them."""
    (tmp_path / "ascend").symlink_to(ROOT / "kb" / "demo" / "ascend")
    (tmp_path / "train.log").symlink_to(ROOT / "kb" / "demo" / "train.log")
    cache = cache_folder()
    assert cache is not None
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache.parent))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    english, chinese = (re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.DOTALL)[0] for page in ("agents.md", "agents.zh.md"))
    names: dict[str, object] = {"train": lambda: None, "model": None, "Trainer": lambda model, callbacks: callbacks[0].on_step_end()}
    exec(english, names)
    calls = [[ast.unparse(n.func) for n in ast.walk(ast.parse(block)) if isinstance(n, ast.Call)] for block in (english, chinese)]
    assert calls[0] == calls[1]


def tools(folder: Path) -> dict[str, str]:
    """npu-doctor as a command of its own, and a program that fails on an NPU."""
    starts.program(folder / "bin")
    failing = 'echo "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 61 GiB total capacity)" >&2; exit 9'
    for name, body in (("train", failing), ("works", "exit 0")):
        (folder / "bin" / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / "bin" / name).chmod(0o755)
    return {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "NPU_DOCTOR_LANG": "en"}


@pytest.mark.parametrize(("command", "code"), [("train --steps 1", 9), ("works", 0)])
def test_the_github_action(command: str, code: int, tmp_path: Path) -> None:
    """Its steps, as a runner runs them: the command's exit code, an annotation, the files, a summary; nothing when all is well."""
    steps = yaml.safe_load((ROOT / "docs" / "github" / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    env = {**tools(tmp_path), "WANTED": command, "REPORT": "out", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    assert {step["shell"] for step in steps} == {"bash"}
    done = [subprocess.run(["bash", "-eo", "pipefail", "-c", step["run"]], cwd=tmp_path, env=env, capture_output=True, timeout=HANG_S, check=False) for step in steps]
    assert [one.returncode for one in done] == [0, code], done[1].stderr.decode()
    written = {p.name for p in (tmp_path / "out").glob("*.*")} if (tmp_path / "out").exists() else set()
    assert written == ({"report.sarif", "report.md", "brief.md", "case.tar.gz"} if code else set())
    assert (b"::error file=" in done[1].stdout) == bool(code)
    assert (tmp_path / "summary.md").exists() == bool(code)


def test_the_gitlab_job(tmp_path: Path) -> None:
    """Its lines, as a runner runs them; the reports that it names are there."""
    job = yaml.safe_load((ROOT / "docs" / "gitlab" / "npu-doctor.gitlab-ci.yml").read_text(encoding="utf-8"))[".npu-doctor"]
    env = {**tools(tmp_path), **job["variables"], "NPU_DOCTOR_RUN": "train"}

    def run(name: str) -> int:
        return subprocess.run(["bash", "-eo", "pipefail", "-c", "\n".join(job[name])], cwd=tmp_path, env=env, capture_output=True, timeout=HANG_S, check=False).returncode

    assert [run("before_script"), run("script"), run("after_script")] == [0, 9, 0]
    for path in job["artifacts"]["reports"].values():
        assert (tmp_path / path.replace("$NPU_DOCTOR_REPORT", "npu-doctor-report")).stat().st_size > 10
