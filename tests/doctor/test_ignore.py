"""`--ignore`: what a reader knows already is left out, told as left out, and counts for nothing; the rest is as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from terminal import terminal

MEMORY = "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 61.00 GiB total capacity; 60.00 GiB already allocated)\n"
LIBRARY = "ImportError: libhccl.so: cannot open shared object file: No such file or directory\n"
UNKNOWN = "[ERROR] PLUGH(77,python):2026-01-02-03:04:05.678.901 [plugh.cc:12]xyzzy refused the frob, ret EE1009\n"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    (tmp_path / "a.log").write_text(MEMORY)
    (tmp_path / "b.log").write_text(LIBRARY)
    (tmp_path / "known.txt").write_text("# ours\nMEM001   # the big model, see the ticket\n")
    return tmp_path


@pytest.mark.parametrize("asked", [("MEM001",), ("mem001",), ("known.txt",)])
def test_what_is_known_is_left_out_and_told(asked: tuple[str, ...], logs: Path) -> None:
    """Row 27, on the screen: the other root leads, the ignored one stands among what was left out, with how often it was seen."""
    seen = terminal("scan", "a.log", "b.log", "--ignore", *asked, "--lang", "en", "-v", cwd=logs)
    assert seen.code == 1
    assert "ENV001" in seen.rows[0]
    assert not any(row.startswith("ERROR  MEM001") for row in seen.rows)
    assert "MEM001: ignored as asked: x1" in seen.text
    assert "按要求忽略：x1" in terminal("scan", "a.log", "b.log", "--ignore", *asked, "--lang", "zh", "-v", cwd=logs).text


def test_nothing_else_is_no_fault_and_an_unknown_error_is_no_success(logs: Path) -> None:
    """All that was found is known: exit code 0; beside an error that nobody knows: 3."""
    assert terminal("scan", "a.log", "--ignore", "MEM001", cwd=logs).code == 0
    (logs / "c.log").write_text(UNKNOWN)
    assert terminal("scan", "a.log", "c.log", "--ignore", "MEM001", cwd=logs).code == 3


def test_what_only_follows_goes_with_it(run) -> None:  # type: ignore[no-untyped-def]
    """The demo without its root: no symptom of it becomes one, the job names nobody by it, nothing points at what is gone."""
    made = json.loads(run("demo", "--ignore", "RTS001,SMI017", "-f", "json").stdout)
    left = {f["id"] for f in made["findings"]}
    assert "RTS001" not in left
    assert all(set(f["explains"]) <= left and f["explained_by"] in (None, *left) for f in made["findings"])
    assert all("RTS001" not in root["codes"] or len(root["codes"]) > 1 for root in made["job"]["roots"])


@pytest.mark.parametrize(("asked", "told"), [("MEM0O1", "MEM0"), ("no-such-file", "kb list"), (".", "kb list")])
def test_a_code_that_is_none_is_refused(asked: str, told: str, logs: Path) -> None:
    seen = terminal("scan", "a.log", "--ignore", asked, "--lang", "en", cwd=logs)
    assert seen.code == 2
    assert told in seen.text


def test_a_script_never_takes_the_place_of_a_log(logs: Path) -> None:
    """--fix-script with the name of what is read is refused, and the log is as it was."""
    seen = terminal("scan", "a.log", "--fix-script", "a.log", cwd=logs)
    assert seen.code == 2
    assert (logs / "a.log").read_text() == MEMORY
