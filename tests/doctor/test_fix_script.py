"""`--fix-script`: what bash makes of it, run for real: it runs nothing unasked, nothing that changes the machine, nothing with a hole."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from terminal import terminal

from doctor.render.fix_script import Script, script
from doctor.render.harmless import looks_only, sets_only, to_fill_in

Json = dict[str, Any]
MEMORY = b"RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 61.00 GiB total capacity; 40.00 GiB already allocated; 58.00 GiB reserved in total by PyTorch)\n"


def _both(text: str) -> dict[str, str]:
    return {"en": text, "zh": text}


def _fix(**parts: Any) -> Json:
    return {"goal": "resolve", "risk": "low", "title": _both("title"), "env": [], "commands": [], **parts}


def _command(run: str, changes: str | None = None) -> Json:
    return {"run": run, "changes": changes and _both(changes), "why": _both("because")}


def _setting(name: str, value: str) -> Json:
    return {"name": name, "value": value, "scope": "process", "undo": f"unset {name}", "caution": _both("careful")}


def _made(*fixes: Json, title: str = "it broke") -> Script:
    found = {
        "id": "USR001", "role": "root", "kind": "user-code", "severity": "error", "confidence": 0.95, "title": _both(title), "fixes": list(fixes), "first_fix": 0,
        "evidence": [{"path": "a.log", "line": 1}],
    }  # fmt: skip
    return script({"tool": {"version": "1"}, "findings": [found]}, "en")


def _bash(made: Script, folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    path = folder / "fix.sh"
    path.write_text(made.text)
    return subprocess.run(["bash", str(path), *args], capture_output=True, text=True, cwd=folder, check=False)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_written_read_and_run_as_a_user_does(lang: str, tmp_path: Path) -> None:
    """Row 31, in a terminal: the scan says what it wrote; the script tells its steps with changes and undo, and runs nothing; a step runs when it is named."""
    seen = terminal("--lang", lang, "scan", "-", "--fix-script", str(tmp_path / "fix.sh"), piped=MEMORY)
    assert seen.code == 1
    assert f"bash {tmp_path}/fix.sh" in seen.text
    told = subprocess.run(["bash", str(tmp_path / "fix.sh")], capture_output=True, text=True, check=True)
    words = {"en": ("undo: unset PYTORCH_NPU_ALLOC_CONF", "Nothing was run", "changes: nothing"), "zh": ("撤销：unset PYTORCH_NPU_ALLOC_CONF", "未执行任何操作", "会改变：无")}
    assert all(word in told.stdout for word in words[lang])
    assert os.access(tmp_path / "fix.sh", os.X_OK) is False
    number = next(row for row in told.stdout.split("\n\n") if "$ export PYTORCH_NPU_ALLOC_CONF" in row).lstrip().partition(".")[0]
    set_ = subprocess.run(["bash", str(tmp_path / "fix.sh"), number, "--", "printenv", "PYTORCH_NPU_ALLOC_CONF"], capture_output=True, text=True, check=True)
    assert "expandable_segments:True" in set_.stdout.split("\n")[-2]


def test_nothing_that_changes_the_machine_is_run(tmp_path: Path) -> None:
    """Only comments: whatever the risk says, and whatever is claimed to change nothing."""
    (tmp_path / "precious").write_text("x")
    dangerous = [
        _fix(commands=[_command("rm -rf precious", "deletes it")]), _fix(commands=[_command("rm precious")]), _fix(commands=[_command("cat precious > other")]),
        _fix(commands=[_command("ls; sudo reboot")]), _fix(risk="high", env=[_setting("PLUGH", "1")]), _fix(commands=[_command("pip install torch", "installs")]),
        _fix(commands=[_command("echo $(touch other)")]), _fix(env=[_setting("PLUGH", "$(touch other)")]), _fix(commands=[_command("find . -delete")]),
        _fix(commands=[_command("python3 -c 'import os; os.remove(\"precious\")'")]), _fix(commands=[_command("ls | xargs rm")]), _fix(commands=[_command("npu-smi set -t reset -i 0")]),
        _fix(commands=[_command("ls\nrm precious")]), _fix(commands=[_command("env rm precious")]), _fix(commands=[_command("ls & rm precious")]),
    ]  # fmt: skip
    made = _made(*dangerous)
    assert (made.steps, made.by_hand) == (0, len(dangerous))
    assert _bash(made, tmp_path).returncode == 0
    assert _bash(made, tmp_path, "1").returncode == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["fix.sh", "precious"]
    assert "# " in made.text
    assert "rm -rf precious" in made.text


def test_a_hole_is_refused_before_anything_runs(tmp_path: Path) -> None:
    """Two steps are asked for, the second has a word to fill in: neither runs, until the word is put in."""
    made = _made(_fix(commands=[_command("echo first")]), _fix(commands=[_command("echo card NPU_ID")]))
    refused = _bash(made, tmp_path, "1", "2")
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert "NPU_ID" in refused.stderr
    assert "put in first: NPU_ID" in _bash(made, tmp_path).stdout
    filled = made._replace(text=made.text.replace("echo card NPU_ID", "echo card 3"))
    assert "card 3" in _bash(filled, tmp_path, "1", "2").stdout


def test_text_of_logs_stays_text(tmp_path: Path) -> None:
    """A title that would be a command anywhere else: in the listing, in comments, in what a step says."""
    evil = "x'; touch pwned; ' $(touch pwned) `touch pwned`\ntouch pwned\r\x85touch pwned"
    made = _made(_fix(title=_both(evil), commands=[_command("true")]), _fix(title=_both(evil), commands=[_command("reboot", evil)]), title=evil)
    for args in ((), ("1",), ("2",)):
        _bash(made, tmp_path, *args)
    assert [p.name for p in tmp_path.iterdir()] == ["fix.sh"]


def test_what_is_set_already_is_told(tmp_path: Path) -> None:
    """Row 30: a variable that the shell has is told with its value, before the step overrides it; one that it has not is not."""
    made = _made(_fix(env=[_setting("PLUGH", "2"), _setting("XYZZY", "3")]))
    (tmp_path / "fix.sh").write_text(made.text)
    done = subprocess.run(["bash", str(tmp_path / "fix.sh")], capture_output=True, text=True, check=True, env={"PATH": os.environ["PATH"], "PLUGH": "old one"})
    assert "set here already: PLUGH=old one" in done.stdout
    assert "already: XYZZY" not in done.stdout


def test_a_setting_is_told_for_containers(tmp_path: Path) -> None:
    """Row 33: the same for docker and for a pod; the row of the pod is YAML of that value."""
    seen = terminal("--lang", "en", "scan", "-", "--fix-script", str(tmp_path / "fix.sh"), piped=MEMORY)
    assert seen.code == 1
    rows = [row.strip() for row in subprocess.run(["bash", str(tmp_path / "fix.sh")], capture_output=True, text=True, check=True).stdout.split("\n")]
    assert "docker run -e PYTORCH_NPU_ALLOC_CONF=expandable_segments:True ..." in rows
    pod = next(row for row in rows if row.startswith("kubernetes: env: ") and "ALLOC_CONF" in row).removeprefix("kubernetes: ")
    assert yaml.safe_load(pod) == {"env": [{"name": "PYTORCH_NPU_ALLOC_CONF", "value": "expandable_segments:True"}]}


@pytest.mark.parametrize("args", [("0",), ("2",), ("x",), ("1;ls",), ("99999",)])
def test_a_step_that_is_not_there_is_refused(args: tuple[str, ...], tmp_path: Path) -> None:
    done = _bash(_made(_fix(commands=[_command("true")])), tmp_path, *args)
    assert done.returncode == 2
    assert "steps 1 to 1" in done.stderr


def test_every_entry_gives_a_script_that_bash_reads(entries: Any, tmp_path: Path) -> None:
    """All fixes of the knowledge in one: bash parses it, and nothing that installs, resets or kills is in a step."""
    from doctor.answer.fix_form import fix_json
    from kb.placeholders import unbound

    fixes = []
    for entry in entries:
        for fix in entry.every_fix:
            made = fix_json(fix)
            fixes.append(made | {"commands": [c | {"run": unbound(c["run"])} for c in made["commands"]], "env": [e | {"value": unbound(e["value"])} for e in made["env"]]})
    made = _made(*fixes)
    (tmp_path / "all.sh").write_text(made.text)
    subprocess.run(["bash", "-n", str(tmp_path / "all.sh")], check=True)
    inside = [row for block in made.text.split("\nrun_")[1:] for row in block.split("\n}")[0].split("\n")[1:]]
    changing = ("sudo ", "pip install", "pip uninstall", "npu-smi set", "reboot", "systemctl restart", "docker rm", "docker stop", "kill -", "rm -", "-delete", ".run --", "mv ", "chmod ")
    assert [row for row in inside if any(word in re.sub("'[^']*'", "", row) for word in changing)] == []
    assert made.steps > made.by_hand / 3


def test_pseudonyms_name_nothing(tmp_path: Path) -> None:
    """With --redact it is refused before anything is read, with what to do."""
    seen = terminal("demo", "--redact", "--fix-script", str(tmp_path / "fix.sh"), "--lang", "zh")
    assert seen.code == 2
    assert "--redact" in seen.text
    assert not (tmp_path / "fix.sh").exists()


def test_no_fix_no_script(tmp_path: Path) -> None:
    seen = terminal("--lang", "en", "scan", "-", "--fix-script", str(tmp_path / "fix.sh"), piped=b"all is well\n")
    assert "was not written" in seen.text
    assert not (tmp_path / "fix.sh").exists()


@pytest.mark.parametrize("run", ["npu-smi info | head -12; cat /etc/os-release", "pip list 2>/dev/null | grep -i torch", "for i in 0 1; do hccn_tool -i $i -link -g; done", "ls $(which npu-smi)"])
def test_looks(run: str) -> None:
    assert looks_only(run)


@pytest.mark.parametrize("run", ["export A=1", "unset A && source /x/set_env.sh", "source /x/set_env.sh; pip list"])
def test_settings(run: str) -> None:
    assert sets_only(run)
    assert not looks_only(run)


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ("npu-smi info -i NPU_ID -c CHIP_ID", ("NPU_ID", "CHIP_ID")), ("vllm serve MODEL --dtype float16", ("MODEL",)), ("pip install torch==X.Y.Z", ("X.Y.Z",)), ("grep -rE 'ASSERT|ERROR' .", ()),
        ("unset HCCL_ALGO", ()), ("export A_B=1", ()), ("ls $ASCEND_HOME_PATH", ()), ("cat /path/to/file", ("/path/to/file",)),
    ],
)  # fmt: skip
def test_words_to_fill_in(run: str, words: tuple[str, ...]) -> None:
    assert to_fill_in(run) == words
