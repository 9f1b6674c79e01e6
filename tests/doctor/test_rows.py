"""What a person does with the knowledge and with machines, in a real terminal, and what stands on the screen then."""

from __future__ import annotations

import json
import re
import shutil
import tarfile
from pathlib import Path

import pytest
from terminal import ROOT, Screen, terminal

from kb.in_use import cache_folder

MACHINE = ROOT / "tests" / "data" / "env" / "torch-replaced"


def test_a_line_that_nobody_knows_becomes_a_draft(tmp_path: Path) -> None:
    """Row 47: `kb new LOG:LINE` writes an entry to fill in, and says where."""
    (tmp_path / "a.log").write_text("[ERROR] PLUGH(7,python):2026-01-02-03:04:05.000.000 [p.cc:1]xyzzy refused the frob\n")
    seen = terminal("kb", "new", "a.log:1", "--lang", "en", cwd=tmp_path)
    draft = next(tmp_path.glob("*.yaml"))
    assert draft.name in seen.text
    assert "xyzzy refused the frob" in draft.read_text()


def test_the_search_of_the_knowledge_on_one_screen() -> None:
    """Row 61: the first answer of a search is what was meant, in 24 rows and no wider than the terminal."""
    seen = terminal("kb", "search", "xiancun", "--lang", "zh")
    assert seen.code == 0
    assert seen.rows[0].split()[1].startswith("MEM0")


def test_machines_are_compared(tmp_path: Path) -> None:
    """Row 80: two descriptions of machines, and where they differ."""
    for name in ("a", "b"):
        terminal("env", "--root", str(MACHINE), "-o", str(tmp_path / f"{name}.json"), "--exit-zero")
    other = json.loads((tmp_path / "b.json").read_text())
    (tmp_path / "b.json").write_text(json.dumps(other).replace("2.7.1.post1", "2.6.0"))
    seen = terminal("env", "diff", str(tmp_path / "a.json"), str(tmp_path / "b.json"), "--lang", "en")
    assert "2.6.0" in seen.text
    assert "2.7.1.post1" in seen.text


def test_what_the_program_can_do_is_told_to_programs() -> None:
    """Row 58: all commands and options as JSON, and the version in one line."""
    told = json.loads(terminal("schema", "commands").text)
    assert {"scan", "explain", "kb"} <= {c["name"] for c in told["commands"]}
    assert terminal("--version").text.startswith("npu-doctor ")


def test_many_reports_at_once(tmp_path: Path) -> None:
    """Row 52: each file in the format of its suffix, each told with the verdict."""
    names = ("r.json", "r.md", "r.html", "r.sarif", "r.csv")
    seen = terminal("demo", "--lang", "en", *(word for name in names for word in ("-o", str(tmp_path / name))))
    assert all(f"wrote {tmp_path / name}: ERROR RTS001" in seen.text.replace("\n", "") for name in names)
    assert json.loads((tmp_path / "r.sarif").read_text())["version"] == "2.1.0"


FAULTS = {
    "41001": {
        "attribute.class": "Software", "attribute.component": "AI Framework", "attribute.module": "Compiler",
        "attribute.cause_zh": "抽象类型合并失败", "attribute.description_zh": "求梯度时类型不匹配。", "attribute.suggestion_zh": ["1. 检查类型"],
        "attribute.cause_en": "Abstract types do not join", "attribute.description_en": "Types differ in the gradient.", "attribute.suggestion_en": "Check the types.",
        "source_file": "TrainLog", "regex.in": ["Abstract plugh", "cannot join (with) xyzzy"],
    },
    "41003": {"regex.in": ["ab"], "source_file": "OS"},
}  # fmt: skip


