"""What a person does with the knowledge and with machines, in a real terminal, and what stands on the screen then."""

from __future__ import annotations

import json
from pathlib import Path

from terminal import ROOT, terminal

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
