"""The interface in a real terminal: tmux starts it, types, looks at the screen, and takes what was copied.

Nothing here waits for a fixed time: the screen is looked at until it shows what is expected, or the test fails.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tui.support import OOM

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE_S = 240.0  # only what never comes takes so long

pytestmark = [
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
    # A worker of a parallel run has no terminal of its own, and what it starts does not hear of a change of size.
    pytest.mark.skipif("PYTEST_XDIST_WORKER" in os.environ, reason="run by itself: pytest tests/tui/test_tmux.py"),
]


def a_moment() -> None:
    """Between two looks at a screen, for the program that draws it: each look starts tmux."""
    select.select([], [], [], 0.02)


class Terminal:
    """A tmux server of its own with one window."""

    def __init__(self, folder: Path) -> None:
        self.socket = Path(tempfile.mkdtemp(prefix="t")) / "s"  # a socket's path must be short
        self.folder = folder

    def tmux(self, *args: str) -> str:
        env = {k: v for k, v in os.environ.items() if k not in ("TMUX", "SSH_CONNECTION")}
        env |= {"HOME": str(self.folder), "LC_ALL": "C.UTF-8", "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            ["tmux", "-S", str(self.socket), "-f", "/dev/null", *args],
            capture_output=True,
            text=True,
            env=env,
            check=False,
            # The server lives on with the signal mask of who starts it: a test runner may have blocked some.
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, []) and None,
        )
        return done.stdout

    def start(self, command: str, size: tuple[int, int] = (80, 24)) -> None:
        self.tmux("new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), f"{command}; echo left with $?; cat")

    def screen(self) -> str:
        return self.tmux("capture-pane", "-p")

    def until(self, *texts: str) -> str:
        """The screen, as soon as it shows all the texts."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            seen = self.screen()
            if all(t in seen for t in texts):
                return seen
            a_moment()
        raise AssertionError(f"{texts} never appeared in:\n{self.screen()}")

    def gone(self, text: str) -> str:
        """The screen, as soon as it does not show the text any more."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            seen = self.screen()
            if text not in seen:
                return seen
            a_moment()
        raise AssertionError(f"{text!r} is still there:\n{self.screen()}")

    def copied(self, text: str) -> None:
        """Presses y until tmux's buffer holds the text: on a loaded machine a key may come before its screen is ready."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            self.press("y")
            soon = time.monotonic() + 4
            while time.monotonic() < soon:
                if self.tmux("show-buffer").strip() == text:
                    return
                a_moment()
        raise AssertionError(f"{text!r} was never copied; the screen:\n{self.screen()}")

    def widened(self, *texts: str) -> None:
        """A wider window, until the screen shows the texts: a change of size may be lost while the program draws."""
        end = time.monotonic() + PATIENCE_S
        width = 140
        while time.monotonic() < end:
            self.tmux("resize-window", "-x", str(width), "-y", "40")
            soon = time.monotonic() + 4
            while time.monotonic() < soon:
                if all(t in self.screen() for t in texts):
                    return
                a_moment()
            width = 281 - width
        raise AssertionError(f"{texts} never appeared in:\n{self.screen()}")

    def press(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(tmp_path)
    yield made
    made.tmux("kill-server")


@pytest.fixture
def command(tmp_path: Path) -> str:
    """npu-doctor on a small knowledge that compiles in no time."""
    code = (
        "import sys; sys.path[:0] = [{root!r}, {tests!r}]\n"
        "from tui.support import small_knowledge\n"
        "import kb.knowledge, doctor.tui.shell.session as session\n"
        "session.load = lambda kb=(): small_knowledge()\n"
        "from doctor.__main__ import main\n"
        "raise SystemExit(main(sys.argv[1:]))\n"
    ).format(root=str(ROOT), tests=str(ROOT / "tests"))
    script = tmp_path / "start.py"
    script.write_text(code)
    return f"{sys.executable} {script}"


def test_search_open_copy_resize_quit(terminal: Terminal, command: str) -> None:
    terminal.start(f"{command} browse --lang zh")
    terminal.until("知识库", "ENV001")
    terminal.press("/")
    terminal.until("Esc 返回")
    terminal.press("memory")
    terminal.until("MEM001", "内存不足")
    terminal.press("Enter")
    terminal.until("y 复制修复")
    terminal.copied("npu-smi info")
    terminal.widened("分类", "错误码")
    terminal.press("L")
    terminal.until("Domains", "out of memory")
    terminal.press("q")
    terminal.until("left with 0")


def test_a_pipe_is_diagnosed_and_keys_come_from_the_terminal(terminal: Terminal, command: str, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(f"one\n{OOM}\n")
    terminal.start(f"cat {tmp_path}/a.log | {command} browse -")
    terminal.until("MEM001", "<stdin>")
    terminal.press("v")
    terminal.until("line 2")
    terminal.press("Escape")
    terminal.until("Diagnosis")
    terminal.press("q")
    terminal.until("left with 0")


def test_a_dumb_terminal_is_told_what_to_do(terminal: Terminal, command: str) -> None:
    terminal.start(f"TERM=dumb {command} browse a.log")
    terminal.until("as text: npu-doctor scan a.log", "left with 2")