def test_knowledge_from_elsewhere_is_taken_over_passed_on_and_taken_back(tmp_path: Path) -> None:
    """Rows 45 and 46: another tool's faults become entries, what could not be mapped is told; one file carries them without a network, is refused when it was changed, and is taken back."""
    (tmp_path / "faults.json").write_text(json.dumps(FAULTS), encoding="utf-8")
    (tmp_path / "train.log").write_text("RuntimeError: Abstract plugh: cannot join (with) xyzzy\n")
    cache = cache_folder()
    assert cache is not None
    shutil.copytree(cache, tmp_path / ".cache" / cache.name)  # what is built in is compiled already
    own = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_DATA_HOME": str(tmp_path / "data")}

    def call(*args: str) -> Screen:
        return terminal(*args, cwd=tmp_path, **own)

    seen = call("kb", "import", "ascend-fd", "faults.json", "-o", "mine", "--lang", "en")
    assert "not mapped: 41003" in seen.text
    assert "1 written to mine" in seen.text
    assert call("kb", "pack", "mine", "--lang", "en").text.startswith("mine.kbz: ")
    whole = (tmp_path / "mine.kbz").read_bytes()
    (tmp_path / "mine.kbz").write_bytes(whole[: len(whole) // 2] + b"?" + whole[len(whole) // 2 + 1 :])
    seen = call("kb", "add", "mine.kbz", "--lang", "en")
    assert "refused, nothing was added" in seen.text
    assert seen.code == 4
    (tmp_path / "mine.kbz").write_bytes(whole)
    assert "立即生效" in call("kb", "add", "mine.kbz", "--lang", "zh").text
    assert "抽象类型合并失败 [知识来源：user]" in call("scan", "train.log", "--lang", "zh").rows[0]
    assert call("kb", "remove", "mine.kbz", "--lang", "en").text.startswith("1 removed; the knowledge in use is ")
    assert "USR001" not in call("scan", "train.log", "--lang", "en").text


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_case_to_pass_on(lang: str, tmp_path: Path) -> None:
    """Row 89: what is in it is listed before it is passed on, with the verdict that it scans to the same; the archive has the same list, and nothing that names the node."""
    seen = terminal("bundle", str(ROOT / "kb/demo"), "-o", "case.tar.gz", "--no-env", "--lang", lang, cwd=tmp_path)
    assert seen.code == 0
    assert {"en": "it scans to the same diagnosis", "zh": "对它诊断会得到相同的结论"}[lang] in seen.text
    assert {"en": "redacted; read it before you pass it on", "zh": "已脱敏；转交前请先通读"}[lang] in seen.text
    listed = set(re.findall(r"^  (\S+)  ", seen.text, re.MULTILINE))
    with tarfile.open(tmp_path / "case.tar.gz") as tar:
        files = {m.name.partition("/")[2]: tar.extractfile(m) for m in tar if m.isfile()}
        assert listed <= set(files)
        assert "report.json" in listed
        assert [name for name, file in files.items() if file is not None and b"10.12.0.31" in file.read()] == []


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_server_for_assistants_says_what_it_waits_for(lang: str, tmp_path: Path) -> None:
    """Row 91: who starts it by hand is told that it waits for a program, and how to leave; Ctrl-D ends it."""
    pytest.importorskip("mcp")
    seen = terminal("mcp", "--root", str(tmp_path), "--lang", lang, keys=b"hello\n\x04", cwd=tmp_path)
    assert seen.code == 0
    assert {"en": "waiting for an assistant on standard input; Ctrl-C ends it", "zh": "在标准输入上等待助手连接；Ctrl-C 结束"}[lang] in seen.text
    assert "Traceback" not in seen.text


def test_an_assistant_is_taught(tmp_path: Path) -> None:
    """Row 92: where the skill was written is told; written again it replaces nothing that somebody changed."""
    seen = terminal("skill", "install", "--lang", "zh", cwd=tmp_path)
    assert seen.text.strip() == "npu-doctor: 已写入 .agents/skills/npu-doctor"
    skill = tmp_path / ".agents/skills/npu-doctor/SKILL.md"
    assert skill.read_text(encoding="utf-8").startswith("---\nname: npu-doctor\n")
    skill.write_text("mine")
    seen = terminal("skill", "install", "--lang", "en", cwd=tmp_path)
    assert seen.code == 2
    assert "--force" in seen.text
    assert skill.read_text() == "mine"


# What was promised, by its number: how a user meets it. Each has a test that drives the real program in a terminal and reads the
# screen; its docstring names the row.
PROMISED = (
    18, 19, 23, 49, 50, 54, 57, 61, 64, 66, 102,
    24, 27, 30, 31, 33, 45, 46, 47, 52, 56, 58, 80, 83, 84, 85, 89, 91, 92, 101, 103, 62, 67,
)  # fmt: skip


def test_every_row_that_was_promised_has_a_test() -> None:
    """None is missing, none is named in a file that has no terminal."""
    found: dict[int, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        for rows in re.findall(r'"""Rows? (\d+(?:(?:, | and )\d+)*)', text):
            for row in re.findall(r"\d+", rows):
                found.setdefault(int(row), []).append(path.name)
        if re.search(r'"""Rows? \d', text):
            assert re.search(r"from (terminal|tui\.test_tmux) import|import pty", text), path
    assert sorted(set(PROMISED) - set(found)) == []
