"""What a person meets in the interface, in a real terminal: the fix at once, evidence, search, the job, the last job, colours."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from tui.support import MTE, job_logs
from tui.test_first_sight import first_command, first_paste
from tui.test_tmux import ROOT, Terminal, command, pytestmark, terminal

__all__ = ["command", "pytestmark", "terminal"]

DEMO = ROOT / "kb" / "demo"
CACHE = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"  # where the knowledge lies compiled already
SHIPPED = f"cd {ROOT} && XDG_CACHE_HOME={CACHE} {sys.executable} -m doctor"


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_the_fix_of_the_demo_is_seen_without_a_key(terminal: Terminal, size: tuple[int, int]) -> None:
    """No key: where, why, the command. One key copies it."""
    terminal.start(f"{SHIPPED} browse {DEMO} --lang en", size)
    seen = terminal.until("RTS001", first_command("en")[:40], "31 min", "q quit")
    assert "rank 3, device 3" in seen
    terminal.copied(first_paste("en"))
    terminal.press("q")
    terminal.until("left with 0")


def test_which_rank_broke_the_job_is_one_key_away(terminal: Terminal) -> None:
    terminal.start(f"{SHIPPED} browse {DEMO} --lang zh", (80, 24))
    terminal.until("RTS001", "q 退出")
    terminal.press("t")
    terminal.until("rank 3 最先出错", "0:00", "w w w ✗ w w w w")
    terminal.press("+")
    terminal.until("+ 放大")
    terminal.press("Down", "Enter")  # who waits leads to whom it waits for
    terminal.press("Enter")  # and who failed to why
    terminal.until("诊断结果", "RTS001")
    terminal.press("q")
    terminal.until("left with 0")


def test_evidence_is_numbered_marked_and_searched(terminal: Terminal, command: str, tmp_path: Path) -> None:
    rows = "".join(f"[INFO] GE(4242,python):2026-03-02-09:14:44.000.000 [g.cc:1]4242 step {n}\n" for n in range(5000))
    (tmp_path / "plog-4242_20260302091400000.log").write_text(rows + MTE + "\n")
    terminal.start(f"{command} browse {tmp_path}/plog-4242_20260302091400000.log --lang en", (120, 40))
    terminal.until("RTS001", "q quit")
    terminal.press("v")
    terminal.until("line 5 001", "5001 ▶[ERROR]")
    terminal.press("/")
    terminal.tmux("send-keys", "-l", "step 77q")  # all at once: q is a letter
    terminal.until("step 77q")
    terminal.press("Escape")
    terminal.until("5001 ▶[ERROR]", "q quit")
    terminal.press("/")
    terminal.tmux("send-keys", "-l", "step 1234")
    terminal.press("Enter")
    terminal.until("line 1 235")
    terminal.press("G")
    terminal.until("line 5 001")
    terminal.press("q")
    terminal.until("left with 0")


def test_letters_pasted_behind_a_slash_quit_nothing(terminal: Terminal, command: str, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    job_logs(tmp_path / "logs")
    terminal.start(f"{command} browse {tmp_path}/logs --lang en", (80, 24))
    terminal.until("RTS001", "q quit")
    terminal.tmux("send-keys", "-l", "/qxrpo")
    terminal.until("Nothing fits", "qxrpo")
    terminal.press("Escape")
    terminal.until("RTS001", "q quit")
    terminal.press("q")
    terminal.until("left with 0")


def test_the_bare_name_offers_the_job_that_failed(terminal: Terminal, command: str, tmp_path: Path) -> None:
    logs = tmp_path / "ascend" / "log"
    logs.mkdir(parents=True)
    job_logs(logs)
    terminal.start(f"env -u ASCEND_PROCESS_LOG_PATH -u ASCEND_WORK_PATH {command} --lang en", (120, 40))
    terminal.until("The last job failed", "ASCEND_LAUNCH_BLOCKING")
    terminal.press("Enter")
    terminal.until("Diagnosis", "RTS001", "q quit")
    terminal.press("q")
    terminal.until("left with 0")


@pytest.mark.parametrize("setting", ["TERM=xterm COLORTERM=", "NO_COLOR=1", "COLORFGBG='0;15'", "NPU_DOCTOR_THEME=16-light"])
def test_it_can_be_read_with_the_colours_that_there_are(terminal: Terminal, command: str, tmp_path: Path, setting: str) -> None:
    (tmp_path / "logs").mkdir()
    job_logs(tmp_path / "logs")
    terminal.start(f"env {setting} {command} browse {tmp_path}/logs --lang en", (80, 24))
    terminal.until("✗ ERROR RTS001", "export ASCEND_LAUNCH_BLOCKING=1", "q quit")
    for _ in range(4):
        terminal.press("T")
    terminal.until("Theme", "✗ ERROR RTS001")
    terminal.press("q")
    terminal.until("left with 0")


@pytest.mark.parametrize(("size", "lang"), [((80, 24), "en"), ((200, 50), "zh")])
def test_commands_themes_help_hints_and_one_pane_alone(terminal: Terminal, command: str, tmp_path: Path, size: tuple[int, int], lang: str) -> None:
    """Rows 64 and 66: the palette finds a command by its name, themes go round to those of 16 colours, ? names every key of the screen, a pane fills the screen, and back."""
    said = {"en": ("q quit", "The next colour theme", "All keys of this screen", "Theme: ", "─Detail"), "zh": ("q 退出", "切换配色主题", "本屏幕的全部按键", "主题：", "─ 详情")}[lang]
    (tmp_path / "logs").mkdir()
    job_logs(tmp_path / "logs")
    terminal.start(f"{command} browse {tmp_path}/logs --lang {lang}", size)
    terminal.until("RTS001", said[0], "? ")
    terminal.press("?")
    terminal.until("(open)")
    terminal.press("G")
    terminal.until(said[2], "(help)")
    terminal.press("Escape")
    terminal.gone("(help)")
    terminal.press(":")
    terminal.until("🔎")  # what is typed before the palette is there are keys of the screen beneath it
    terminal.tmux("send-keys", "-l", "theme")
    terminal.until(said[1])
    terminal.press("Escape")
    terminal.gone("🔎")
    terminal.until("RTS001", said[4])
    terminal.press("z")
    terminal.gone(said[4])
    terminal.gone("╱")
    terminal.press("z")
    terminal.until("RTS001", said[4])
    terminal.press(*"TTTT")
    terminal.until(said[3], "16-dark")
    terminal.press("q")
    terminal.until("left with 0")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_log_goes_to_an_editor_a_shell_and_a_command_line(terminal: Terminal, command: str, tmp_path: Path, lang: str) -> None:
    """Row 67: $EDITOR at the line; the lines that a filter leaves to a shell command, whose answer stays until Enter; the same as a command line."""
    quit_ = {"en": "q quit", "zh": "q 退出"}[lang]
    rows = "".join(f"[INFO] GE(4242,python):2026-03-02-09:14:44.000.000 [g.cc:1]4242 step {n}\n" for n in range(50))
    (tmp_path / "plog-4242_20260302091400000.log").write_text(rows + MTE + "\n")
    (tmp_path / "edit.sh").write_text('#!/bin/sh\necho "edited $@"; read -r key < /dev/tty\n')
    (tmp_path / "edit.sh").chmod(0o755)
    terminal.start(f"env -u VISUAL EDITOR={tmp_path}/edit.sh {command} browse {tmp_path}/plog-4242_20260302091400000.log --lang {lang}", (120, 40))
    terminal.until("RTS001", quit_)
    terminal.press("v")
    terminal.until("51 ▶[ERROR]")
    terminal.press("e")
    terminal.until("edited", "plog-4242_20260302091400000.log")
    terminal.press("Enter")
    terminal.until("51 ▶[ERROR]")
    terminal.press("g")
    terminal.until("line 1 " if lang == "en" else "行 1 ")
    terminal.press("f")
    terminal.tmux("send-keys", "-l", "step")
    terminal.press("Enter")
    terminal.until("[step]")
    terminal.press("|")
    terminal.until("grep timeout")
    terminal.tmux("send-keys", "-l", "wc -l; exit 3")
    terminal.press("Enter")
    terminal.until("50\n", "3; Enter" if lang == "en" else "以 3 结束")
    terminal.press("Enter")
    terminal.until("[step]", quit_)
    terminal.press("c")
    terminal.until("sed -n")
    terminal.press("Escape")
    terminal.gone("sed -n")
    terminal.press("q")
    terminal.until("left with 0")
