"""`npu-doctor pace` as it is called: exit codes, formats, two runs, wrong calls, both languages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from pace import runs

from doctor.base.errors import UsageError
from doctor.cli import main
from doctor.commands import table
from doctor.pace import wordings

SLOW = str(Path(__file__).resolve().parent.parent / "data" / "pace" / "slow.log")
HEALTHY = str(Path(__file__).resolve().parent.parent / "data" / "pace" / "healthy.log")


def call(*words: str) -> int:
    """As the program calls it: a wrong call is told on standard error."""
    try:
        return main(["pace", *words])
    except UsageError as error:
        sys.stderr.write(str(error))
        return error.code


def test_the_verdict_is_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(SLOW) == 1
    assert "rank 5" in capsys.readouterr().out
    assert call(HEALTHY) == 0
    assert "Even" in capsys.readouterr().out


def test_logs_without_steps_are_inconclusive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.log").write_text("[INFO] GE(1,python):2026-03-02-09:14:00.000.000 [a.cc:1]1 hello\n")
    assert call(str(tmp_path)) == 3
    told = capsys.readouterr()
    assert (told.out, "no step" in told.err, "--line" in told.err) == ("", True, True)
    assert call(str(tmp_path), "--lang", "zh") == 3
    assert "没有找到" in capsys.readouterr().err
    assert call(str(tmp_path / "gone.log")) == 3


def test_few_steps_are_inconclusive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(str(runs.megatron(tmp_path / "a.log", steps=4, timers=False))) == 3
    assert "Too few steps" in capsys.readouterr().out


@pytest.mark.parametrize("line", ["step (", r"(?P<what>\d+)", r"step (?P<step>\d+)"])
def test_a_line_that_cannot_be_used_is_a_wrong_call(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(SLOW, "--line", line) == 2
    assert "--line" in capsys.readouterr().err


def test_a_line_that_never_ends_is_a_wrong_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A repetition inside a repetition is given up, and said."""
    monkeypatch.setattr(wordings, "PATIENCE_S", 0.05)
    (tmp_path / "a.log").write_text(f"step 1 {'a' * 60} took 1.0 s\n")
    assert call(str(tmp_path / "a.log"), "--line", r"(?:a|aa)+ step (?P<step>\d+) (?P<total_s>[\d.]+)") == 2
    assert "takes too long" in capsys.readouterr().err


def test_json_has_all_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(SLOW, "-f", "json") == 1
    made = json.loads(capsys.readouterr().out)
    assert made["schema"] == "npu-doctor/pace/1"
    assert made["verdict"] == "uneven"
    assert [one["lanes"][0]["rank"] for one in made["slow"]] == [5]
    assert abs(made["changes"][0]["step"] - 61) <= 2
    assert made["periodic"][0]["kind"] == "checkpoint"
    assert len(made["picture"]["lanes"]) == 8
    assert all(one["text"]["zh"] for one in made["told"])


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_is_whole_and_has_no_script(lang: str, tmp_path: Path) -> None:
    target = tmp_path / "pace.html"
    assert call(SLOW, "-o", str(target), "--lang", lang) == 1
    text = target.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "default-src 'none'" in text
    for svg in text.split("<svg")[1:]:
        ET.fromstring("<svg" + svg.partition("</svg>")[0] + "</svg>")
    assert 'class="map"' in text


def test_names_of_logs_are_never_markup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evil = runs.megatron(tmp_path / "<img src=x>\x1b[31m.log", timers=False)
    target = tmp_path / "out" / "a.html"
    target.parent.mkdir()
    call(str(evil), str(evil), "-o", str(target))
    assert "<img" not in target.read_text()
    call(str(evil))
    assert "\x1b" not in capsys.readouterr().out


def test_two_runs_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(HEALTHY, SLOW) == 1
    assert "slower" in capsys.readouterr().out
    assert call(SLOW, HEALTHY) == 0
    assert "faster" in capsys.readouterr().out
    assert call(HEALTHY, HEALTHY, "-f", "json") == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "same"
    assert call(HEALTHY, SLOW, "-o", str(tmp_path / "two.html")) == 1
    assert "slower" in (tmp_path / "two.html").read_text()


def test_logs_of_two_ranks_are_one_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs.mindformers(tmp_path, ranks=2)
    paths = [str(tmp_path / "node-0" / f"rank_{rank}" / "info.log") for rank in (0, 1)]
    assert call(*paths) == 0
    assert "2 ranks" in capsys.readouterr().out


def test_a_run_that_cannot_be_compared_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.log").write_text("nothing\n")
    assert call(HEALTHY, str(tmp_path / "empty.log")) == 3
    assert "empty.log" in capsys.readouterr().err


def test_what_is_read_is_never_written(tmp_path: Path) -> None:
    path = runs.megatron(tmp_path / "a.log")
    before = path.read_bytes()
    assert call(str(path), "-f", "json", "-o", str(path)) == 2
    assert path.read_bytes() == before


def test_the_known_wordings_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--wordings") == 0
    assert "megatron-iteration" in capsys.readouterr().out


def test_plain_terminals_get_plain_signs() -> None:
    """LC_ALL=C: bars of ASCII; standard input; nothing of it is loaded by a scan."""
    env = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([sys.executable, "-m", "doctor", "pace", "-"], stdin=Path(SLOW).open("rb"), capture_output=True, env=env, cwd=Path(SLOW).parent.parent.parent.parent, check=False)
    assert done.returncode == 1
    assert done.stdout.isascii()
    assert b"\\u" not in done.stdout
    assert b"rank 5" in done.stdout


def test_it_is_a_command() -> None:
    assert table.COMMANDS["pace"] == "doctor.commands.pace"
